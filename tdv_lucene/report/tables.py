"""The tables of a comparison as plain strings; the screen and the page render the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluate import Evaluation

if TYPE_CHECKING:
    from rich.table import Table as RichTable

SIGNIFICANT = 0.05
_ROUNDED = 5e-5  # a difference that four decimals do not show


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of strings, and a note to stand below. Column 0 is text."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


def comparison_tables(report: Mapping[str, Any]) -> list[Table]:
    """Effectiveness, size and latency: what the command prints."""
    return [_effectiveness(report), _size(report), _latency(report)]


def _effectiveness(report: Mapping[str, Any]) -> Table:
    full, pruned = report["indexes"]
    rows, differing = [], []
    for measure, of in report["measures"].items():
        low_high = "" if of["ci95"] is None else "{:+.3f} to {:+.3f}".format(*of["ci95"])
        outcome = f"{of['wins']}/{of['ties']}/{of['losses']}"
        rows.append(
            (measure, f"{of[full]:.4f}", f"{of[pruned]:.4f}", f"{of['difference']:+.4f}",
             low_high, p_value(of["p_value"]), outcome)
        )  # fmt: skip
        differing += [
            f"{measure} {name} {value:.4f}"
            for name, value in of["trec_eval"].items()
            if abs(value - of[name]) >= _ROUNDED
        ]
    queries = report["queries"]
    note = (
        f"{queries['judged']:,} judged queries, {queries['emptied']:,} of them emptied by pruning. "
        f"p: two-tailed paired t-test, Bonferroni over {report['parameters']['comparisons']}; "
        f"* below {SIGNIFICANT}. +/=/-: queries better, equal and worse."
    )
    if differing:
        note += f" trec_eval orders ties otherwise: {', '.join(differing)}."
    columns = ("measure", full, pruned, "change", "95 % interval", "p", "+/=/-")
    return Table("Effectiveness", columns, rows, note)


def p_value(p: float | None) -> str:
    """A p-value as printed, starred where significant."""
    if p is None:
        return "none"
    text = "<0.001" if p < 0.001 else f"{p:.3f}"
    return text + ("*" if p < SIGNIFICANT else "")


def _size(report: Mapping[str, Any]) -> Table:
    full, pruned = report["indexes"].values()
    counts = [(what, full[what], pruned[what]) for what in ("documents", "terms", "postings")]
    sizes = [("bytes", full["bytes"], pruned["bytes"])]
    kinds = full["bytes_by_kind"].keys() | pruned["bytes_by_kind"].keys()
    kinds = {k: (full["bytes_by_kind"].get(k, 0), pruned["bytes_by_kind"].get(k, 0)) for k in kinds}
    by_kind = sorted(((f"... {k}", *v) for k, v in kinds.items() if any(v)), key=lambda r: -r[1])
    rows = [
        (what, f"{before:,}", f"{after:,}", change(before, after))
        for what, before, after in (*counts, *sizes, *by_kind)
    ]
    return Table("Size", ("", *report["indexes"], "change"), rows)


def change(before: float, after: float) -> str:
    """Relative change, ``-45.0 %``."""
    if not before:
        return "" if not after else "new"
    return f"{100 * (after / before - 1):+.1f} %".replace("-0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")


def _latency(report: Mapping[str, Any]) -> Table:
    full, pruned = report["indexes"]
    rows = []
    for key, how in (("latency_ms", ""), ("latency_exhaustive_ms", " exhaustive")):
        for depth, label in (("top10", "top-10"), ("top1000", "top-1000")):
            before, after = (report[key][name][depth] for name in (full, pruned))
            times = ratio(before["mean"], after["mean"])
            for name, of, faster in ((full, before, ""), (pruned, after, f"x{times}")):
                values = (f"{milliseconds:.3f}" for milliseconds in of.values())
                rows.append((f"{label}{how}, {name}", *values, faster))
    setup = report["latency_setup"]
    note = (
        f"Inside the JVM, one thread, warm, {setup['queries_timed']:,} "
        f"queries, median of {setup['counted_rounds']} rounds; faster compares the means. "
        "Exhaustive: without skipping by block maxima."
    )
    if not setup["warmup_stable"]:
        note += " The machine did not become stable while warming up: read with care."
    return Table("Latency", ("ms a query", "mean", "p50", "p95", "p99", "faster"), rows, note)


def ratio(before: float, after: float) -> str:
    """How many times faster, two decimals."""
    return f"{before / after:.2f}" if after else "-"


def extreme_queries(
    topics: Mapping[str, str], evaluations: Mapping[str, Evaluation], measure: str, most: int = 10
) -> list[Table]:
    """The queries that lost and gained most, worst and best first; none that did not change."""
    (full, before), (pruned, after) = evaluations.items()
    differences = after.values[measure] - before.values[measure]
    order = np.argsort(differences, kind="stable")
    lost = [i for i in order[:most] if differences[i] < 0]
    gained = [i for i in order[::-1][:most] if differences[i] > 0]

    def row(i: int) -> tuple[str, ...]:
        query = before.queries[i]
        numbers = (before.values[measure][i], after.values[measure][i])
        values = (f"{value:.3f}" for value in numbers)
        return (f"{query}: {topics[query]}", *values, f"{differences[i]:+.3f}")

    columns = ("query", full, pruned, "difference")
    return [
        Table(f"Lost most, {measure}", columns, [row(i) for i in lost]),
        Table(f"Gained most, {measure}", columns, [row(i) for i in gained]),
    ]


def to_rich(table: Table) -> RichTable:
    """The table for a terminal."""
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(
        title=table.title, caption=table.note or None, box=box.SIMPLE_HEAD,
        title_justify="left", caption_justify="left", show_edge=False, pad_edge=False,
    )  # fmt: skip
    for number, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    return shown
