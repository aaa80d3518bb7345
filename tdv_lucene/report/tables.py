"""The tables of a comparison as plain strings; the screen and the page render the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluation.measures import Evaluation
from ..timing.latency import QueryTerms
from .table import SIGNIFICANT, Table, change, interval, p_value, ratio, times_interval
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


_OUTCOMES = " +/=/-: queries better, equal and worse."


def ranking_tables(report: Mapping[str, Any]) -> list[Table]:
    """Effectiveness, tests and rank effects on every query set."""
    return [table for tables in tables_by_query_set(report).values() for table in tables]


def tables_by_query_set(report: Mapping[str, Any]) -> dict[str, list[Table]]:
    """The same by the query sets' labels."""
    comparisons = report["parameters"]["comparisons"]
    return {
        label: _of_query_set(found, of_set(report, label), comparisons)
        for label, found in report["query_sets"].items()
    }


def detail_tables(report: Mapping[str, Any]) -> list[Table]:
    """Of more than two systems, every test by itself: too long for the screen."""
    comparisons = report["parameters"]["comparisons"]
    tables = []
    for label, found in report["query_sets"].items():
        measures, where = found["measures"], of_set(report, label)
        if len(_systems(measures)) > 2:
            note = _effectiveness_note(found, comparisons)
            tables += [_tests(measures, where, note), _details(measures, where)]
    return tables


def of_set(report: Mapping[str, Any], label: str) -> str:
    """What to add to the title of what is said of one query set."""
    return f", {label}" if len(report["query_sets"]) > 1 else ""


def _systems(measures: Mapping[str, Any]) -> list[str]:
    return [*next(iter(measures.values()))["means"]]


def _of_query_set(found: Mapping[str, Any], where: str, comparisons: int) -> list[Table]:
    systems = _systems(found["measures"])
    note = _effectiveness_note(found, comparisons)
    rankings = _rank_effects(found["rank_effects"], where)
    if len(systems) == 2:
        table = _effectiveness(found["measures"], systems, where, note)
        return [table, _details(found["measures"], where), rankings]
    means = _means(found["measures"], systems, where)
    differences = _differences(found["measures"], where, note.removesuffix(_OUTCOMES))
    return [means, differences, rankings]


def _effectiveness(
    measures: Mapping[str, Any], systems: Sequence[str], where: str, note: str
) -> Table:
    rows = [
        (measure, *(f"{result['means'][name]:.4f}" for name in systems), *_test_cells(result))
        for measure, result in measures.items()
    ]
    columns = ("measure", *systems, "change", "95 % interval", "p", "+/=/-")
    return Table(f"Effectiveness{where}", columns, rows, note)


def _means(measures: Mapping[str, Any], systems: Sequence[str], where: str) -> Table:
    rows = [
        (name, *(f"{result['means'][name]:.4f}" for result in measures.values()))
        for name in systems
    ]
    return Table(f"Effectiveness{where}", ("mean over queries", *measures), rows)


def _differences(measures: Mapping[str, Any], where: str, note: str) -> Table:
    """A line a pair of systems, so that many fit on a screen."""

    def starred(test: Mapping[str, Any]) -> str:
        p = test["p_value"]
        return f"{test['difference']:+.4f}" + ("*" if p is not None and p < SIGNIFICANT else "")

    pairs = zip(*(each["tests"] for each in measures.values()))  # the same of every measure
    rows = [(_pair(tests[0]), *map(starred, tests)) for tests in pairs]
    return Table(f"Differences{where}", ("of means", *measures), rows, note)


def _tests(measures: Mapping[str, Any], where: str, note: str) -> Table:
    rows = [
        (f"{measure}, {_pair(test)}", *_test_cells(test))
        for measure, result in measures.items()
        for test in result["tests"]
    ]
    return Table(f"Tests{where}", ("", "change", "95 % interval", "p", "+/=/-"), rows, note)


def _pair(test: Mapping[str, Any]) -> str:
    return f"{test['treatment']} - {test['baseline']}"


def _test_cells(test: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"{test['difference']:+.4f}",
        interval(test["ci95_corrected"]),
        p_value(test["p_value"]),
        f"{test['wins']}/{test['ties']}/{test['losses']}",
    )


