"""``report.html``: one file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..evaluation.evaluate import Evaluation
from ..timing.latency import Latency
from ..timing.latency_summary import QueryTerms
from . import plots
from .cost_tables import speed_tables
from .environment import template
from .query_tables import VALUE_COLUMN, extreme_queries, term_tables
from .ranking_tables import detail_tables
from .table import change, interval, p_value, ratio, times_interval
from .tables import comparison_tables

_QUERY_MEASURE = "nDCG@10"  # of the per-query plot and tables: finer than nDCG@5, less so than MAP


@dataclass(frozen=True, eq=False)
class Measured:
    """One query set as measured: by query id its texts and terms, by system its values."""

    label: str
    topics: Mapping[str, str]
    evaluations: Mapping[str, Evaluation]
    words: Mapping[str, QueryTerms]


def render_page(report: Mapping[str, Any], query_sets: Sequence[Measured], latency: Latency) -> str:
    """Return the page of a comparison: the content of ``report.json``, and plots.

    Headline, plots, queries and terms are of the first two indexes and the first query set; every
    other index and query set has a part of its own, folded up.
    """
    first, *others = report["indexes"]
    changes = [
        _pair(report, queries, first, name, number, at)
        for number, queries in enumerate(query_sets)
        for at, name in enumerate(others)
    ]
    return template("report.html").render(
        report=report,
        names=[first, *others],
        headline=_headline(report),
        tables=[*comparison_tables(report), *speed_tables(report)],
        details=detail_tables(report),
        figures=_figures(report, latency),
        changes=changes,
        terms=[_terms(report, name) for name in others],
    )


def _headline(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """What to know at a glance: figure, what it is, its 95 % interval, from what to what."""
    full, pruned = [*report["indexes"].values()][:2]
    before, after = [*report["latency_ms"].values()][:2]
    cards = [
        {
            "figure": change(full[what], pruned[what]),
            "label": what,
            "interval": "",
            "detail": f"{full[what]:,} to {pruned[what]:,}",
        }
        for what in ("bytes", "postings")
    ]
    for depth, label in (("top10", "top-10 faster"), ("top1000", "top-1000 faster")):
        mean_before, mean_after = before[depth]["mean"], after[depth]["mean"]
        bounds = times_interval([*report["latency_ratio"].values()][0][depth]["ci95"])
        cards.append(
            {
                "figure": f"x{ratio(mean_before, mean_after)}",
                "label": label,
                "interval": bounds,
                "detail": f"{mean_before:.3f} to {mean_after:.3f} ms, mean",
            }
        )
    for measure in ("nDCG@5", "R@1000"):
        of = report["measures"][measure]
        values = [of["means"][name] for name in [*report["indexes"]][:2]]
        cards.append(
            {
                "figure": f"{of['difference']:+.4f}",
                "label": measure,
                "interval": interval(of["ci95_corrected"]),
                "detail": f"{values[0]:.4f} to {values[1]:.4f}, p {p_value(of['p_value'])}",
            }
        )
    return cards


def _figures(report: Mapping[str, Any], latency: Latency) -> list[dict[str, Any]]:
    title = "Effectiveness against postings removed, on the training queries held out"
    curves = {name: curve for name, curve in report["trade_offs"].items() if curve is not None}
    return _drawn(
        [
            *(
                (f"{title}: {name}", plots.plot_trade_off(curve, f"-{at}"))
                for at, (name, curve) in enumerate(curves.items())
            ),
            ("Queries answered within a time, top-10", plots.plot_latency(latency, "top10")),
            ("Queries answered within a time, top-1000", plots.plot_latency(latency, "top1000")),
            ("Bytes by kind of file", plots.plot_bytes(report)),
        ]
    )


def _pair(
    report: Mapping[str, Any], queries: Measured, first: str, name: str, number: int, at: int
) -> dict[str, Any]:
    """What the index ``name`` changed against the first for the queries of one set."""
    both = {of: queries.evaluations[of] for of in (first, name)}
    measures = report["query_sets"][queries.label]["measures"]
    counts = report["query_sets"][queries.label]["queries"]
    tests = {
        measure: next(t for t in of["tests"] if (t["baseline"], t["treatment"]) == (first, name))
        for measure, of in measures.items()
    }
    where = f", {queries.label}" if len(report["query_sets"]) > 1 else ""
    title = f"{name} minus {first}{where}"
    suffix = f"-{number}-{at}"
    return {
        "title": title,
        "counts": counts,
        "figures": _drawn(
            [
                ("Effectiveness: " + title, plots.plot_measures(tests, first, name, suffix)),
                (f"{_QUERY_MEASURE} of each query: {title}",
                 plots.plot_queries(both, _QUERY_MEASURE, suffix)),
            ]
        ),
        "tables": extreme_queries(queries.topics, both, _QUERY_MEASURE, queries.words),
        "emptied": [(qid, queries.topics[qid]) for qid in counts["emptied_ids_by"][name]],
    }  # fmt: skip


def _terms(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    of = report["terms_by_index"][name]
    column = VALUE_COLUMN[of["tdv_kind"]]
    return {"name": name, "column": column, "source": of["source"], "tables": term_tables(of)}


def _drawn(plotted: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"title": title, "svg": Markup(svg)} for title, svg in plotted]
