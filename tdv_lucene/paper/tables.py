"""Tables 1 to 3 of the paper, measured here and as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..report.table import SIGNIFICANT, Table, ratio
from .neural import RANKERS
from .published import MODELS


def paper_tables(report: Mapping[str, Any]) -> list[Table]:
    """The tables of what :func:`.reproduce.reproduce_paper` returns."""
    models, title = report["models"], report["collection"]
    neural, depth = report.get("neural", {}), report.get("rerank_depth")
    return [
        Table(
            f"Table 1, {title}: average retrieval time per query, ms",
            ("method", "base", "TDV", "faster", "paper's base", "TDV", "faster"),
            [
                *(_times(MODELS[model], entry["latency_ms"]) for model, entry in models.items()),
                *(
                    _neural_times(RANKERS[one], entry["latency_ms"])
                    for one, entry in neural.items()
                ),
            ],
            "Here: Lucene, every posting scored, 1000 hits; the paper: loops in Python."
            + (f" Neural: that of BM25, and re-ranking its first {depth}." if neural else ""),
        ),
        _effectiveness(models, neural, title, report),
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

    pair = entry["published"]
    published = ("-",) * 3 if pair is None else cells(pair[0], pair[1], 1)
    return (method, *cells(entry["baseline"], entry["tdv"], 3), *published)


def _neural_times(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    whole = entry["first_stage"] + entry["reranking"]
    return method, f"{whole:.3f}", "-", "-", entry["published"] or "-", "-", "-"


def _effectiveness(
    models: Mapping[str, Any], neural: Mapping[str, Any], title: str, report: Mapping[str, Any]
) -> Table:
    measures = ("nDCG@5", "R@1000")
    rows = [
        *(
            (f"{MODELS[model]}, {measure}", *_percent(entry[measure]))
            for model, entry in models.items()
            for measure in measures
        ),
        *(
            (f"{RANKERS[name]}, {measure}", *_neural_percent(entry[measure]))
            for name, entry in neural.items()
            for measure in measures
        ),
    ]
    note = (
        f"Percent; {report['queries']} queries in {report['folds']} folds. * p < {SIGNIFICANT}, "
        f"two-tailed paired t-test, Bonferroni over {len(rows)}."
    )
    if report["folds"] == 1:
        learned = report["training_queries"][0]
        note = note.replace("in 1 folds", f"by what {learned} other queries taught")
    if neural:
        note += (
            f" Neural: BM25's first {report['rerank_depth']} re-ranked, so R@1000 is its own; p is "
            "of TDV-BM25 against it."
        )
    columns = ("method", "base", "TDV", "p", "paper's base", "TDV")
    return Table(f"Table 2, {title}: effectiveness", columns, rows, note)


def _neural_percent(entry: Mapping[str, Any]) -> tuple[str, ...]:
    shown, star = _significance(entry["p_value"])
    published = "-" if entry["published"] is None else f"{entry['published']:.2f}"
    return f"{100 * entry['value']:.2f}{star}", "-", shown, published, "-"


def _significance(p: float | None) -> tuple[str, str]:
    """How p is written, and the star of what is significant."""
    star = "*" if p is not None and p < SIGNIFICANT else ""
    return "none" if p is None else f"{p:.3f}", star


def _percent(entry: Mapping[str, Any]) -> tuple[str, ...]:
    shown, star = _significance(entry["p_value"])
    published: Sequence[str] = ("-", "-")
    if entry["published"] is not None:
        published = [f"{value:.2f}" for value in entry["published"]]
    return f"{100 * entry['baseline']:.2f}", f"{100 * entry['tdv']:.2f}{star}", shown, *published


def _removed(method: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    published = "-" if entry["published"] is None else f"-{entry['published']:.2f} %"
    return f"TDV-{method}", f"{round(-entry['mean'], 2) + 0.0:.2f} %", published  # no -0.00
