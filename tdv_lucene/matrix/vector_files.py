"""Word vectors from files: fastText, word2vec, NumPy; nothing in them is executed.

Every size that a file claims is checked against the file itself first, so a damaged or truncated
one ends with a message: gensim reads a truncated fastText file for ever, and gensim and NumPy both
reserve whatever memory a header asks for.
"""

from __future__ import annotations

import gzip
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..report.wording import counted
from ..store import damaged, read_array

FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")

_FASTTEXT_SETTINGS = struct.Struct("<2i12id")  # magic, version, twelve numbers, t
_FASTTEXT_COUNTS = struct.Struct("<3i2q")  # words and labels, words, labels, tokens, pruned
_MATRIX_HEADER = struct.Struct("<?2q")  # quantised, rows, columns
_AFTER_WORD = 9  # an int64 count and a byte for the kind
_FLOAT = 4
_MOST_DIMENSIONS = 1_000_000
_LONGEST_HEADER = 1000
_MOST_INFLATION = 1032  # what deflate can make of a byte at most


def check_fasttext(path: Path) -> None:
    """Walk through a fastText ``.bin`` without reading its vectors.

    Raises :class:`TdvError` when a word, list or matrix would not end within the file, or something
    follows the last.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = _FASTTEXT_SETTINGS.size
        if len(data) < at + _FASTTEXT_COUNTS.size:
            raise damaged(path, len(data))
        entries, words, labels, _, pruned = _FASTTEXT_COUNTS.unpack_from(data, at)
        if labels:
            raise TdvError(f"{path} is a supervised fastText model: only unsupervised are read")
        if entries != words or entries < 1:
            raise damaged(path, at, f"{entries} words, of which {words}")
        at += _FASTTEXT_COUNTS.size
        for _ in range(entries):
            end = data.find(b"\0", at)
            if end < 0 or end + 1 + _AFTER_WORD > len(data):
                raise damaged(path, len(data), "within the list of words")
            at = end + 1 + _AFTER_WORD
        at += 8 * max(pruned, 0)
        for what in ("vectors", "output layer"):
            at = _after_matrix(path, data, at, what)
        if at != len(data):
            raise damaged(path, at, f"{len(data) - at:,} bytes follow the last matrix")


def _after_matrix(path: Path, data: mmap.mmap, at: int, what: str) -> int:
    if at + _MATRIX_HEADER.size > len(data):
        raise damaged(path, len(data), f"before the {what}")
    quantised, rows, columns = _MATRIX_HEADER.unpack_from(data, at)
    if quantised:
        raise TdvError(f"{path} is a quantised fastText model (.ftz): only full ones are read")
    if rows < 0 or not 0 < columns <= _MOST_DIMENSIONS:
        raise damaged(path, at, f"{what} of {rows} x {columns}")
    after: int = at + _MATRIX_HEADER.size + rows * columns * _FLOAT
    if after > len(data):
        raise damaged(path, len(data), f"{what} of {rows:,} x {columns:,} end at {after:,}")
    return after


def check_word2vec(path: Path, *, binary: bool) -> None:
    """Compare the first line of a word2vec file, ``words dimensions``, with its size.

    Raises :class:`TdvError` when so many vectors cannot be in the file. A gzipped one is refused
    only if they could never be in it; the reader finds the rest.
    """
    zipped = path.suffix.lower() == ".gz"
    size = path.stat().st_size * (_MOST_INFLATION if zipped else 1)
    try:
        with gzip.open(path) if zipped else path.open("rb") as file:
            first = file.readline(_LONGEST_HEADER)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, path.stat().st_size, str(error)) from error
    try:
        words, dimensions = map(int, first.split())
    except ValueError:
        raise TdvError(
            f"{path} is not a vectors file gensim can read: a word2vec file begins with a line "
            f"of two numbers, words and dimensions, this one with {first[:40]!r}"
        ) from None
    if words < 1 or not 0 < dimensions <= _MOST_DIMENSIONS:
        raise damaged(path, 0, f"{words} vectors of {dimensions} dimensions")
    # A blank after the word, then the numbers: four bytes, or at least a digit and what ends it.
    smallest = 1 + dimensions * (_FLOAT if binary else 2)
    if len(first) + words * smallest > size:
        raise damaged(
            path, path.stat().st_size,
            f"{words:,} vectors of {dimensions:,} dimensions do not fit into it",
        )  # fmt: skip


_CHUNK = 100_000


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
