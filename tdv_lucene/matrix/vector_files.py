"""Word vectors from files: fastText, word2vec, NumPy; nothing in them is executed."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..report.wording import counted

_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
_FASTTEXT_SETTINGS = struct.Struct("<2i12id")  # magic, version, twelve numbers, t
_FASTTEXT_COUNTS = struct.Struct("<3i2q")  # words and labels, words, labels, tokens, pruned
_AFTER_WORD = 9  # an int64 count and a byte for the kind
_FORMATS = "fastText .bin, word2vec .bin, text .vec or .txt, or NumPy .npz"


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words as written, not yet of index terms."""

    words: Sequence[str]
    vectors: np.ndarray  # float32[W, K]
    # Makes float32[K] for a word outside ``words`` from its sub-words (fastText); None if the file
    # has none
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
    - NumPy's ``.npz`` with the arrays ``words`` (str [W]) and ``vectors`` (float [W, K]).

    Raises :class:`TdvError` when there is no such file, it is in none of these formats, damaged or
    truncated, or holds a number that is not finite. What gensim's ``save`` writes is a pickle,
    which can run any command, and is not read.
    """
    path = Path(path)
    if not path.is_file():
        raise TdvError(f"no such vectors file: {path}")
    try:
        found = _read(path)
        finite = np.isfinite([found.vectors.min(axis=1), found.vectors.max(axis=1)]).all(axis=0)
    except TdvError:
        raise
    except Exception as error:  # gensim and NumPy raise whatever their parsers stumble over
        too_large = ", or does not fit into memory" if isinstance(error, MemoryError) else ""
        raise TdvError(
            f"{path} is not a whole vectors file{too_large} ({error}): fetch it again; expected "
            f"{_FORMATS}, without pickled objects"
        ) from error
    if not finite.all():
        word = found.words[int(np.argmin(finite))]
        raise TdvError(f"{path}: the vector of '{word}' holds a number that is not finite")
    return found


def _read(path: Path) -> WordVectors:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    with path.open("rb") as file:
        start = file.read(len(_FASTTEXT_MAGIC))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if start == _FASTTEXT_MAGIC:
        _require_words(path)
        return WordVectors.of_gensim(load_facebook_vectors(os.fspath(path)))
    if suffixes[-1:] == [".npz"]:
        return _read_npz(path)
    if {".bin", ".vec", ".txt"} & {*suffixes}:
        binary = ".bin" in suffixes
        keyed = KeyedVectors.load_word2vec_format(os.fspath(path), binary=binary)
        return WordVectors.of_gensim(keyed)
    raise TdvError(
        f"{path} is in none of the formats that are read: {_FORMATS}. If gensim's save() wrote it, "
        "have its maker write it with save_word2vec_format('NAME.bin', binary=True)"
    )


def _require_words(path: Path) -> None:
    """Walk through the words of a fastText file: gensim reads for ever where they do not end."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = _FASTTEXT_SETTINGS.size
        words, *_ = _FASTTEXT_COUNTS.unpack_from(data, at)
        at += _FASTTEXT_COUNTS.size
        for _ in range(words):
            end = data.find(b"\0", at)
            if end < 0:
                raise EOFError("it ends within its words")
            at = end + 1 + _AFTER_WORD


def _read_npz(path: Path) -> WordVectors:
    with np.load(path, allow_pickle=False) as arrays:
        if not {"words", "vectors"} <= {*arrays.files}:
            raise TdvError(
                f"{path} holds {', '.join(arrays.files) or 'nothing'}: expected the arrays "
                "'words' (str) and 'vectors' (float [words, dimensions])"
            )
        words, vectors = arrays["words"], arrays["vectors"]
    if words.dtype.kind != "U" or words.ndim != 1:
        raise TdvError(
            f"{path}: 'words' is {words.dtype}{list(words.shape)}: expected a list of str"
        )
    if vectors.dtype.kind != "f" or vectors.ndim != 2 or not vectors.shape[1]:
        raise TdvError(
            f"{path}: the vectors are {vectors.dtype}{list(vectors.shape)}: expected floating "
            "point numbers [words, dimensions]"
        )
    if len(words) != len(vectors):
        raise TdvError(
            f"{path}: {counted(len(words), 'word')} but {counted(len(vectors), 'vector')}"
        )
    return WordVectors(words.tolist(), vectors.astype(np.float32, copy=False))
