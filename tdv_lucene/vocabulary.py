"""The terms of a field, as bytes, with a checksum (NumPy and the standard library only)."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

StrPath = str | os.PathLike[str]  # how a user names a file or folder
_AT_ONCE = 1 << 16  # strings copied at once by an iteration
_MANY = 1 << 20  # in larger vocabularies, few terms are found by bisection, without a table


@dataclass(frozen=True, eq=False)
class ByteStrings:
    """``n`` byte strings in one buffer: terms (any bytes, not only UTF-8) or document ids."""

    data: np.ndarray  # uint8[total bytes]
    indptr: np.ndarray  # int64[n + 1]: string i is data[indptr[i]:indptr[i + 1]]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> bytes:
        i = range(len(self))[i]  # the usual rules for negative and out-of-range positions
        return self.data[self.indptr[i] : self.indptr[i + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self.between(first, first + _AT_ONCE)

    def between(self, first: int, end: int) -> list[bytes]:
        """Return the strings ``first`` to before ``end``."""
        ends = np.asarray(self.indptr[first : end + 1])
        buffer = self.data[ends[0] : ends[-1]].tobytes()
        return [buffer[start:end] for start, end in pairwise((ends - ends[0]).tolist())]

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> ByteStrings:
        """Pack byte strings into one buffer."""
        strings = list(strings)
        indptr = np.zeros(len(strings) + 1, np.int64)
        np.cumsum([len(s) for s in strings], out=indptr[1:])
        return cls(np.frombuffer(b"".join(strings), np.uint8), indptr)

    @classmethod
    def joined(cls, parts: Sequence[ByteStrings]) -> ByteStrings:
        """Return the strings of all parts, one after another; there must be one part."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        data = [part.data[part.indptr[0] : part.indptr[-1]] for part in parts]
        return cls(np.concatenate(data), np.concatenate([[0], np.cumsum(sizes)]))

    def with_inserted(self, places: np.ndarray, strings: ByteStrings) -> ByteStrings:
        """Insert ``strings``, each before the string whose number is its place, int64[n]."""
        sizes = np.diff(strings.indptr)
        at = np.repeat(np.asarray(self.indptr)[places], sizes)
        indptr = np.zeros(len(self) + len(strings) + 1, np.int64)
        np.cumsum(np.insert(np.diff(self.indptr), places, sizes), out=indptr[1:])
        return ByteStrings(np.insert(np.asarray(self.data), at, strings.data), indptr)

    @cached_property
    def sha256(self) -> str:
        """Return the hex digest of the strings and their ends, which ties values to their terms."""
        digest = hashlib.sha256(np.ascontiguousarray(self.indptr, "<i8").tobytes())
        digest.update(np.ascontiguousarray(self.data).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The terms of one field that have a live posting, in Lucene's order (unsigned bytes)."""

    field: str
    terms: ByteStrings

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def sha256(self) -> str:
        return self.terms.sha256

    @cached_property
    def _position(self) -> dict[bytes, int]:
        return {term: i for i, term in enumerate(self.terms)}

    def find(self, terms: Iterable[bytes | str]) -> np.ndarray:
        """Return int64[n] positions of ``terms`` in the vocabulary, -1 where a term is absent."""
        encoded = [t.encode() if isinstance(t, str) else t for t in terms]
        if len(self) > _MANY and len(encoded) < len(self) // 64:
            return np.fromiter(map(self._search, encoded), np.int64)
        return np.fromiter((self._position.get(t, -1) for t in encoded), np.int64)

    def _search(self, term: bytes) -> int:
        """Return the position of a term by bisection, -1 where it is absent."""
        place = bisect_left(range(len(self)), term, key=self.terms.__getitem__)
        return place if place < len(self) and self.terms[place] == term else -1
