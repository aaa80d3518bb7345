"""The documents of a ranking that a run lists, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..jvm.searcher import Hits
from ..vocabulary import ByteStrings

PASSAGE = b"#"
"""Ends the id of a document in that of its passage, as D7#0; what follows names the passage."""


@dataclass(frozen=True)
class Listing:
    """Rules by which a run lists what a search found."""

    remove_query: bool = False  # leave out the document whose id is the query's
    max_passage: bool = False  # list documents by their best passages

    def of(self, found: Hits, topics: Mapping[str, str]) -> Listed:
        """Return what a run lists of the hits of these topics: of each id the best hit."""
        names = [*found.ids]
        if self.max_passage:
            names = [name.split(PASSAGE, 1)[0] for name in names]
        numbers: dict[bytes, int] = {}
        places = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        documents = places[found.documents]
        topic = np.repeat(np.arange(len(topics)), found.counts)
        own = np.array([numbers.get(qid.encode(), -1) for qid in topics], np.int64)
        is_own = documents == own[topic]
        best = (np.cumsum(found.counts) - found.counts)[found.counts > 0]
        own_first = topic[best[is_own[best]]]
        is_listed = np.zeros(len(documents), bool)
        is_listed[np.unique(topic * len(numbers) + documents, return_index=True)[1]] = True
        duplicates = 0 if self.max_passage else int(np.count_nonzero(~is_listed))
        if self.remove_query:
            is_listed &= ~is_own
        listed = replace(
            found,
            counts=np.bincount(topic[is_listed], minlength=len(topics)),
            scores=found.scores[is_listed],
            documents=documents[is_listed].astype(np.int32),
            ids=ByteStrings.of(numbers),
        )
        ids = [*topics]
        return Listed(listed, duplicates, [ids[number] for number in own_first.tolist()])


@dataclass(frozen=True)
class Listed:
    """The hits that a run lists."""

    hits: Hits
    duplicates: int  # hits left out because a better one has their id
    # Queries whose best hit is the document that has their id, whether it is listed or not
    own_first: list[str]


def note_on_duplicates(duplicates: int, what: str) -> str:
    """Return a warning that hits were left out, if any were."""
    if not duplicates:
        return ""
    return (
        f"{duplicates:,} hits of {what} have the id of a better one and were left out: give each "
        "document an id of its own"
    )
