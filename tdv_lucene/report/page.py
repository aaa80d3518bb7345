"""``report.html``: one file that opens offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ..timing.latency import Latency
from . import plots
from .cost_tables import DEPTHS, latency_table, size_tables, speed_tables
from .environment import asset, template
from .page_data import Measured, page_data
from .query_tables import VALUE_COLUMN, extreme_queries, term_tables
from .ranking_tables import detail_tables, of_set, tables_by_query_set
from .table import SIGNIFICANT, change, interval, p_value, ratio, times_interval

_QUERY_MEASURE = "nDCG@10"  # of the queries that changed most: finer than nDCG@5, less so than MAP


def render_page(report: Mapping[str, Any], query_sets: Sequence[Measured], latency: Latency) -> str:
    """Return the page of a comparison: the content of ``report.json``, plots, and all queries.

    The overview speaks of every index and query set. Two indexes on one query set are all
    unfolded; of more, the tables below the overview are folded up.
    """
    first, *others = report["indexes"]
    changes = [_pair(report, queries, first, name) for queries in query_sets for name in others]
    several_sets = len(query_sets) > 1
    return template("report.html").render(
        report=report,
        names=[first, *others],
        headline=[] if len(others) > 1 else _headline(report),
        several_sets=several_sets,
        folded=several_sets or len(others) > 1,
        significant=SIGNIFICANT,
        ranking=tables_by_query_set(report),
        costs=[*size_tables(report), latency_table(report), *speed_tables(report)],
        details=detail_tables(report),
        figures=_figures(report, latency),
        changes=changes,
        term_tables=term_tables,
        value_column=VALUE_COLUMN,
        data=page_data(report, query_sets),
        style=Markup(asset("report.css").strip()),
        script=Markup(asset("report.js").strip()),
    )


def _headline(report: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Of two indexes, at a glance: what it is, figure, its 95 % interval, from what to what."""
    full, pruned = [*report["indexes"].values()][:2]
    before, after = [*report["latency_ms"].values()][:2]
    cards = [
        (what, change(full[what], pruned[what]), "", f"{full[what]:,} to {pruned[what]:,}")
        for what in ("bytes", "postings")
    ]
    for depth, label in DEPTHS.items():
        mean_before, mean_after = before[depth]["mean"], after[depth]["mean"]
        bounds = times_interval([*report["latency_ratio"].values()][0][depth]["ci95"])
        detail = f"{mean_before:.3f} to {mean_after:.3f} ms, mean"
        cards.append((f"{label} faster", f"x{ratio(mean_before, mean_after)}", bounds, detail))
    for measure in ("nDCG@5", "R@1000"):
        measured = report["measures"][measure]
        values = [measured["means"][name] for name in [*report["indexes"]][:2]]
        bounds = interval(measured["ci95_corrected"])
        detail = f"{values[0]:.4f} to {values[1]:.4f}, p {p_value(measured['p_value'])}"
        cards.append((measure, f"{measured['difference']:+.4f}", bounds, detail))
    return cards


def _figures(report: Mapping[str, Any], latency: Latency) -> list[dict[str, Any]]:
    drawn = [
        *_trade_offs(report["trade_offs"]),
        ("Queries answered within a time, top-10", plots.plot_latency(latency, "top10")),
        ("Queries answered within a time, top-1000", plots.plot_latency(latency, "top1000")),
    ]
    return [{"title": title, "svg": Markup(svg)} for title, svg in drawn]


def _trade_offs(curves: Mapping[str, Mapping[str, Any] | None]) -> Iterator[tuple[str, str]]:
    """One plot for all indexes made with the same TDVs."""
    title = "Effectiveness against postings dropped, on held-out training queries"
    # Those made without judgements have nothing measured.
    drawn = {name: curve for name, curve in curves.items() if curve is not None and curve["full"]}
    alike: dict[str, list[str]] = {}
    for name, curve in drawn.items():
        alike.setdefault(json.dumps([curve["points"], curve["full"]]), []).append(name)
    for at, names in enumerate(alike.values()):
        chosen = {name: drawn[name]["chosen"] for name in names}
        known = {name: reduction for name, reduction in chosen.items() if reduction is not None}
        svg = plots.plot_trade_off(drawn[names[0]], f"-{at}", known)
        yield f"{title}: {', '.join(names)}", svg


def _pair(report: Mapping[str, Any], queries: Measured, first: str, name: str) -> dict[str, Any]:
    """What the index ``name`` changed against the first for the queries of one set."""
    both = {system: queries.evaluations[system] for system in (first, name)}
    counts = report["query_sets"][queries.label]["queries"]
    return {
        "title": f"{name} minus {first}{of_set(report, queries.label)}",
        "counts": counts,
        "tables": extreme_queries(queries.topics, both, _QUERY_MEASURE, queries.words),
        "emptied": [(qid, queries.topics[qid]) for qid in counts["emptied_ids_by"][name]],
    }
