"""How much of an index the operating system holds in memory."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..source import Source


def resident_share(index: str | os.PathLike[str]) -> float | None:
    """Share of the pages of the index's files that are in the page cache, within [0, 1].

    None where the system does not tell: it has no ``mincore``, or, as Linux since 5.2, answers
    only to those who own a file or may write it.
    """
    mincore = getattr(ctypes.CDLL(None), "mincore", None)
    folders = map(Path, Source.of(index).folders_here)
    files = [f for folder in folders for f in folder.iterdir() if f.is_file() and f.stat().st_size]
    if mincore is None or not all(map(_may_ask, files)):
        return None
    size = resident = 0
    for file in files:
        here = _resident_pages(file, mincore)
        if here is None:
            return None
        size += len(here)
        resident += int(here.sum())
    return round(resident / size, 4) if size else None


def _may_ask(file: Path) -> bool:
    return os.access(file, os.W_OK) or file.stat().st_uid == os.geteuid()


def _resident_pages(file: Path, mincore: Callable[..., int]) -> np.ndarray | None:
    """bool[pages of the file]; the file is mapped but not read."""
    mapped = np.memmap(file, np.uint8, mode="r")
    pages = np.zeros(-(-len(mapped) // mmap.PAGESIZE), np.uint8)
    status = mincore(
        ctypes.c_void_p(mapped.ctypes.data),
        ctypes.c_size_t(len(mapped)),
        ctypes.c_void_p(pages.ctypes.data),
    )
    return None if status else (pages & 1).astype(bool)
