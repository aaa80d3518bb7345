"""The rankings that the rows of a report's queries open to, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..indexes.index import Index
from ..jvm.searcher import stored_texts
from ..report.page_data import Rankings
from ..report.wording import shortened
from .systems import Results

MEASURE = "MAP"
MOST = 1000
"""Rankings in a page, of all systems and query sets together: about half a megabyte of titles."""
_TITLE = 120  # characters


def side_by_side(results: Sequence[Results], index: Index, field: str) -> list[Rankings]:
    """Return the rankings of the queries that changed most, for each query set."""
    most = max(1, MOST // sum(len(result.evaluations) for result in results))
    chosen = [most_changed(result.evaluations, most) for result in results]
    best = [
        {query: [best[query] for best in result.best.values()] for query in queries}
        for result, queries in zip(results, chosen)
    ]
    shown = {doc for of_set in best for lists in of_set.values() for docs in lists for doc in docs}
    texts = stored_texts(index, field, sorted(shown), 2 * _TITLE)
    titles = {document: shortened(text, _TITLE) for document, text in texts.items()}
    return [
        Rankings(of_set, _relevant(of_set, result.queries.qrels), titles)
        for of_set, result in zip(best, results)
    ]


def most_changed(evaluations: Mapping[str, Evaluation], most: int) -> list[str]:
    """Return the queries that any system changed most against the first, in topic order."""
    first, *others = evaluations.values()
    changes = [abs(other.values[MEASURE] - first.values[MEASURE]) for other in others]
    order = np.argsort(-np.max(changes, axis=0), kind="stable")
    return [first.queries[i] for i in np.sort(order[:most])]


def _relevant(
    best: Mapping[str, Sequence[Sequence[str]]], qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, list[str]]:
    shown = {query: {doc for docs in lists for doc in docs} for query, lists in best.items()}
    return {
        query: [doc for doc, grade in qrels[query].items() if grade > 0 and doc in documents]
        for query, documents in shown.items()
    }
