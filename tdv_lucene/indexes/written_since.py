"""What another writer did to a pruned index: its user data speak for the segments they were written
with, and Lucene hands them on to commits that have others.
"""

from __future__ import annotations

import functools
import logging
import os
from dataclasses import dataclass

from ..errors import TdvError, argument
from ..jvm.index import identify, written_since
from ..source import Source

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WrittenSince:
    """What became of a pruned folder since it was written, if it was pruned at all.

    Attributes
    ----------
    index
        The folder.
    did : str
        ``"appended"``, ``"merged"`` or ``"changed"``; empty for nothing.
    segments, documents : int
        Those that are not as they were written, and the documents of those that are new.
    fewer : int
        Documents that are gone.
    """

    index: str
    did: str = ""
    segments: int = 0
    documents: int = 0
    fewer: int = 0

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> WrittenSince:
        """Compare the commit's segments with those that it records."""
        return cls(os.fspath(folder), **written_since(folder))

    @property
    def mixes(self) -> bool:
        """Whether documents that were not pruned are among the others."""
        return self.did == "appended"

    def __str__(self) -> str:
        """Tell what was done, without what to do about it."""
        deleted = f" and deleted {_count(self.fewer, 'document')}" if self.fewer else ""
        segments = _count(self.segments, "segment")
        holding = f"{segments} with {_count(self.documents, 'document')}"
        return (
            f"since {self.index} was pruned, another writer "
            + {
                "appended": f"added documents that were not pruned (its own: {holding})",
                "merged": f"merged segments (its own: {holding}){deleted}",
                "changed": deleted.removeprefix(" and ") or f"changed doc values of {segments}",
            }[self.did]
        )

    @property
    def remedy(self) -> str:
        """Say what to do about it."""
        again = "'tdv-lucene update' makes it again what its source gives"
        if self.mixes:
            return f"add documents to its source instead; {again}"
        if self.did == "merged":
            return (
                "'tdv-lucene verify' proves it still where documents kept their order; if not, "
                f"{again}, and {argument('optimize')} prunes into one segment"
            )
        return again

    def refuse(self) -> None:
        """Raise :class:`TdvError` where documents are mixed; log a warning of all else, once."""
        if self.mixes:
            raise TdvError(f"{self}: {self.remedy}")
        if self.did:
            _warn_once(f"{self}: {self.remedy}", identify(self.index)["commit"])


def refuse_mixed(index: str | os.PathLike[str]) -> None:
    """Raise :class:`TdvError` where documents were added to a pruned index, or one of its shards,
    that were not pruned: they are neither ranked nor analysed as its record says.
    """
    for folder in Source.of(index).folders_here:
        WrittenSince.of(folder).refuse()


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


@functools.lru_cache(maxsize=64)
def _warn_once(text: str, commit: str) -> None:
    """One commit stays as it is, and is read many times."""
    _log.warning("%s", text)
