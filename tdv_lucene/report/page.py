"""``report.html``: one file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ..evaluate import Evaluation
from ..latency import Latency
from ..speed import QueryTerms
from . import plots, tables

_TEMPLATES = Path(__file__).parent / "templates"
_QUERY_MEASURE = "nDCG@10"  # of the per-query plot and tables: finer than nDCG@5, less so than MAP


def render_page(
    report: Mapping[str, Any],
    topics: Mapping[str, str],
    evaluations: Mapping[str, Evaluation],
    latency: Latency,
    words: Mapping[str, QueryTerms],
) -> str:
    """Return the page of a comparison: the content of ``report.json``, and plots."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        report=report,
        names=list(report["indexes"]),
        headline=_headline(report),
        tables=[*tables.comparison_tables(report), *tables.speed_tables(report)],
        figures=_figures(report, evaluations, latency),
        query_tables=tables.extreme_queries(topics, evaluations, _QUERY_MEASURE, words),
        term_tables=tables.term_tables(report),
        emptied=[(qid, topics[qid]) for qid in report["queries"]["emptied_ids"]],
    )


def _headline(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """What to know at a glance: figure, what it is, its 95 % interval, from what to what."""
    full, pruned = [*report["indexes"].values()][:2]
    before, after = [*report["latency_ms"].values()][:2]
    cards = [
        {
            "figure": tables.change(full[what], pruned[what]),
            "label": what,
            "interval": "",
            "detail": f"{full[what]:,} to {pruned[what]:,}",
        }
        for what in ("bytes", "postings")
    ]
    for depth, label in (("top10", "top-10 faster"), ("top1000", "top-1000 faster")):
        mean_before, mean_after = before[depth]["mean"], after[depth]["mean"]
        bounds = tables.times_interval([*report["latency_ratio"].values()][0][depth]["ci95"])
        cards.append(
            {
                "figure": f"x{tables.ratio(mean_before, mean_after)}",
                "label": label,
                "interval": bounds,
                "detail": f"{mean_before:.3f} to {mean_after:.3f} ms, mean",
            }
        )
    for measure in ("nDCG@5", "R@1000"):
        of = report["measures"][measure]
        values = [of[name] for name in [*report["indexes"]][:2]]
        cards.append(
            {
                "figure": f"{of['difference']:+.4f}",
                "label": measure,
                "interval": tables.interval(of["ci95"]),
                "detail": f"{values[0]:.4f} to {values[1]:.4f}, p {tables.p_value(of['p_value'])}",
            }
        )
    return cards


def _figures(
    report: Mapping[str, Any], evaluations: Mapping[str, Evaluation], latency: Latency
) -> list[dict[str, Any]]:
    full, pruned, *_ = report["indexes"]
    drawn = [
        ("What pruning changed in effectiveness", plots.plot_measures(report)),
        (f"{_QUERY_MEASURE} of each query: {pruned} minus {full}",
         plots.plot_queries(evaluations, _QUERY_MEASURE)),
        ("Queries answered within a time, top-10", plots.plot_latency(latency, "top10")),
        ("Queries answered within a time, top-1000", plots.plot_latency(latency, "top1000")),
        ("Bytes by kind of file", plots.plot_bytes(report)),
    ]  # fmt: skip
    if report["trade_off"] is not None:
        title = "Effectiveness against postings removed, on the training queries held out"
        drawn.insert(0, (title, plots.plot_trade_off(report["trade_off"])))
    return [{"title": title, "svg": Markup(svg)} for title, svg in drawn]
