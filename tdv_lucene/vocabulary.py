"""The terms of a field, as bytes, with a checksum (NumPy and the standard library only)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

StrPath = str | os.PathLike[str]
"""How a user names a file or folder."""


@dataclass(frozen=True, eq=False)
class ByteStrings:
    """``n`` byte strings in one buffer: terms (any bytes, not only UTF-8) or document ids.

    Attributes
    ----------
    data : uint8[total bytes]
    indptr : int64[n + 1]
        String ``i`` is ``data[indptr[i]:indptr[i + 1]]``.
    """

    data: np.ndarray
    indptr: np.ndarray

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> bytes:
        i = range(len(self))[i]  # the usual rules for negative and out-of-range positions
        return self.data[self.indptr[i] : self.indptr[i + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        buffer, ends = self.data.tobytes(), self.indptr.tolist()
        return (buffer[start:end] for start, end in zip(ends, ends[1:]))

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> ByteStrings:
        """Pack byte strings."""
        strings = list(strings)
        indptr = np.zeros(len(strings) + 1, np.int64)
        np.cumsum([len(s) for s in strings], out=indptr[1:])
        return cls(np.frombuffer(b"".join(strings), np.uint8), indptr)

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the strings and where they end, so values never meet the wrong terms."""
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
        encoded = (t.encode() if isinstance(t, str) else t for t in terms)
        return np.fromiter((self._position.get(t, -1) for t in encoded), np.int64)
