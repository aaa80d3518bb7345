"""Hits as the lines of a TREC run, ``qid Q0 docid rank score tag``: which documents it lists, each
once, with scores as Anserini prints them.

Columns are separated by spaces without any quoting, so names with white space are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..jvm.searcher import Hits
from ..vocabulary import ByteStrings

_MILLION = 1e6
_DOUBTFUL = 1e-3
_LARGEST = 1e9
_MILLIONTH = Decimal("1e-6")
_DECIMALS = Context(prec=60, rounding=ROUND_HALF_UP)


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


def require_run_names(queries: Iterable[str], tag: str) -> None:
    """Raise :class:`TdvError` for a query id or a tag that no run can hold."""
    for query in queries:
        _require_name("query id", query, "give the topic another id")
    _require_name("tag", tag, "choose another")


def append_run(
    found: Hits, topics: Sequence[str], output: Path, tag: str
) -> tuple[dict[str, Any], np.ndarray]:
    """Append to a TREC run, which is begun where there is none.

    Returns ``hits`` (int, lines written) and ``queries_without_hits`` (list of query ids); and
    float64[n], the scores as they are read from the run.

    Raises :class:`TdvError` when a document's id is none for a run.
    """
    texts, printed = _print_scores(found.scores)
    documents = found.documents.tolist()
    names = {number: found.ids[number].decode() for number in set(documents)}
    for name in names.values():
        _require_name("document id", name, "index the documents again with other ids")
    start = 0
    with output.open("a", encoding="utf-8", newline="\n") as lines:
        for topic, end in zip(topics, np.cumsum(found.counts).tolist()):
            listed = [names[number] for number in documents[start:end]]
            lines.writelines(
                f"{topic} Q0 {name} {rank} {text} {tag}\n"
                for rank, (name, text) in enumerate(zip(listed, texts[start:end]), 1)
            )
            start = end
    empty = [topic for topic, count in zip(topics, found.counts) if not count]
    return {"hits": len(documents), "queries_without_hits": empty}, printed


def lower_ties(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return float32[n], the scores of an index that orders ties by id as Anserini prints them.

    They are rounded to four decimals, and ties and near ties are lowered by a millionth each, so
    that tools that sort by score keep the order. This is the arithmetic of Anserini's
    ``ScoreTiesAdjusterReranker``.
    """
    lowered = (np.floor(scores.astype(np.float64) * 1e4 + 0.5) / 1e4).astype(np.float32)
    starts = np.cumsum(counts) - counts
    tied = np.zeros(len(counts), np.float32)
    for rank in range(1, int(counts.max(initial=0))):
        there = np.flatnonzero(counts > rank)
        at = starts[there] + rank
        is_tied = lowered[at - 1] - lowered[at] <= np.float32(1e-4)
        tied[there] = np.where(is_tied, tied[there] + 1, 0)
        lowered[at] -= np.float32(1e-6) * tied[there]
    return lowered


def _print_scores(scores: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the scores with six decimals as Java prints them, which rounds the shortest decimals
    that stand for a number, half up; and float64[n], the numbers that are read from them."""
    wide = scores.astype(np.float64)
    texts = [f"{score:.6f}" for score in wide.tolist()]
    printed: np.ndarray = np.floor(wide * _MILLION + 0.5) / _MILLION
    is_tied = np.abs(wide * _MILLION % 1 - 0.5) < _DOUBTFUL
    for place in np.flatnonzero(is_tied | (wide < 0) | (wide >= _LARGEST)).tolist():
        exact = Decimal(repr(float(wide[place])))
        texts[place] = f"{exact.quantize(_MILLIONTH, context=_DECIMALS):f}"
        printed[place] = float(texts[place])
    return texts, printed


def _require_name(kind: str, name: str, remedy: str) -> None:
    """Refuse a name that tools that read runs would take for another, or for several."""
    if name.split() != [name]:
        problem = "holds white space" if name else "is empty"
        raise TdvError(
            f"the {kind} '{name}' {problem}, and a run with it could not be read: {remedy}"
        )
