"""What indexes cost, as tables: size, latency, work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import Table, change, ratio, times_interval
from .wording import counted

DEPTHS = {"top10": "top-10", "top1000": "top-1000"}
_SIDE_BY_SIDE = 3  # indexes in one table of sizes, a column or two each
_SHRINKING = ("postings", "bytes")  # what pruning is for


def size_tables(report: Mapping[str, Any]) -> list[Table]:
    """Two or three indexes side by side; more below each other, their kinds of files apart."""
    names, indexes = [*report["indexes"]], [*report["indexes"].values()]
    lines = {
        w: [index[w] for index in indexes] for w in ("documents", "terms", "postings", "bytes")
    }
    by_kind = bytes_by_kind(indexes)

    def beside(before: int, after: int) -> tuple[str, str]:
        return f"{after:,}", change(before, after)

    if len(names) > _SIDE_BY_SIDE:
        rows = [
            (name, *(cell for what, values in lines.items()
                     for cell in beside(values[0], values[number])[: 1 + (what in _SHRINKING)]))
            for number, name in enumerate(names)
        ]  # fmt: skip
        columns = ("", *(c for w in lines for c in (w, "change")[: 1 + (w in _SHRINKING)]))
        kinds_of = [(kind, *(f"{size:,}" for size in sizes)) for kind, sizes in by_kind]
        return [Table("Size", columns, rows), Table("Bytes by kind", ("", *names), kinds_of)]
    lines |= {f"... {kind}": sizes for kind, sizes in by_kind}
    rows = [
        (what, f"{before:,}", *(cell for value in after for cell in beside(before, value)))
        for what, (before, *after) in lines.items()
    ]
    columns = ("", names[0], *(column for name in names[1:] for column in (name, "change")))
    return [Table("Size", columns, rows)]


def bytes_by_kind(indexes: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[int]]]:
    """Kinds of files, the first index's largest first, with their bytes in each index."""
    by_kind = [index["bytes_by_kind"] for index in indexes]
    kinds = {kind for sizes in by_kind for kind, size in sizes.items() if size}
    order = sorted(kinds, key=lambda kind: (-by_kind[0].get(kind, 0), kind))
    return [(kind, [sizes.get(kind, 0) for sizes in by_kind]) for kind in order]


def latency_table(report: Mapping[str, Any]) -> Table:
    first, *_ = report["indexes"]
    rows = []
    for key, how in (("latency_ms", ""), ("latency_exhaustive_ms", " exhaustive")):
        for depth, label in DEPTHS.items():
            before = report[key][first][depth]["mean"]
            for name, latencies in report[key].items():
                summary = latencies[depth]
                faster = "" if name == first else f"x{ratio(before, summary['mean'])}"
                mode = depth + how.replace(" ", "_")
                bounds = None if name == first else report["latency_ratio"][name][mode]["ci95"]
                values = (f"{summary[column]:.3f}" for column in ("mean", "p50", "p95", "p99"))
                rows.append((f"{label}{how}, {name}", *values, faster, times_interval(bounds)))
    setup = report["latency_setup"]
    note = (
        "Inside the JVM, one thread, warm, "
        f"{counted(setup['queries_timed'], 'query', 'queries')}, median of "
        f"{counted(setup['counted_rounds'], 'round')}; faster compares the means, with its "
        "95 % interval by a paired bootstrap over queries (noise of the machine comes on top). "
        "Exhaustive: without skipping by block maxima."
    )
    if not setup["warmup_stable"]:
        note += " The machine did not become stable while warming up: read with care."
    columns = ("ms a query", "mean", "p50", "p95", "p99", "faster", "interval")
    return Table("Latency", columns, rows, note)


def speed_tables(report: Mapping[str, Any]) -> list[Table]:
    """For the page: latency by kind of query, and postings visited."""
    titles = {
        "by_length": "Latency by query length",
        "by_dropped": "Latency by share of a query's terms that pruning dropped",
        "by_gone": "Latency by share of a query's postings that pruning dropped",
    }
    strata = report["latency_strata"]
    tables = [_strata(title, strata[key]) for key, title in titles.items() if strata[key]]
    return [*tables, _postings_visited(report)]


def _strata(title: str, strata: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for stratum in strata:
        cells = [
            cell
            for depth in DEPTHS
            for cell in (f"x{stratum[depth]['ratio']:.2f}", times_interval(stratum[depth]["ci95"]))
        ]
        rows.append((stratum["stratum"], stratum["index"], f"{stratum['queries']:,}", *cells))
    columns = ("queries with", "index", "number", "top-10", "interval", "top-1000", "interval")
    return Table(title, columns, rows, "Times faster than the first index.")


def _postings_visited(report: Mapping[str, Any]) -> Table:
    names = [*report["latency_ms"]]
    rows = [
        (label, *(f"{report['postings_per_query'][name][mode]:,.0f}" for name in names))
        for mode, label in {**DEPTHS, "exhaustive": "exhaustive"}.items()
    ]
    note = "Postings at which a search stops, mean; the rest is skipped by block maxima."
    return Table("Postings visited a query", ("", *names), rows, note)
