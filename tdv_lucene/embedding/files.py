"""Word vectors from files: fastText, word2vec, gensim."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError

_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words as they are written, not yet of index terms.

    Attributes
    ----------
    words : sequence of W str
    vectors : float32[W, K]
    of_unseen : callable or None
        Makes float32[K] for a word outside ``words`` from its sub-words (fastText); None where
        the file has none.
    """

    words: Sequence[str]
    vectors: np.ndarray
    of_unseen: Callable[[str], np.ndarray] | None

    @classmethod
    def of_gensim(cls, keyed: Any) -> WordVectors:
        """Wrap gensim's KeyedVectors, or a model that holds some in ``wv``."""
        keyed = getattr(keyed, "wv", keyed)
        has_subwords = hasattr(keyed, "vectors_ngrams")
        return cls(keyed.index_to_key, keyed.vectors, keyed.get_vector if has_subwords else None)


def read_word_vectors(path: str | os.PathLike) -> WordVectors:
    """Read a fastText ``.bin``, a word2vec ``.bin``, a text ``.vec`` or ``.txt`` (also gzipped),
    or what gensim's ``save`` wrote.

    gensim's own format is a pickle and can run code when read: take it from sources you trust.

    Raises
    ------
    TdvError
        When there is no such file or it is in none of these formats.
    """
    path = Path(path)
    if not path.is_file():
        raise TdvError(f"no such vectors file: {path}")
    try:
        return WordVectors.of_gensim(_read(path))
    except MemoryError:
        raise
    except Exception as error:  # gensim raises whatever its parsers stumble over
        raise TdvError(
            f"{path} is not a vectors file gensim can read ({error}): expected fastText .bin, "
            "word2vec .bin, text .vec or .txt, or a gensim KeyedVectors file"
        ) from error


def _read(path: Path) -> Any:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    with path.open("rb") as file:
        start = file.read(len(_FASTTEXT_MAGIC))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if start == _FASTTEXT_MAGIC:
        return load_facebook_vectors(os.fspath(path))
    if ".bin" in suffixes:
        return KeyedVectors.load_word2vec_format(os.fspath(path), binary=True)
    if ".vec" in suffixes or ".txt" in suffixes:
        return KeyedVectors.load_word2vec_format(os.fspath(path), binary=False)
    return KeyedVectors.load(os.fspath(path))
