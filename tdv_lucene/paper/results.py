"""The report of an experiment, and Tables 1 to 3 of the paper made from it.

A re-ranker's entry has ``nDCG@5`` and ``R@1000`` (``value``, ``tdv_bm25`` and its paired comparison
with that, ``published``), ``latency_ms`` (``first_stage``, ``reranking``, ``queries`` timed,
``published``), ``parameters`` (numbers fitted) and ``epochs`` (chosen, by fold).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..evaluation.significance import compare_paired
from ..report.table import SIGNIFICANT, Table, ratio
from ..store import versions
from .experiment import Experiment
from .neural import RANKERS
from .published import MEASURES, OWN, Collection, Published, model_of, title_of

Found = Mapping[str, Mapping[str, np.ndarray]]
"""Row, or re-ranker -> what was measured -> its values."""


def make_report(
    known: Collection, experiment: Experiment, found: Found, reranked: Found
) -> dict[str, Any]:
    """Return all figures, with significance corrected for all comparisons."""
    tests = (len(found) + len(reranked)) * len(MEASURES)
    folds, config = experiment.queries.folds, experiment.config
    models, neural = {}, {}
    for row, measured in found.items():
        published = known.published.get(model_of(row), Published())
        models[row] = {
            **_compared(measured, ("baseline", "tdv"), published, tests),
            **{OWN + name: _means(measured[OWN + name]) for name in MEASURES
               if OWN + name in measured},
            "latency_ms": {**_means(measured["ms"]), "published": published.latency_ms},
            "postings_visited": _means(measured["visited"]),
            "postings_removed": {
                "mean": float(measured["removed"].mean()),
                "by_fold": measured["removed"].tolist(),
                "published": published.removed,
            },
            "chosen": measured["chosen"].tolist(),
        }  # fmt: skip
    for name, measured in reranked.items():
        published, bm25 = known.published.get(name, Published()), found["bm25"]
        pairs = {m: np.stack([measured[m], bm25[m][1]]) for m in MEASURES}
        neural[name] = {
            **_compared(pairs, ("value", "tdv_bm25"), published, tests),
            "latency_ms": {
                "first_stage": _means(bm25["ms"])["baseline"],
                "reranking": float(measured["ms"].mean()),
                "queries": len(measured["ms"]),
                "published": published.latency_ms,
            },
            "parameters": int(measured["parameters"][0]),
            "epochs": measured["epochs"].tolist(),
        }
    used = {kind: asdict(recipe) for kind, recipe in experiment.recipes.items()}
    report = {
        "collection": known.title,
        "queries": len(experiment.queries.measured),
        "training_queries": [len(fold.training) for fold in folds],
        "folds": len(folds),
        "recipe": {"name": config.recipe, **used},
        "seed": config.seed,
        "models": models,
        **({"rerank_depth": config.rerank_depth, "neural": neural} if neural else {}),
        "versions": versions(),
    }
    as_written: dict[str, Any] = json.loads(json.dumps(report))  # lists for tuples
    return as_written


def _means(values: np.ndarray) -> dict[str, float | None]:
    """Return the means of float64[2, n]; None for what was not measured."""
    means = (None if np.isnan(each) else float(each) for each in values.mean(axis=-1))
    return dict(zip(("baseline", "tdv"), means))


def _compared(
    measured: Mapping[str, np.ndarray], names: tuple[str, str], published: Published, tests: int
) -> dict[str, Any]:
    """Return by measure the means of two systems, their comparison, and the published value."""
    printed = published.ndcg5, published.recall1000
    return {
        measure: {
            **dict(zip(names, measured[measure].mean(axis=-1).tolist())),
            **compare_paired(measured[measure][0], measured[measure][1], tests).to_dict(),
            "published": value,
        }
        for measure, value in zip(MEASURES, printed)
    }


def paper_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return Tables 1 to 3, measured here and as published."""
    title, folds = report["collection"], report["folds"]
    depth, neural = report.get("rerank_depth"), report.get("neural", {})
    of_rows = {title_of(row): entry for row, entry in report["models"].items()}
    both = {**of_rows, **{RANKERS[name]: entry for name, entry in neural.items()}}
    tests = len(both) * len(MEASURES)
    parts = f"in {folds} folds"
    if folds == 1:
        parts = f"by what {report['training_queries'][0]} other queries taught"
    note = (
        f"Percent; {report['queries']} queries {parts}. * p < {SIGNIFICANT}, two-tailed paired "
        f"t-test, Bonferroni over {tests}."
    )
    timing = "Here: Lucene, every posting scored, 1000 hits; the paper: loops in Python."
    if neural:
        note += (
            f" Neural: BM25's first {depth} re-ranked, so R@1000 is its own; p is of TDV-BM25 "
            "against it."
        )
        timing += f" Neural: that of BM25, and re-ranking its first {depth}."
    own: list[tuple[str, ...]] = [
        (f"{method}, {measure}", *_pair(entry[OWN + measure], 100, 2))
        for method, entry in of_rows.items() for measure in MEASURES if OWN + measure in entry
    ]  # fmt: skip
    tables = [
        Table(
            f"Table 1, {title}: average retrieval time per query, ms",
            ("method", "base", "TDV", "faster", "fewer postings", "paper's base", "TDV", "faster"),
            [(method, *_times(entry)) for method, entry in both.items()],
            timing,
        ),
        Table(
            f"Table 2, {title}: effectiveness",
            ("method", "base", "TDV", "p", "paper's base", "TDV"),
            [(f"{method}, {measure}", *_percent(entry[measure]))
             for method, entry in both.items() for measure in MEASURES],
            note,
        ),
        Table(
            f"Table 2, {title}, by the paper's own formulas", ("method", "base", "TDV"), own,
            "NumPy: real frequencies, exact lengths; TDV with l1 in the idf, base with df.",
        ),
        Table(
            f"Table 3, {title}: postings dropped",
            ("method", "here", "paper"),
            [(f"TDV-{method}", *_removed(entry)) for method, entry in of_rows.items()],
            "Mean over the folds.",
        ),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def _pair(entry: Mapping[str, Any], times: float, digits: int) -> tuple[str, str]:
    base, tdv = (entry[name] for name in ("baseline", "tdv"))
    return f"{times * base:.{digits}f}", f"{times * tdv:.{digits}f}"


def _times(entry: Mapping[str, Any]) -> tuple[str, ...]:
    here = entry["latency_ms"]
    published = here["published"]
    if "reranking" in here:
        first = here["first_stage"] or 0
        return f"{first + here['reranking']:.3f}", "-", "-", "-", published or "-", "-", "-"
    fewer = entry["postings_visited"]
    timed = here["baseline"] is not None
    return (
        *(_faster(here["baseline"], here["tdv"], 3) if timed else ("-",) * 3),
        f"x{ratio(fewer['baseline'], fewer['tdv'])}",
        *(_faster(published[0], published[1], 1) if published else ("-",) * 3),
    )


def _faster(base: float, tdv: float, digits: int) -> tuple[str, str, str]:
    return f"{base:.{digits}f}", f"{tdv:.{digits}f}", f"x{ratio(base, tdv)}"


def _percent(entry: Mapping[str, Any]) -> tuple[str, ...]:
    p, published = entry["p_value"], entry["published"]
    shown = "none" if p is None else f"{p:.3f}"
    star = "*" if p is not None and p < SIGNIFICANT else ""
    if "value" in entry:  # a re-ranker
        printed = "-" if published is None else f"{published:.2f}"
        return f"{100 * entry['value']:.2f}{star}", "-", shown, printed, "-"
    base, tdv = _pair(entry, 100, 2)
    pair = [f"{value:.2f}" for value in published] if published else ["-", "-"]
    return base, tdv + star, shown, *pair


def _removed(entry: Mapping[str, Any]) -> tuple[str, str]:
    entry = entry["postings_removed"]
    published = "-" if entry["published"] is None else f"-{entry['published']:.2f} %"
    return f"{round(-entry['mean'], 2) + 0.0:.2f} %", published  # no -0.00
