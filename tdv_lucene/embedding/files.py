"""Word vectors from files: fastText, word2vec, NumPy; nothing in them is executed.

Every size that a file claims is checked against the file itself first, so a damaged or truncated
one ends with a message, not in an endless loop or with all memory taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import damaged, read_array
from ..errors import TdvError
from ..report.wording import counted
from .file_checks import FASTTEXT_MAGIC, check_fasttext, check_word2vec

_CHUNK = 100_000


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
    of_unseen: Callable[[str], np.ndarray] | None = None

    @classmethod
    def of_gensim(cls, keyed: Any) -> WordVectors:
        """Wrap gensim's KeyedVectors, or a model that holds some in ``wv``."""
        keyed = getattr(keyed, "wv", keyed)
        has_subwords = hasattr(keyed, "vectors_ngrams")
        return cls(keyed.index_to_key, keyed.vectors, keyed.get_vector if has_subwords else None)


def read_word_vectors(path: str | os.PathLike[str]) -> WordVectors:
    """Read word vectors from a file; nothing in it is executed.

    - fastText's ``.bin``, known by its first bytes;
    - word2vec's ``.bin`` (binary) and ``.vec`` or ``.txt`` (text), also with ``.gz``;
    - NumPy's ``.npz`` with the arrays ``words`` (str [W]) and ``vectors`` (float [W, K]);
    - NumPy's ``.npy`` of vectors (float [W, K]), with the words in a ``.txt`` of the same name
      beside it, one a line (UTF-8), in the same order.

    Raises :class:`TdvError` when there is no such file, it is in none of these formats, damaged or
    truncated, or holds a number that is not finite. What gensim's ``save`` writes is a pickle,
    which can run any command, and is not read.
    """
    path = Path(path)
    if not path.is_file():
        raise TdvError(f"no such vectors file: {path}")
    try:
        found = _read(path)
    except (TdvError, MemoryError):
        raise
    except Exception as error:  # gensim raises whatever its parsers stumble over
        raise TdvError(
            f"{path} is not a vectors file gensim can read ({error}): expected {_FORMATS}"
        ) from error
    _check_vectors(found, path)
    return found


_FORMATS = "fastText .bin, word2vec .bin, text .vec or .txt, or NumPy .npz or .npy"


def _read(path: Path) -> WordVectors:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    with path.open("rb") as file:
        start = file.read(len(FASTTEXT_MAGIC))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if start == FASTTEXT_MAGIC:
        check_fasttext(path)
        return WordVectors.of_gensim(load_facebook_vectors(os.fspath(path)))
    if path.suffix.lower() == ".npz":
        return _read_npz(path)
    if path.suffix.lower() == ".npy":
        return _read_npy(path)
    binary = ".bin" in suffixes
    if binary or ".vec" in suffixes or ".txt" in suffixes:
        check_word2vec(path, binary=binary)
        try:
            keyed = KeyedVectors.load_word2vec_format(os.fspath(path), binary=binary)
        except EOFError as error:  # fewer vectors than the first line tells
            raise damaged(path, path.stat().st_size) from error
        return WordVectors.of_gensim(keyed)
    raise TdvError(
        f"{path} is in none of the formats that are read: {_FORMATS}. If gensim's save() wrote it, "
        "have its maker write it with save_word2vec_format('NAME.bin', binary=True)"
    )


def _read_npz(path: Path) -> WordVectors:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
            if not {"words", "vectors"} <= names:
                raise TdvError(
                    f"{path} holds {', '.join(sorted(names)) or 'nothing'}: expected the arrays "
                    "'words' (str) and 'vectors' (float [words, dimensions])"
                )
            words, vectors = (
                read_array(archive.open(f"{name}.npy"), archive.getinfo(f"{name}.npy").file_size,
                           f"{path}, '{name}'")
                for name in ("words", "vectors")
            )  # fmt: skip
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise damaged(path, path.stat().st_size, str(error)) from error
    if words.dtype.kind != "U" or words.ndim != 1:
        raise TdvError(
            f"{path}: 'words' is {words.dtype}{list(words.shape)}: expected a list of str; "
            "words of dtype object would be a pickle"
        )
    return _paired(path, words.tolist(), vectors)


def _read_npy(path: Path) -> WordVectors:
    beside = path.with_suffix(".txt")
    if not beside.is_file():
        raise TdvError(f"{path} holds vectors alone: their words are expected in {beside}")
    with path.open("rb") as file:
        vectors = read_array(file, path.stat().st_size, str(path))
    try:
        words = beside.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise TdvError(f"the words {beside} are not UTF-8 (byte {error.start})") from error
    return _paired(path, words[:-1] if words[-1] == "" else words, vectors)


def _paired(path: Path, words: list[str], vectors: np.ndarray) -> WordVectors:
    if vectors.dtype.kind != "f" or vectors.ndim != 2 or not vectors.shape[1]:
        raise TdvError(
            f"{path}: the vectors are {vectors.dtype}{list(vectors.shape)}: expected floating "
            "point numbers [words, dimensions]"
        )
    if len(words) != len(vectors):
        raise TdvError(
            f"{path}: {counted(len(words), 'word')} but {counted(len(vectors), 'vector')}"
        )
    return WordVectors(words, vectors.astype(np.float32, copy=False))


def _check_vectors(found: WordVectors, path: Path) -> None:
    for first in range(0, len(found.vectors), _CHUNK):
        finite = np.isfinite(found.vectors[first : first + _CHUNK]).all(axis=1)
        if not finite.all():
            word = found.words[first + int(np.argmin(finite))]
            raise TdvError(f"{path}: the vector of '{word}' holds a number that is not finite")
