"""The tables of a comparison as plain strings; the screen and the page render the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluate import Evaluation
from ..speed import QueryTerms

if TYPE_CHECKING:
    from rich.table import Table as RichTable

SIGNIFICANT = 0.05
_SIDE_BY_SIDE = 3  # indexes in one table of sizes, a column or two each
_SHRINKING = ("postings", "bytes")  # what pruning is for
_OUTCOMES = " +/=/-: queries better, equal and worse."
_ROUNDED = 5e-5  # a difference that four decimals do not show


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of strings, and a note to stand below. Column 0 is text.

    ``bars`` holds a number from -1 to 1 for each row, which the page draws beside it; or nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""
    bars: tuple[float, ...] = ()


def comparison_tables(report: Mapping[str, Any]) -> list[Table]:
    """Effectiveness on every query set, tests, rank effects, size and latency: what is printed."""
    comparisons = report["parameters"]["comparisons"]
    of_queries = [
        table
        for where, of in _each_query_set(report)
        for table in _of_query_set(of, where, comparisons)
    ]
    return [*of_queries, *_size(report), _latency(report)]


def detail_tables(report: Mapping[str, Any]) -> list[Table]:
    """Of more than two systems, every test by itself: too long for the screen."""
    comparisons = report["parameters"]["comparisons"]
    return [
        table
        for where, of in _each_query_set(report)
        if len(_systems(of["measures"])) > 2
        for table in (
            _tests(of["measures"], where, _effectiveness_note(of, comparisons)),
            _details(of["measures"], where),
        )
    ]


def _each_query_set(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """What to add to titles, and what was found on the set."""
    several = len(report["query_sets"]) > 1
    return [(f", {label}" if several else "", of) for label, of in report["query_sets"].items()]


def _systems(measures: Mapping[str, Any]) -> list[str]:
    return [*next(iter(measures.values()))["trec_eval"]]


def _of_query_set(of: Mapping[str, Any], where: str, comparisons: int) -> list[Table]:
    systems = _systems(of["measures"])
    note = _effectiveness_note(of, comparisons)
    rankings = _rank_effects(of["rank_effects"], where)
    if len(systems) == 2:
        table = _effectiveness(of["measures"], systems, where, note)
        return [table, _details(of["measures"], where), rankings]
    means = _means(of["measures"], systems, where)
    differences = _differences(of["measures"], where, note.removesuffix(_OUTCOMES))
    return [means, differences, rankings]


def _effectiveness(
    measures: Mapping[str, Any], systems: Sequence[str], where: str, note: str
) -> Table:
    rows = [
        (measure, *(f"{of[name]:.4f}" for name in systems), *_test_cells(of))
        for measure, of in measures.items()
    ]
    columns = ("measure", *systems, "change", "95 % interval", "p", "+/=/-")
    return Table(f"Effectiveness{where}", columns, rows, note)


def _means(measures: Mapping[str, Any], systems: Sequence[str], where: str) -> Table:
    rows = [(name, *(f"{of[name]:.4f}" for of in measures.values())) for name in systems]
    return Table(f"Effectiveness{where}", ("mean over queries", *measures), rows)


def _differences(measures: Mapping[str, Any], where: str, note: str) -> Table:
    """A line a pair of systems, so that many fit on a screen."""

    def starred(test: Mapping[str, Any]) -> str:
        p = test["p_value"]
        return f"{test['difference']:+.4f}" + ("*" if p is not None and p < SIGNIFICANT else "")

    pairs = zip(*(each["tests"] for each in measures.values()))  # the same of every measure
    rows = [
        (f"{tests[0]['treatment']} - {tests[0]['baseline']}", *map(starred, tests))
        for tests in pairs
    ]
    return Table(f"Differences{where}", ("of means", *measures), rows, note)


def _tests(measures: Mapping[str, Any], where: str, note: str) -> Table:
    rows = [
        (f"{measure}, {test['treatment']} - {test['baseline']}", *_test_cells(test))
        for measure, of in measures.items()
        for test in of["tests"]
    ]
    return Table(f"Tests{where}", ("", "change", "95 % interval", "p", "+/=/-"), rows, note)


def _test_cells(test: Mapping[str, Any]) -> tuple[str, ...]:
    outcome = f"{test['wins']}/{test['ties']}/{test['losses']}"
    return f"{test['difference']:+.4f}", interval(test["ci95"]), p_value(test["p_value"]), outcome


def interval(bounds: Sequence[float] | None) -> str:
    """An interval as printed; nothing where there is none."""
    return "" if bounds is None else "{:+.3f} to {:+.3f}".format(*bounds)


def _effectiveness_note(of: Mapping[str, Any], comparisons: int) -> str:
    queries = of["queries"]
    note = (
        f"{queries['judged']:,} judged queries, {queries['emptied']:,} of them emptied by pruning. "
        f"p: two-tailed paired t-test, Bonferroni over {comparisons}; "
        f"* below {SIGNIFICANT}."
    )
    differing = [
        f"{measure} {name} {value:.4f}"
        for measure, values in of["measures"].items()
        for name, value in values["trec_eval"].items()
        if abs(value - values[name]) >= _ROUNDED
    ]
    if differing:
        note += f" trec_eval orders ties otherwise: {', '.join(differing)}."
    return note + _OUTCOMES


def _details(measures: Mapping[str, Any], where: str) -> Table:
    several = len(next(iter(measures.values()))["tests"]) > 1
    rows = []
    for measure, of in measures.items():
        for test in of["tests"]:
            size = "none" if test["effect_size"] is None else f"{test['effect_size']:+.3f}"
            label = f"{measure}, {test['treatment']} - {test['baseline']}" if several else measure
            rows.append(
                (label, size, interval(test["effect_size_ci95"]), p_value(test["p_randomisation"]))
            )
    note = "Effect size: mean over standard deviation of the differences (Cohen's d_z)."
    columns = ("", "effect size", "95 % interval", "p, randomisation")
    return Table(f"Effect size{where}", columns, rows, note)


def _rank_effects(effects: Mapping[str, Mapping[str, Any]], where: str) -> Table:
    def shown(value: float | None) -> str:
        return "none" if value is None else f"{value:.3f}"

    rows = [
        (name, *(shown(of[key]) for key in ("overlap_at_10", "rbo", "kendall_tau")))
        for name, of in effects.items()
    ]
    note = (
        "Agreement with the first index's rankings, 1 = the same: share of its top 10 kept, "
        "rank-biased overlap (p = 0.9), Kendall's tau of documents in both top-100."
    )
    return Table(f"Rankings{where}", ("", "overlap@10", "RBO", "tau"), rows, note)


def p_value(p: float | None) -> str:
    """A p-value as printed, starred where significant."""
    if p is None:
        return "none"
    text = "<0.001" if p < 0.001 else f"{p:.3f}"
    return text + ("*" if p < SIGNIFICANT else "")


def _size(report: Mapping[str, Any]) -> list[Table]:
    """Two or three indexes side by side; more below each other, their kinds of files apart."""
    names, indexes = [*report["indexes"]], [*report["indexes"].values()]
    lines = {w: [of[w] for of in indexes] for w in ("documents", "terms", "postings", "bytes")}
    kinds = {kind for of in indexes for kind in of["bytes_by_kind"]}
    by_kind = {k: [of["bytes_by_kind"].get(k, 0) for of in indexes] for k in kinds}
    largest = sorted((k for k in kinds if any(by_kind[k])), key=lambda k: (-by_kind[k][0], k))

    def beside(before: int, after: int) -> tuple[str, str]:
        return f"{after:,}", change(before, after)

    if len(names) > _SIDE_BY_SIDE:
        rows = [
            (name, *(cell for what, values in lines.items()
                     for cell in beside(values[0], values[number])[: 1 + (what in _SHRINKING)]))
            for number, name in enumerate(names)
        ]  # fmt: skip
        columns = ("", *(c for w in lines for c in (w, "change")[: 1 + (w in _SHRINKING)]))
        kinds_of = [(kind, *(f"{count:,}" for count in by_kind[kind])) for kind in largest]
        return [Table("Size", columns, rows), Table("Bytes by kind", ("", *names), kinds_of)]
    lines |= {f"... {kind}": by_kind[kind] for kind in largest}
    rows = [
        (what, f"{before:,}", *(cell for value in after for cell in beside(before, value)))
        for what, (before, *after) in lines.items()
    ]
    columns = ("", names[0], *(column for name in names[1:] for column in (name, "change")))
    return [Table("Size", columns, rows)]


def change(before: float, after: float) -> str:
    """Relative change, ``-45.0 %``."""
    if not before:
        return "" if not after else "new"
    return f"{100 * (after / before - 1):+.1f} %".replace("-0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")


def _latency(report: Mapping[str, Any]) -> Table:
    first, *_ = report["indexes"]
    rows = []
    for key, how in (("latency_ms", ""), ("latency_exhaustive_ms", " exhaustive")):
        for depth, label in (("top10", "top-10"), ("top1000", "top-1000")):
            before = report[key][first][depth]["mean"]
            for name in report["indexes"]:
                of = report[key][name][depth]
                faster = "" if name == first else f"x{ratio(before, of['mean'])}"
                mode = depth + how.replace(" ", "_")
                bounds = None if name == first else report["latency_ratio"][name][mode]["ci95"]
                values = (f"{of[column]:.3f}" for column in ("mean", "p50", "p95", "p99"))
                rows.append((f"{label}{how}, {name}", *values, faster, times_interval(bounds)))
    setup = report["latency_setup"]
    note = (
        f"Inside the JVM, one thread, warm, {setup['queries_timed']:,} "
        f"queries, median of {setup['counted_rounds']} rounds; faster compares the means, with its "
        "95 % interval by a paired bootstrap over queries (noise of the machine comes on top). "
        "Exhaustive: without skipping by block maxima."
    )
    if not setup["warmup_stable"]:
        note += " The machine did not become stable while warming up: read with care."
    columns = ("ms a query", "mean", "p50", "p95", "p99", "faster", "interval")
    return Table("Latency", columns, rows, note)


def times_interval(bounds: Sequence[float] | None) -> str:
    """The interval of a ratio as printed; nothing where there is none."""
    return "" if bounds is None else "{:.2f} to {:.2f}".format(*bounds)


def speed_tables(report: Mapping[str, Any]) -> list[Table]:
    """For the page: strata, and what queries cost beside the search."""
    titles = {
        "by_length": "Latency by query length",
        "by_dropped": "Latency by share of a query's terms that pruning dropped",
        "by_gone": "Latency by share of a query's postings that pruning dropped",
    }
    strata = [_strata(title, report["latency_strata"][key]) for key, title in titles.items()]
    return [*strata, _work(report)]


def _strata(title: str, strata: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for of in strata:
        cells = [
            cell
            for depth in ("top10", "top1000")
            for cell in (f"x{of[depth]['ratio']:.2f}", times_interval(of[depth]["ci95"]))
        ]
        rows.append((of["stratum"], of["index"], f"{of['queries']:,}", *cells))
    columns = ("queries with", "index", "number", "top-10", "interval", "top-1000", "interval")
    return Table(title, columns, rows, "Times faster than the first index.")


def _work(report: Mapping[str, Any]) -> Table:
    names = [*report["indexes"]]
    per_second = report["queries_per_second"]
    rows = [
        (f"postings visited a query, {label}, mean",
         *(f"{report['postings_per_query'][name][mode]:,.0f}" for name in names))
        for mode, label in (("top10", "top-10"), ("top1000", "top-1000"),
                            ("exhaustive", "exhaustive"))
    ]  # fmt: skip
    for depth, label in (("top10", "top-10"), ("top1000", "top-1000")):
        cells = (f"{per_second[name][depth]:,.0f}" for name in names)
        rows.append((f"queries a second, {label}, 1 thread", *cells))
    if (throughput := report["throughput"]) is not None:
        rates = (f"{np.median(throughput['queries_per_second'][name]):,.0f}" for name in names)
        rows.append((f"queries a second, top-10, {throughput['threads']} threads", *rates))
    if (whole := report["end_to_end"]) is not None:
        means = (f"{whole['ms'][name]['mean']:.3f}" for name in names)
        rows.append(("ms a query end to end in Pyserini, top-10, mean", *means))
    service = report["service_ms"]
    fetching = (f"{service['stored_fields_ms'][name]:.3f}" for name in names)
    rows.append((f"ms to fetch the stored fields of the best {service['hits']}", *fetching))
    note = (
        "Visited: postings at which the search stops; the rest is skipped by block maxima. "
        "Fetching stored fields is not in the latencies above, nor are the "
        f"{service['analysis_ms']:.3f} ms to analyse a query, the same on every index."
    )
    return Table("Work and throughput", ("", *names), rows, note)


def ratio(before: float, after: float) -> str:
    """How many times faster, two decimals."""
    return f"{before / after:.2f}" if after else "-"


def extreme_queries(
    topics: Mapping[str, str],
    evaluations: Mapping[str, Evaluation],
    measure: str,
    words: Mapping[str, QueryTerms],
    most: int = 10,
) -> list[Table]:
    """The queries that lost and gained most in the second system, none that did not change."""
    (full, before), (pruned, after) = [*evaluations.items()][:2]
    differences = after.values[measure] - before.values[measure]
    order = np.argsort(differences, kind="stable")
    lost = [i for i in order[:most] if differences[i] < 0]
    gained = [i for i in order[::-1][:most] if differences[i] > 0]

    def row(i: int) -> tuple[str, ...]:
        query = before.queries[i]
        numbers = (before.values[measure][i], after.values[measure][i])
        values = (f"{value:.3f}" for value in numbers)
        gone = _most_thinned(words[query].thinned(full, pruned))
        return (f"{query}: {topics[query]}", gone, *values, f"{differences[i]:+.3f}")

    columns = ("query", "postings gone", full, pruned, "difference")
    return [
        Table(
            f"{title}, {measure}", columns, [row(i) for i in shown],
            bars=tuple(float(differences[i]) for i in shown),
        )
        for title, shown in (("Lost most", lost), ("Gained most", gained))
    ]  # fmt: skip


def _most_thinned(shares: Mapping[str, float]) -> str:
    """The terms that lost postings, those that lost most first; a dropped one lost all."""
    order = sorted(((t, s) for t, s in shares.items() if s >= 0.005), key=lambda of: -of[1])
    named = (f"{term} {'all' if share == 1 else f'{share:.0%}'}" for term, share in order)
    return ", ".join(named) or "none"


def term_tables(terms: Mapping[str, Any]) -> list[Table]:
    """The terms dropped, raised and lowered, of :mod:`tdv_lucene.term_changes`."""
    titles = {
        "most_dropped": f"Terms dropped: {terms['dropped']:,}, of which these save most postings",
        "raised": "Terms raised most",
        "lowered": "Terms lowered most, but kept",
    }
    columns = ("term", "TDV", "df", "df after")
    return [
        Table(title, columns, [_term_row(of) for of in terms[key]])
        for key, title in titles.items()
        if terms[key]
    ]


def _term_row(of: Mapping[str, Any]) -> tuple[str, ...]:
    tdv = "none" if of["tdv"] is None else f"{of['tdv']:.3f}"
    return of["term"], tdv, f"{of['df_before']:,}", f"{of['df_after']:,}"


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
