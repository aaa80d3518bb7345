"""What lies in folders, to tell whether a command has touched it."""

from __future__ import annotations

import hashlib
import os
import stat
from functools import cache
from pathlib import Path


def snapshot(*folders: Path) -> dict[str, str]:
    """The folders or files that are there and all that lies below, by path: digests, link targets.

    Lucene's lock, which whoever looks makes, does not count.
    """
    found = {}
    for folder in folders:
        for path in filter(os.path.lexists, (str(folder), *_below(folder))):
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                found[path] = f"link to {os.readlink(path)}"
            elif stat.S_ISDIR(status.st_mode):
                found[path] = "folder"
            elif os.path.basename(path) != "write.lock":
                found[path] = _digest(
                    path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
                )
    return found


def _below(folder: Path) -> list[str]:
    return [
        os.path.join(parent, name)
        for parent, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]


@cache
def _digest(path: str, *status: int) -> str:
    """Read anew only if the file's ``status`` has changed, as every change changes it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
