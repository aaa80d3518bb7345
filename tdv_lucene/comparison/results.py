"""Results of the systems on each query set: runs, their values, and the rankings to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.measures import (
    CONDENSED,
    Evaluation,
    condenses,
    evaluate_run,
    judged_share,
    measure_run,
    parse_measure,
)
from ..evaluation.runs import Run, compare_rankings, share_names
from ..evaluation.topics import Qrels
from ..index.index import Index
from ..jvm.searcher import stored_texts
from ..output import Output
from ..report.page import Rankings
from ..report.wording import one_line, shortened
from ..searching.search import RUN, Searched, search_with
from ..timing.latency import DEPTH
from .inputs import QuerySet, System

MOST = 1000
"""Rankings in a page, of all systems and query sets together: about half a megabyte of titles."""
SHOWN = 10
"""Documents in each of these rankings."""
_MEASURE = "MAP"  # by which queries changed most
_LOOKED_UP = 10_000
_TITLE = 120  # characters


@dataclass(frozen=True, eq=False)
class Results:
    """Results of the systems on one query set, by the systems' names."""

    queries: QuerySet
    runs: dict[str, Path]  # TREC runs, DEPTH hits deep
    evaluations: dict[str, Evaluation]
    without_hits: dict[str, list[str]]  # topics without an answer
    duplicates: dict[str, int]  # hits left out because a better one has their id
    own_first: list[str]  # queries whose own documents the first system finds first
    rank_effects: dict[str, dict[str, Any]]  # agreement of each further system with the first
    best: dict[str, dict[str, list[str]]]  # judged query -> ids of its SHOWN best documents
    judged: dict[str, dict[str, float]]  # the share of these, and nDCG@10 of the judged alone
    retrieved: list[str]  # ids of documents that the first system retrieves, a sample of many


def search_all(
    systems: Mapping[str, System], queries: QuerySet, folder: Path, prefix: str,
    measures: str | Sequence[str] = (), **search: Any,
) -> Results:  # fmt: skip
    """Write ``folder/<prefix><name>.run`` of every system, and evaluate them."""
    runs = {name: folder / f"{prefix}{name}.run" for name in systems}
    made: dict[str, Searched] = {}
    for name, system in systems.items():
        place = Output(runs[name], RUN, is_folder=False, inputs=[system.index], made_by="compare")
        made[name] = search_with(
            system.index, queries.topics, place, system.parameters, hits=DEPTH, keep_run=True,
            **search,
        )  # fmt: skip
    found = dict(zip(systems, share_names([each.run() for each in made.values()])))
    first, *others = systems
    evaluations = {
        name: evaluate_run(run, queries.topics, queries.qrels, measures=measures)
        for name, run in found.items()
    }
    judged, retrieved = evaluations[first].queries, np.unique(found[first].documents)
    best = {name: run.best(judged, SHOWN) for name, run in found.items()}
    looked_up = retrieved[:: 1 + len(retrieved) // _LOOKED_UP]
    return Results(
        queries, runs, evaluations,
        without_hits={n: each.summary["queries_without_hits"] for n, each in made.items()},
        duplicates={name: each.duplicates for name, each in made.items()},
        own_first=made[first].own_first,
        rank_effects={name: compare_rankings(found[first], found[name]) for name in others},
        best=best,
        judged=_judged(found, best, queries.qrels),
        retrieved=[found[first].names[number] for number in looked_up],
    )  # fmt: skip


def _judged(
    runs: Mapping[str, Run], best: Mapping[str, Mapping[str, list[str]]], qrels: Qrels
) -> dict[str, dict[str, float]]:
    """Return by system the share of judged documents among the best, and nDCG@10 without all others
    if that says more."""
    shares = {
        name: float(np.mean([judged_share(docs, qrels[query]) for query, docs in of.items()]))
        for name, of in best.items()
    }
    found = {"share_in_ten": shares}
    asked = [*next(iter(best.values()))]
    if condenses(shares.values(), (g for query in asked for g in qrels[query].values())):
        condensed = {CONDENSED: parse_measure(CONDENSED)}
        found["nDCG@10"] = {
            name: float(measure_run(condensed, run, qrels, asked)[CONDENSED].mean())
            for name, run in runs.items()
        }
    return found


def rankings_to_show(
    results: Sequence[Results], index: Index, field: str, passages: bool
) -> list[Rankings]:
    """Return the rankings of the queries that changed most, for each query set."""
    most = max(1, MOST // sum(len(result.evaluations) for result in results))
    best = [
        {query: [best[query] for best in result.best.values()] for query in queries}
        for result, queries in ((one, most_changed(one.evaluations, most)) for one in results)
    ]
    shown = {doc for of_set in best for lists in of_set.values() for docs in lists for doc in docs}
    texts = stored_texts(index, field, sorted(shown), 2 * _TITLE, passages)
    titles = {document: shortened(one_line(text), _TITLE) for document, text in texts.items()}
    rankings = []
    for of_set, result in zip(best, results):
        relevant = {
            query: [
                doc for doc, grade in result.queries.qrels[query].items()
                if grade > 0 and any(doc in docs for docs in lists)
            ]
            for query, lists in of_set.items()
        }  # fmt: skip
        rankings.append(Rankings(of_set, relevant, titles))
    return rankings


def most_changed(evaluations: Mapping[str, Evaluation], most: int) -> list[str]:
    """Return the queries that any system changed most against the first, in topic order."""
    first, *others = evaluations.values()
    changes = [abs(other.values[_MEASURE] - first.values[_MEASURE]) for other in others]
    order = np.argsort(-np.max(changes, axis=0), kind="stable")
    return [first.queries[i] for i in np.sort(order[:most])]
