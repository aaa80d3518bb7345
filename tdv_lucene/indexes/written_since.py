"""What another writer did to a pruned index: its user data speak for the segments they were written
with, and Lucene hands them on to commits that have others.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WrittenSince:
    """What another writer made of a pruned folder, as ``tdvlucene.common.WrittenSegments`` has it.

    Attributes
    ----------
    index
        The folder.
    did : str
        ``"appended"``, ``"merged"`` or ``"changed"``.
    segments, documents : int
        Those that are not as they were written, and the documents of those that are new.
    fewer : int
        Documents that are gone.
    """

    index: str
    did: str
    segments: int
    documents: int
    fewer: int

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
                f"{again}, and optimize prunes into one segment"
            )
        return again


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
