"""The report of an experiment, and Tables 1 to 3 of the paper made from it.

A re-ranker's entry has ``nDCG@5`` and ``R@1000`` (``value``, ``tdv_bm25`` and its paired comparison
with that, ``published``), ``latency_ms`` (``first_stage``, ``reranking``, ``queries`` timed,
``published``), ``parameters`` (numbers fitted) and ``epochs`` (chosen, by fold).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.significance import compare_paired
from ..report.table import SIGNIFICANT, Table, ratio, to_markdown
from ..store import versions
from .experiment import Experiment
from .neural import RANKERS
from .published import LITERAL, MEASURES, MODELS, OWN, Collection, Published, model_of

Found = Mapping[str, Mapping[str, np.ndarray]]
"""Model, or row of one -> what was measured -> its values."""

_LITERAL = {name + LITERAL: f"{title}, literal" for name, title in MODELS.items()}
_NAMES = {**MODELS, **_LITERAL, **RANKERS}


def make_report(
    known: Collection, experiment: Experiment, found: Found, reranked: Found
) -> dict[str, Any]:
    """Return all figures, with significance corrected for all comparisons."""
    recipe, tests = experiment.recipe, (len(found) + len(reranked)) * len(MEASURES)
    folds = experiment.queries.folds
    models = {}
    for model, measured in found.items():
        published = known.published.get(model_of(model), Published())
        pairs = {measure: dict(zip(("baseline", "tdv"), measured[measure])) for measure in MEASURES}
        models[model] = {
            **_compared(pairs, published, tests),
            **{
                OWN + name: dict(zip(("baseline", "tdv"), measured[OWN + name].mean(-1).tolist()))
                for name in MEASURES
                if OWN + name in measured
            },
            "latency_ms": {
                "baseline": float(measured["ms"][0].mean()),
                "tdv": float(measured["ms"][1].mean()),
                "published": published.latency_ms,
            },
            "postings_removed": {
                "mean": float(measured["removed"].mean()),
                "by_fold": measured["removed"].tolist(),
                "published": published.removed,
            },
        }
    neural = {}
    for name, measured in reranked.items():
        published, bm25 = known.published.get(name, Published()), found["bm25"]
        pairs = {m: {"value": measured[m], "tdv_bm25": bm25[m][1]} for m in MEASURES}
        neural[name] = {
            **_compared(pairs, published, tests),
            "latency_ms": {
                "first_stage": float(bm25["ms"][0].mean()),
                "reranking": float(measured["ms"].mean()),
                "queries": len(measured["ms"]),
                "published": published.latency_ms,
            },
            "parameters": int(measured["parameters"][0]),
            "epochs": measured["epochs"].tolist(),
        }
    report = {
        "collection": known.title,
        "queries": len(experiment.queries.measured),
        "training_queries": [len(fold.training) for fold in folds],
        "folds": len(folds),
        "recipe": {"name": recipe.name, **asdict(recipe)},
        "seed": experiment.config.seed,
        "models": models,
        **({"rerank_depth": experiment.config.rerank_depth, "neural": neural} if neural else {}),
        "versions": versions(),
    }
    as_written: dict[str, Any] = json.loads(json.dumps(report))  # lists for tuples
    return as_written


def _compared(
    pairs: Mapping[str, Mapping[str, np.ndarray]], published: Published, tests: int
) -> dict[str, Any]:
    """Return by measure the means of two systems, their comparison, and the published value."""
    found = {}
    for measure, printed in zip(MEASURES, (published.ndcg5, published.recall1000)):
        (one, first), (other, second) = pairs[measure].items()
        found[measure] = {
            one: float(first.mean()),
            other: float(second.mean()),
            **compare_paired(first, second, tests).to_dict(),
            "published": printed,
        }
    return found


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write ``report.json`` and ``tables.md``."""
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.md").write_text(to_markdown(paper_tables(report)), encoding="utf-8")


