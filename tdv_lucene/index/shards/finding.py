"""Which folders are the shards of an index: a pattern, several paths, or a file that lists them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import TdvError
from ...source import Part, Source

LIST = "@"
"""Before the name of a file that lists shards."""

_FAR = re.compile("([^=/]+)=(/.*)")


def find_shards(given: str | Sequence[str], *, scheduler: str | None = None) -> Source:
    """Return the index whose shards these are.

    Parameters
    ----------
    given
        One or more of: a folder; a pattern such as ``"SHARDS/*"``, of which the folders count, in
        the order of their names; ``"@FILE"``, a file with a folder on each line, relative to its
        own, where lines that are empty or begin with ``#`` do not count; there or by itself
        ``"RESOURCE=/FOLDER"``, a folder that only workers with this resource see. The order is that
        of the documents.
    scheduler
        Of Dask, such as ``"tcp://HOST:8786"``; None to work in processes of this machine.

    Raises
    ------
    TdvError
        When nothing matches, a file cannot be read, or a folder is there twice; for ``RESOURCE=``
        without a scheduler, of a pattern, or of some folders only.
    """
    texts = [given] if isinstance(given, str) else given
    named = [folder for text in texts for folder in _folders(text)]
    parts = tuple(_far(name) or Part(os.path.abspath(name)) for name in named)
    far = [part for part in parts if part.resource is not None]
    if far:
        _refuse_far(far, [name for name in named if not _far(name)], scheduler)
    seen: dict[tuple[str | None, str], str] = {}
    for part in parts:
        key = part.resource, os.path.realpath(part.folder) if part.resource is None else part.folder
        if key in seen:
            same = "" if seen[key] == str(part) else f" (also as {seen[key]})"
            raise TdvError(f"the shard {part} is given twice{same}: name each once")
        seen[key] = str(part)
    return Source(parts, scheduler)


def _refuse_far(far: Sequence[Part], here: Sequence[str], scheduler: str | None) -> None:
    """Refuse what is seen by some workers beside what is ``here``, and what is no one folder."""
    if scheduler is None:
        raise TdvError(
            f"the shard {far[0]} is seen by some workers, and no scheduler is given, "
            "or this takes none: name the scheduler, or a folder that is seen here"
        )
    if here:
        raise TdvError(
            f"{far[0]} has a resource and {here[0]} has none: name that of each, or none"
        )
    for part in far:
        if glob.has_magic(part.folder):
            raise TdvError(
                f"{part} is a pattern, and what matches is not seen here: name each folder, in a "
                f"file as {LIST}FILE"
            )


def _far(text: str) -> Part | None:
    """What ``RESOURCE=/FOLDER`` means; None of what is, or may be, a folder's name."""
    found = _FAR.fullmatch(text)
    if found is None or os.path.exists(text):
        return None
    return Part(os.path.normpath(found[2]), found[1])


def means_shards(given: Sequence[str]) -> bool:
    """Whether this is more than the path or name of one index."""
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
