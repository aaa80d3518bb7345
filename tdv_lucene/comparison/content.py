"""What ``report.json`` holds, made from what a comparison found."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..evaluation.measures import Evaluation
from ..evaluation.significance import PairedComparison, compare_all_paired
from ..jvm.searcher import describe_java
from ..store import versions
from ..timing.latency import DEPTH, Latency
from .inputs import Results, System, pairs_to_test

RULES = {
    "average": "over all topics with a relevant document; no answer counts 0",
    "measures": "ir-measures, as trec_eval: gain = grade, discount = log2(rank + 1), equal scores "
    "by id, the higher first; beyond the first four, no answer counts the measure's default",
    "p_value": "two-tailed paired t-test, Bonferroni over the comparisons made; p_randomisation: "
    "randomisation test of the mean, corrected alike",
    "effect_size": "Cohen's d_z, large-sample 95 % interval",
    "intervals": "ci95 is of one comparison by itself; ci95_corrected, which tables and plots "
    "show, has level 1 - .05 / comparisons, as p_value is corrected; of latency they are not",
    "rank_effects": "against the first index, all topics it answers: overlap of the top 10, "
    "rank-biased overlap (p = 0.9), Kendall's tau of documents in both top-100",
    "latency": "one thread, no query cache; without analysis and stored fields; every index was "
    "searched by all queries and warm-up rounds before; median over rounds, then mean and "
    "percentiles over queries; first query set",
    "postings": "at which a search stops, counted in a pass of its own; those skipped inside a "
    "block that was decoded do not count",
}
"""How the numbers were made, in words for the page."""


def sizes(found: dict[str, Any], field: str) -> dict[str, Any]:
    """Of the index, except postings and terms, which are the field's."""
    of_field = next(f for f in found["fields"] if f["name"] == field)
    return {
        "folder": Path(found["path"]).name,
        "commit": found["commit"],
        "bytes": found["bytes"],
        "bytes_by_kind": found["bytes_by_kind"],
        "postings": of_field["postings"],
        "terms": of_field["terms"],
        "tokens": of_field["tokens"],
        "documents": found["documents"],
    }


FIXED_KEYS = frozenset({"means", "tests", *(figure.name for figure in fields(PairedComparison))})
"""What stands beside names in a measure's entry."""


def effectiveness(
    results: Sequence[Results], pairs: Sequence[tuple[str, str]], seed: int
) -> dict[str, Any]:
    """Measures, counts and rank effects of all query sets; the first one's also at the top.

    ``pairs`` are tested, see :func:`.systems.pairs_to_test`.
    """
    comparisons = _comparisons(results, pairs)
    query_sets = {
        result.queries.label: {
            "measures": _measures(result.evaluations, pairs, comparisons, seed),
            "queries": _count_queries(result),
            "rank_effects": result.rank_effects,
        }
        for result in results
    }
    return {**query_sets[results[0].queries.label], "query_sets": query_sets}


def _comparisons(results: Sequence[Results], pairs: Sequence[tuple[str, str]]) -> int:
    """Tests made together: every pair, measure and query set."""
    return len(pairs) * len(_measure_names(results[0].evaluations)) * len(results)


def _measure_names(evaluations: Mapping[str, Evaluation]) -> list[str]:
    return [*next(iter(evaluations.values())).values]


def _measures(
    evaluations: Mapping[str, Evaluation],
    pairs: Sequence[tuple[str, str]],
    comparisons: int,
    seed: int,
) -> dict[str, Any]:
    keys = [(measure, *pair) for measure in _measure_names(evaluations) for pair in pairs]
    values = [(evaluations[b].values[m], evaluations[t].values[m]) for m, b, t in keys]
    tests: dict[str, list[dict[str, Any]]] = {}
    for (measure, *pair), found in zip(keys, compare_all_paired(values, comparisons, seed=seed)):
        named = dict(zip(("baseline", "treatment"), pair))
        tests.setdefault(measure, []).append({**named, **found.to_dict()})
    measures = {}
    for measure, made in tests.items():
        flat = {k: v for k, v in made[0].items() if k not in ("baseline", "treatment")}
        means = {name: evaluation.means()[measure] for name, evaluation in evaluations.items()}
        measures[measure] = {
            **means,  # where they were before they had a level of their own
            **flat,
            "means": means,
            "tests": made,
        }
    return measures


def _count_queries(results: Results) -> dict[str, Any]:
    topics, qrels = results.queries.topics, results.queries.qrels
    first, second, *_ = results.evaluations
    judged = results.evaluations[first].queries
    answered = {*judged} - {*results.without_hits[first]}
    emptied_by = {
        name: [qid for qid in results.without_hits[name] if qid in answered]
        for name in results.rank_effects
    }
    return {
        "topics": len(topics),
        "judged": len(judged),
        "emptied": len(emptied_by[second]),
        "emptied_ids": emptied_by[second],
        "emptied_by": {name: len(ids) for name, ids in emptied_by.items()},
        "emptied_ids_by": emptied_by,
        "without_relevant_documents": len(topics) - len(judged),
        "judged_but_not_asked": len(qrels.keys() - topics.keys()),
    }


def latencies(latency: Latency) -> dict[str, Any]:
    """Summaries of every index, with and without skipping."""
    names = latency.names
    return {
        "latency_ms": {name: latency.summary(name) for name in names},
        "latency_exhaustive_ms": {name: latency.summary(name, exhaustive=True) for name in names},
        "latency_setup": latency.setup,
    }


def parameters(
    systems: Mapping[str, System], results: Sequence[Results], field: str
) -> dict[str, Any]:
    """What was chosen, by the user or by the index."""
    return {
        "model": next(iter(systems.values())).parameters.model,
        "search": {name: system.parameters.values() for name, system in systems.items()},
        "query_sets": [result.queries.label for result in results],
        "shortened": {
            result.queries.label: result.queries.shortened
            for result in results
            if result.queries.shortened is not None
        },
        "field": field,
        "hits": DEPTH,
        "comparisons": _comparisons(results, pairs_to_test(systems)),
    }


def versions_and_machine() -> dict[str, dict[str, Any]]:
    """Of everything that can change a number."""
    java = describe_java()
    engines = {name: java.pop(name) for name in ("java", "lucene")}
    machine = {"system": platform.platform(), "cores": os.cpu_count(), **java}
    return {
        "versions": {**versions(), "python": platform.python_version(), **engines},
        "machine": machine,
    }
