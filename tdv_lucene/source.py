"""Where an index lies: one folder, or several that are its shards, and how those are named."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import TdvError

ID_FIELD = "id_field"
"""The entry of a commit's user data and of a source's identity: the field of document ids."""


@dataclass(frozen=True)
class Part:
    """One folder of a source."""

    folder: str  # absolute, if it is a shard
    resource: str | None = None
    """The Dask resource of the workers that see the folder; None where all workers and this process
    see it."""

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
    """

    parts: tuple[Part, ...]
    scheduler: str | None = None
    """Address of the Dask scheduler whose workers process the parts; None for processes of this
    machine."""
    is_sharded: bool = True
    """Whether it was named as shards, even if there is one only: what is made of each has a folder
    of its own."""
    id_field: str | None = None
    """The field of document ids that was asked for; ``"none"`` for Lucene's numbers."""

    @classmethod
    def of(cls, index: str | os.PathLike[str]) -> Source:
        """Return a path as a source of one part; a source, or that of an open index, as it is."""
        source = getattr(index, "source", index)
        if isinstance(source, Source):
            return source
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


LIST = "@"
"""Before the name of a file that lists shards."""

_FAR = re.compile("([^=/]+)=(/.*)")


def find_shards(given: str | Sequence[str], *, scheduler: str | None = None) -> Source:
    """Return the index whose shards these are, in the order of the documents.

    Parameters
    ----------
    given
        One or more of: a folder; a pattern such as ``"SHARDS/*"``, of which the folders count, in
        the order of their names; ``"@FILE"``, a file with a folder on each line, relative to its
        own, where lines that are empty or begin with ``#`` do not count; there or by itself
        ``"RESOURCE=/FOLDER"``, a folder that only workers with this resource see.
    scheduler
        Of Dask, such as ``"tcp://HOST:8786"``; None to work in processes of this machine.

    Raises :class:`TdvError` when nothing matches, a file cannot be read, or a folder is there
    twice; for ``RESOURCE=`` without a scheduler, of a pattern, or of some folders only.
    """
    texts = [given] if isinstance(given, str) else given
    named = [folder for text in texts for folder in _folders(text)]
    parts = tuple(_far(name) or Part(os.path.abspath(name)) for name in named)
    far = [part for part in parts if part.resource is not None]
    if far and scheduler is None:
        raise TdvError(
            f"the shard {far[0]} is seen by some workers, and no scheduler is given, "
            "or this takes none: name the scheduler, or a folder that is seen here"
        )
    if far and len(far) < len(parts):
        here = next(part for part in parts if part.resource is None)
        raise TdvError(f"{far[0]} has a resource and {here} has none: name that of each, or none")
    for part in far:
        if glob.has_magic(part.folder):
            raise TdvError(
                f"{part} is a pattern, and what matches is not seen here: name each folder, in a "
                f"file as {LIST}FILE"
            )
    seen: dict[tuple[str | None, str], str] = {}
    for part in parts:
        key = part.resource, os.path.realpath(part.folder) if part.resource is None else part.folder
        if key in seen:
            same = "" if seen[key] == str(part) else f" (also as {seen[key]})"
            raise TdvError(f"the shard {part} is given twice{same}: name each once")
        seen[key] = str(part)
    return Source(parts, scheduler)


def _far(text: str) -> Part | None:
    """Read ``RESOURCE=/FOLDER``; None for what is, or may be, a folder's name."""
    found = _FAR.fullmatch(text)
    is_far = found is not None and not os.path.exists(text)
    return Part(os.path.normpath(found[2]), found[1]) if found and is_far else None


def means_shards(given: Sequence[str]) -> bool:
    """Return whether this is more than the path or name of one index."""
    return len(given) > 1 or any(
        _is_pattern(text) or text.startswith(LIST) or _far(text) for text in given
    )


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not os.path.exists(text) and not _far(text)


def _folders(text: str) -> list[str]:
    if text.startswith(LIST):
        return _listed(Path(text.removeprefix(LIST)))
    if not _is_pattern(text):
        return [text]
    found = [path for path in sorted(glob.glob(text)) if os.path.isdir(path)]
    if not found:
        raise TdvError(
            f"index {text} matches no folder: name the shards' folders, such as "
            "'SHARDS/*' (quoted, so that the shell leaves it alone)"
        )
    return found


def _listed(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise TdvError(f"cannot read the list of shards {path}: {reason}") from error
    named = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not named:
        raise TdvError(f"the list of shards {path} is empty: write a folder on each line")
    return [name if _far(name) else str(path.parent / name) for name in named]