def paper_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return Tables 1 to 3, measured here and as published."""
    models, title = report["models"], report["collection"]
    neural, depth = report.get("neural", {}), report.get("rerank_depth")
    both = {**models, **neural}
    effects = [
        (f"{_NAMES[method]}, {measure}", *_percent(entry[measure]))
        for method, entry in both.items()
        for measure in MEASURES
    ]
    note = (
        f"Percent; {report['queries']} queries in {report['folds']} folds. * p < {SIGNIFICANT}, "
        f"two-tailed paired t-test, Bonferroni over {len(effects)}."
    )
    if report["folds"] == 1:
        learned = report["training_queries"][0]
        note = note.replace("in 1 folds", f"by what {learned} other queries taught")
    if neural:
        note += (
            f" Neural: BM25's first {depth} re-ranked, so R@1000 is its own; p is of TDV-BM25 "
            "against it."
        )
    own: list[tuple[str, ...]] = [
        (f"{_NAMES[model]}, {measure}", *_means(entry[OWN + measure]))
        for model, entry in models.items()
        for measure in MEASURES
        if OWN + measure in entry
    ]
    by_own = Table(
        f"Table 2, {title}, by the paper's own formulas",
        ("method", "base", "TDV"),
        own,
        "NumPy: real frequencies, exact lengths; TDV with l1 in the idf, base with df.",
    )
    return [
        Table(
            f"Table 1, {title}: average retrieval time per query, ms",
            ("method", "base", "TDV", "faster", "paper's base", "TDV", "faster"),
            [(_NAMES[method], *_times(entry["latency_ms"])) for method, entry in both.items()],
            "Here: Lucene, every posting scored, 1000 hits; the paper: loops in Python."
            + (f" Neural: that of BM25, and re-ranking its first {depth}." if neural else ""),
        ),
        Table(
            f"Table 2, {title}: effectiveness",
            ("method", "base", "TDV", "p", "paper's base", "TDV"),
            effects,
            note,
        ),
        *([by_own] if own else []),
        Table(
            f"Table 3, {title}: postings dropped",
            ("method", "here", "paper"),
            [_removed(_NAMES[model], entry["postings_removed"]) for model, entry in models.items()],
            "Mean over the folds.",
        ),
    ]


def _means(entry: Mapping[str, float]) -> tuple[str, str]:
    return f"{100 * entry['baseline']:.2f}", f"{100 * entry['tdv']:.2f}"


def _times(entry: Mapping[str, Any]) -> tuple[str, ...]:
    def cells(base: float, tdv: float, digits: int) -> tuple[str, ...]:
        return f"{base:.{digits}f}", f"{tdv:.{digits}f}", f"x{ratio(base, tdv)}"

    published = entry["published"]
    if "reranking" in entry:
        whole = entry["first_stage"] + entry["reranking"]
        return f"{whole:.3f}", "-", "-", published or "-", "-", "-"
    here = cells(entry["baseline"], entry["tdv"], 3)
    return (*here, *(("-",) * 3 if published is None else cells(published[0], published[1], 1)))


def _percent(entry: Mapping[str, Any]) -> tuple[str, ...]:
    p, published = entry["p_value"], entry["published"]
    shown = "none" if p is None else f"{p:.3f}"
    star = "*" if p is not None and p < SIGNIFICANT else ""
    if "value" in entry:  # a re-ranker
        printed = "-" if published is None else f"{published:.2f}"
        return f"{100 * entry['value']:.2f}{star}", "-", shown, printed, "-"
    base, tdv = ("-", "-") if published is None else (f"{value:.2f}" for value in published)
    return f"{100 * entry['baseline']:.2f}", f"{100 * entry['tdv']:.2f}{star}", shown, base, tdv


def _removed(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    published = "-" if entry["published"] is None else f"-{entry['published']:.2f} %"
    return f"TDV-{method}", f"{round(-entry['mean'], 2) + 0.0:.2f} %", published  # no -0.00
