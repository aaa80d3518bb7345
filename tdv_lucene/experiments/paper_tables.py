"""Tables 1 to 3 of the paper, measured here and as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..report.table import SIGNIFICANT, Table, ratio
from .published import MODELS


def paper_tables(report: Mapping[str, Any]) -> list[Table]:
    """The tables of what :func:`tdv_lucene.experiments.reproduce.reproduce_paper` returns."""
    models, title = report["models"], report["collection"]
    return [
        Table(
            f"Table 1, {title}: average retrieval time per query, ms",
            ("method", "base", "TDV", "faster", "paper's base", "TDV", "faster"),
            [_times(MODELS[model], entry["latency_ms"]) for model, entry in models.items()],
            "Here: Lucene, every posting scored, 1000 hits; the paper: loops in Python.",
        ),
        _effectiveness(models, title, report),
        Table(
            f"Table 3, {title}: postings dropped",
            ("method", "here", "paper"),
            [_removed(MODELS[model], entry["postings_removed"]) for model, entry in models.items()],
            "Mean over the folds.",
        ),
    ]


def _times(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    def cells(base: float, tdv: float, digits: int) -> tuple[str, ...]:
        return f"{base:.{digits}f}", f"{tdv:.{digits}f}", f"x{ratio(base, tdv)}"

    published = ("-",) * 3 if entry["published"] is None else cells(*entry["published"], 1)
    return (method, *cells(entry["baseline"], entry["tdv"], 3), *published)


def _effectiveness(models: Mapping[str, Any], title: str, report: Mapping[str, Any]) -> Table:
    measures = ("nDCG@5", "R@1000")
    rows = [
        (f"{MODELS[model]}, {measure}", *_percent(entry[measure]))
        for model, entry in models.items()
        for measure in measures
    ]
    note = (
        f"Percent; {report['queries']} queries in {report['folds']} folds. * p < {SIGNIFICANT}, "
        f"two-tailed paired t-test, Bonferroni over {len(rows)}."
    )
    columns = ("method", "base", "TDV", "p", "paper's base", "TDV")
    return Table(f"Table 2, {title}: effectiveness", columns, rows, note)


def _percent(entry: Mapping[str, Any]) -> tuple[str, ...]:
    p = entry["p_value"]
    star = "*" if p is not None and p < SIGNIFICANT else ""
    published: Sequence[str] = ("-", "-")
    if entry["published"] is not None:
        published = [f"{value:.2f}" for value in entry["published"]]
    shown = "none" if p is None else f"{p:.3f}"
    return f"{100 * entry['baseline']:.2f}", f"{100 * entry['tdv']:.2f}{star}", shown, *published


def _removed(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    published = "-" if entry["published"] is None else f"-{entry['published']:.2f} %"
    return f"TDV-{method}", f"{round(-entry['mean'], 2) + 0.0:.2f} %", published  # no -0.00
