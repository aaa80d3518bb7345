"""A search of any number of topics: some at a time, so that memory does not grow with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Protocol

from ..jvm.hits import Hits
from ..progress import Progress

HITS_AT_ONCE = 1_000_000
"""Of an index, or of all shards that workers search: some 20 bytes each are held at a time."""


class Find(Protocol):
    """Finds the best documents of topics; tells progress of whatever it counts."""

    def __call__(self, topics: Mapping[str, str], hits: int, *, progress: Progress) -> Hits: ...


def find_in_batches(
    find: Find, topics: Mapping[str, str], hits: int, progress: Progress, shards: int = 1
) -> Iterator[tuple[dict[str, str], Hits]]:
    """Yield some of the topics and what they find, until all were searched, in their order.

    Each of ``shards`` sends its own best ``hits``.
    """
    step = max(1, HITS_AT_ONCE // (hits * shards))
    for first in range(0, len(topics), step):
        some = dict(itertools.islice(topics.items(), first, first + step))

        def advance(
            label: str, done: int, total: int, first: int = first, of: int = len(some)
        ) -> None:
            progress(label, first + done * of // max(1, total), len(topics))

        yield some, find(some, hits, progress=advance)
