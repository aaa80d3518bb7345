"""What learning takes of memory, known before it begins, and held to while it runs.

Counted is the process's own memory, with Java's. Files that are mapped, the index and the matrix,
come on top where there is room: the system takes them out again when memory is short.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import TdvError, argument
from ..progress import Progress
from .pool import LEAST_POOL, POOL, pool_size

_PROCESS, _SEARCHES = 600e6, 250e6
_PER_POSTING, _PER_TERM, _PER_DOCUMENT = 65.0, 500.0, 80.0
"""Bytes. Measured, with a little on top: see scripts/bench/runs/2026-11-22-size."""
_PER_QUERY, _PER_QUERY_TERM, _MOST = 10e3, 4e3, 1.1e9
"""A query's thousand candidates: fewer where they would take more than a gigabyte."""
_LONGER = 1.25
"""Documents of a pool have more postings than others: searches find long ones."""


class Extent(NamedTuple):
    """How large a field of an index is, and the topics.

    Attributes
    ----------
    terms, documents, postings : int
    queries, longest : int
        Judged queries, and the terms of the longest.
    """

    terms: int
    documents: int
    postings: int
    queries: int = 0
    longest: int = 0

    def with_topics(
        self, topics: Mapping[str, Sequence[str]], qrels: Mapping[str, object]
    ) -> Extent:
        """Return the same with those topics (query id -> index terms) that are judged."""
        judged = [len(set(terms)) for query_id, terms in topics.items() if query_id in qrels]
        return self._replace(queries=len(judged), longest=max(judged, default=0))


def learning_bytes(extent: Extent, pool: int) -> int:
    """Return what learning takes at most; ``pool`` 0 is from all documents."""
    held = extent.postings
    if pool:
        held = min(held, round(_LONGER * pool * extent.postings / max(1, extent.documents)))
    candidates = extent.queries * (_PER_QUERY + _PER_QUERY_TERM * extent.longest)
    return round(
        _PROCESS
        + (_SEARCHES if pool else 0)
        + min(candidates, _MOST)
        + _PER_POSTING * held
        + _PER_TERM * extent.terms
        + _PER_DOCUMENT * extent.documents
    )


def fitting_pool(extent: Extent, asked: int | None, memory: int | None) -> int:
    """Return the size of the pool to learn from, 0 for all documents, within ``memory`` bytes.

    ``asked`` None takes a pool where all documents would take too much, and a smaller one than
    ``POOL`` where that would. ``memory`` None is as much as it takes.

    Raises :class:`TdvError` when what was asked for, or the smallest pool, takes more.
    """
    size = pool_size(extent.documents, asked)
    if memory is None or learning_bytes(extent, size) <= memory:
        return size
    largest = _largest_pool(extent, memory)
    if asked is None and largest:
        return min(largest, POOL)
    needed = learning_bytes(extent, size)
    smallest = min(needed, learning_bytes(extent, LEAST_POOL))
    of = f"a pool of {size:,}" if size else f"all {extent.documents:,}"
    remedy = (
        f"{argument('pool', largest)} fits"
        if largest
        else f"pass at least {_size(smallest)}"
        + (f", for the smallest pool ({LEAST_POOL:,} documents)" if smallest < needed else "")
    )
    raise TdvError(
        f"learning from {of} documents takes about {_size(needed)}, more than "
        f"{argument('memory', _size(memory))}: {remedy}"
    )


def within(memory: int | None, progress: Progress) -> Progress:
    """Return ``progress`` that also ends learning where the process takes more than ``memory``.

    What is foreseen can be exceeded, as by large vectors from a file. An error between two steps
    says what to do, the system's kill nothing.
    """
    if memory is None:
        return progress

    def checked(label: str, done: int, total: int) -> None:
        taken = _taken()
        if taken > memory:
            raise TdvError(
                f"learning took {_size(taken)} at '{label}', more than "
                f"{argument('memory', _size(memory))}, and was ended; nothing was written: "
                f"pass a smaller {argument('pool')}, or more {argument('memory')}"
            )
        progress(label, done, total)

    return checked


def _taken() -> int:
    """Bytes of memory that are the process's own; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith("RssAnon:"))
    return next((int(kilobytes) * 1024 for _, kilobytes, _ in lines), 0)


def _largest_pool(extent: Extent, memory: int) -> int:
    """Return a round number of documents, 0 where not even the smallest pool fits."""
    room = memory - learning_bytes(extent._replace(postings=0), 1)
    each = _LONGER * _PER_POSTING * extent.postings / max(1, extent.documents)
    found = int(room / max(each, 1e-9)) // 1000 * 1000
    return found if found >= LEAST_POOL else 0


def _size(size: float) -> str:
    """As --memory takes it; rounded up, so that as much is enough."""
    return f"{math.ceil(size / 1e6)}MB" if size < 1e9 else f"{math.ceil(size / 1e8) / 10:.1f}GB"