def _effectiveness_note(found: Mapping[str, Any], comparisons: int) -> str:
    queries = found["queries"]
    judged = counted(queries["judged"], "judged query", "judged queries")
    emptied = [f"{number:,} of them in {name}" for name, number in queries["emptied_by"].items()]
    return (
        f"{judged}. Without a term that is left: {', '.join(emptied)}. "
        f"* p < {SIGNIFICANT}, two-tailed paired t-test; p and intervals are Bonferroni-corrected "
        f"for {comparisons} comparisons." + _OUTCOMES
    )


def _details(measures: Mapping[str, Any], where: str) -> Table:
    several = len(next(iter(measures.values()))["tests"]) > 1
    rows: list[tuple[str, ...]] = [
        (
            f"{measure}, {_pair(test)}" if several else measure,
            "none" if test["effect_size"] is None else f"{test['effect_size']:+.3f}",
            interval(test["effect_size_ci95_corrected"]),
            p_value(test["p_randomisation"]),
        )
        for measure, result in measures.items()
        for test in result["tests"]
    ]
    note = (
        "Effect size: mean over standard deviation of the differences (Cohen's d_z). Intervals and "
        "p are corrected as above."
    )
    columns = ("", "effect size", "95 % interval", "p, randomisation")
    return Table(f"Effect size{where}", columns, rows, note)


def _rank_effects(effects: Mapping[str, Mapping[str, Any]], where: str) -> Table:
    def shown(value: float | None) -> str:
        return "none" if value is None else f"{value:.3f}"

    rows = [
        (name, *(shown(effect[key]) for key in ("overlap_at_10", "rbo", "kendall_tau")))
        for name, effect in effects.items()
    ]
    note = (
        "Agreement with the first index's rankings, 1 = the same: share of its top 10 kept, "
        "rank-biased overlap (p = 0.9), Kendall's tau of documents in both top-100."
    )
    return Table(f"Rankings{where}", ("", "overlap@10", "RBO", "tau"), rows, note)


VALUE_COLUMN = {"learned": "TDV", "ratio": "tf ratio"}
"""What ``tdv`` is called at the head of a column, by its kind: only what was learned is a TDV."""


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
        dropped = _most_thinned(words[query].thinned(full, pruned))
        return (f"{query}: {topics[query]}", dropped, *values, f"{differences[i]:+.3f}")

    columns = ("query", "postings dropped", full, pruned, "difference")
    return [
        Table(
            f"{title}, {measure}", columns, [row(i) for i in shown],
            bars=tuple(float(differences[i]) for i in shown),
        )
        for title, shown in (("Lost most", lost), ("Gained most", gained))
    ]  # fmt: skip


def _most_thinned(shares: Mapping[str, float]) -> str:
    """Name the terms with dropped postings and the share dropped, the largest first."""
    order = sorted(((t, s) for t, s in shares.items() if s >= 0.005), key=lambda share: -share[1])
    named = (f"{term} {'all' if share == 1 else f'{share:.0%}'}" for term, share in order)
    return ", ".join(named) or "none"


def term_tables(terms: Mapping[str, Any]) -> list[Table]:
    """The terms dropped, raised and lowered, of :mod:`tdv_lucene.comparison.term_changes`."""
    titles = {
        "most_dropped": f"Terms dropped: {terms['dropped']:,}, of which these save most postings",
        "raised": "Terms raised most",
        "lowered": "Terms lowered most, but kept",
    }
    columns = ("term", VALUE_COLUMN[terms["tdv_kind"]], "df", "df after")
    return [
        Table(title, columns, [_term_row(term) for term in terms[key]])
        for key, title in titles.items()
        if terms[key]
    ]


def _term_row(term: Mapping[str, Any]) -> tuple[str, ...]:
    tdv = "none" if term["tdv"] is None else f"{term['tdv']:.3f}"
    return term["term"], tdv, f"{term['df_before']:,}", f"{term['df_after']:,}"


def comparison_tables(report: Mapping[str, Any]) -> list[Table]:
    """Effectiveness on every query set, tests, rank effects, size and latency."""
    return [*ranking_tables(report), *size_tables(report), latency_table(report)]


def all_tables(report: Mapping[str, Any]) -> list[Table]:
    """Those, every test by itself, speed in detail, and the terms changed most."""
    return [
        *comparison_tables(report),
        *detail_tables(report),
        *speed_tables(report),
        *term_tables(report["terms"]),
    ]
