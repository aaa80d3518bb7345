"""Tables 1 to 3 of the paper, measured here and as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..report.table import SIGNIFICANT, Table, ratio
from .neural import RANKERS
from .published import LITERAL, MEASURES, MODELS, OWN

_LITERAL = {name + LITERAL: f"{title}, literal" for name, title in MODELS.items()}
_NAMES = {**MODELS, **_LITERAL, **RANKERS}


def paper_tables(report: Mapping[str, Any]) -> list[Table]:
    """The tables of what :func:`.reproduce.reproduce_paper` returns."""
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
    if "value" in entry:  # of a re-ranker
        printed = "-" if published is None else f"{published:.2f}"
        return f"{100 * entry['value']:.2f}{star}", "-", shown, printed, "-"
    base, tdv = ("-", "-") if published is None else (f"{value:.2f}" for value in published)
    return f"{100 * entry['baseline']:.2f}", f"{100 * entry['tdv']:.2f}{star}", shown, base, tdv


def _removed(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    published = "-" if entry["published"] is None else f"-{entry['published']:.2f} %"
    return f"TDV-{method}", f"{round(-entry['mean'], 2) + 0.0:.2f} %", published  # no -0.00
