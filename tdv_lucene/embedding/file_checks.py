"""Sizes that vectors files claim, checked against the files themselves before they are used.

gensim reads a truncated fastText file for ever, waiting for the zero byte that ends a word. gensim
and NumPy both reserve whatever memory a header asks for.
"""

from __future__ import annotations

import gzip
import mmap
import struct
import zlib
from pathlib import Path

from ..arrays import damaged
from ..errors import TdvError

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
    """Hold the first line of a word2vec file, ``words dimensions``, against its size.

    Raises :class:`TdvError` when so many vectors cannot be in the file. Of a gzipped one only what
    could never be in it is refused here; the reader meets the rest.
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
