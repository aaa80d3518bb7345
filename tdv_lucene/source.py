"""The source of an index: one folder, or several that are its shards."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from .errors import TdvError

ID_FIELD = "id_field"
"""The entry of a commit's user data and of a source's identity: the field of document ids."""


@dataclass(frozen=True)
class Part:
    """One folder of a source.

    Attributes
    ----------
    folder : str
        Absolute, if it is a shard.
    resource : str or None
        The Dask resource of the workers that see the folder; None where all workers and this
        process see it.
    """

    folder: str
    resource: str | None = None

    @property
    def name(self) -> str:
        """Return the folder's own name."""
        return os.path.basename(self.folder)

    def __str__(self) -> str:
        return self.folder if self.resource is None else f"{self.resource}={self.folder}"


@dataclass(frozen=True)
class Source(os.PathLike[str]):
    """An index in one folder or, as shards, in several. Functions take it where they take a path.

    Its documents are those of the first part, then of the second, and so on; its statistics are
    those of all. :func:`tdv_lucene.find_shards` makes one of shards, :meth:`of` one of a path.

    Attributes
    ----------
    parts : tuple of Part
    scheduler : str or None
        Address of the Dask scheduler whose workers process the parts; None for processes of this
        machine.
    is_sharded : bool
        Whether it was named as shards, even if there is one only. What is made of each has a folder
        of its own.
    id_field : str or None
        The field of document ids that was asked for; ``"none"`` for Lucene's numbers.
    """

    parts: tuple[Part, ...]
    scheduler: str | None = None
    is_sharded: bool = True
    id_field: str | None = None

    @classmethod
    def of(cls, index: str | os.PathLike[str]) -> Source:
        """Return a path as a source of one part; a source, or that of an open index, as it is."""
        if isinstance(index, (Source, Located)):
            return index if isinstance(index, Source) else index.source
        return cls((Part(os.fspath(index)),), is_sharded=False)

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of all parts."""
        return tuple(part.folder for part in self.parts)

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the Dask resources that parts need."""
        found = (part.resource for part in self.parts if part.resource is not None)
        return tuple(dict.fromkeys(found))

    @property
    def folders_here(self) -> tuple[str, ...]:
        """Return the folders, to be read in this process.

        Raises :class:`TdvError` when only some workers see them.
        """
        if self.resources:
            raise TdvError(
                f"{self} lie where only workers with the resources {', '.join(self.resources)} see "
                "them: 'learn', 'prune', 'verify' and 'search' work there; all else needs "
                "folders that are seen here, without RESOURCE="
            )
        return self.folders

    @property
    def absolute(self) -> str:
        """Return its name in records and reports: the absolute path, or as errors name shards."""
        return str(self) if self.is_sharded else os.path.abspath(self.parts[0].folder)

    def __fspath__(self) -> str:
        return os.pathsep.join(map(os.path.abspath, self.folders_here))

    def __str__(self) -> str:
        if not self.is_sharded:
            return self.parts[0].folder
        above = os.path.commonpath([os.path.dirname(folder) for folder in self.folders])
        return f"{len(self.parts)} shards of {above}"

    def named_by(self, id_field: str | None) -> Source:
        """Return the source with ``id_field`` as the field of document ids; itself for None.

        Raises :class:`TdvError` for shards: the same id may name other documents in another shard.
        """
        if id_field is None:
            return self
        if self.is_sharded:
            raise TdvError(
                f"id_field {id_field} is for an index in one folder, and the "
                "documents of shards are named by 'id': leave it out, or merge the shards"
            )
        return replace(self, id_field=id_field)


class Located(os.PathLike[str]):
    """A base of objects with a source: an open index."""

    source: Source

    @property
    def is_sharded(self) -> bool:
        """Return whether it was named as shards."""
        return self.source.is_sharded

    def __fspath__(self) -> str:
        return os.fspath(self.source)

    def __str__(self) -> str:
        return str(self.source)
