"""Which folders are the shards of an index: a pattern, several paths, or a file that lists them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import TdvError, argument
from ...source import SEPARATOR, Part, Source

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
    texts = [given] if isinstance(given, str) else list(given)
    named = [folder for text in texts for folder in _folders(text)]
    far = [found for found in map(_far, named) if found]
    if far:
        return _far_shards(named, far, scheduler)
    folders = [os.path.abspath(folder) for folder in named]
    _refuse_twice(folders)
    _refuse_control_characters(folders)
    return Source(tuple(map(Part, folders)), scheduler)


def _far_shards(
    named: Sequence[str], far: Sequence[tuple[str, str]], scheduler: str | None
) -> Source:
    first = "=".join(far[0])
    if scheduler is None:
        raise TdvError(
            f"the shard {first} is seen by some workers, and no {argument('scheduler')} is given, "
            "or this takes none: name the scheduler, or a folder that is seen here"
        )
    if len(far) < len(named):
        here = next(name for name in named if not _far(name))
        raise TdvError(f"{first} has a resource and {here} has none: name that of each, or none")
    for name, folder in far:
        if far.count((name, folder)) > 1:
            raise TdvError(f"the shard {name}={folder} is given twice: name each once")
        if glob.has_magic(folder):
            raise TdvError(
                f"{name}={folder} is a pattern, and what matches is not seen here: name each "
                f"folder, in a file as {LIST}FILE"
            )
    parts = tuple(Part(os.path.normpath(folder), name) for name, folder in far)
    _refuse_control_characters([part.folder for part in parts])
    return Source(parts, scheduler)


def _refuse_control_characters(folders: Sequence[str]) -> None:
    for folder in folders:
        if SEPARATOR in folder or "\n" in folder:
            raise TdvError(f"the shard {folder!r} has a control character in its name: rename it")


def _far(text: str) -> tuple[str, str] | None:
    """Both parts of ``RESOURCE=/FOLDER``; None of what is, or may be, a folder's name."""
    found = _FAR.fullmatch(text)
    return None if found is None or os.path.exists(text) else (found[1], found[2])


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
            f"{argument('index', text)} matches no folder: name the shards' folders, such as "
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


def _refuse_twice(folders: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for folder in folders:
        real = os.path.realpath(folder)
        if real in seen:
            same = "" if seen[real] == folder else f" (also as {seen[real]})"
            raise TdvError(f"the shard {folder} is given twice{same}: name each once")
        seen[real] = folder
