"""The report of a comparison, read again, and its tables: ranking, cost, terms, single queries.

The screen, the page, Markdown and LaTeX show the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..evaluation.measures import Evaluation
from ..store import check_format
from ..timing.latency import DocFreqs
from ..vocabulary import StrPath
from .table import SIGNIFICANT, Table, change, interval, p_value, ratio, times_interval
from .wording import counted

FILE = "report.json"
FORMAT = 1  # from 1.0 on (``FORMATS.md``)
_AGAIN = "compare the indexes again"

DEPTHS = {"top10": "top-10", "top1000": "top-1000"}

_CHANGED = "first_changed"
_OUTCOMES = " +/=/-: queries better, equal and worse."
_JUDGED = "judged: share of judged documents among the ten best."


def read_report(folder: StrPath) -> dict[str, Any]:
    """Return the report that :func:`tdv_lucene.compare_indexes` wrote into ``folder``.

    Raises :class:`TdvError` when there is none, or one of a format that this version does not know.
    """
    path = Path(folder) / FILE
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TdvError(f"{path} cannot be read ({error}): {_AGAIN}") from error
    if not isinstance(report, dict):
        raise TdvError(f"{path} holds '{type(report).__name__}', expected a report: {_AGAIN}")
    check_format(str(path), report.get("format"), FORMAT, _AGAIN)
    return report


def comparison_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return effectiveness on every query set, tests, size and latency."""
    ranking = [table for tables in ranking_tables(report).values() for table in tables]
    return [*ranking, size_table(report), latency_table(report), *tiers_tables(report)]


# ranking ------------------------------------------------------------------------------------------


def ranking_tables(report: Mapping[str, Any]) -> dict[str, list[Table]]:
    """Return effectiveness and tests by the query sets' labels."""
    comparisons = report["parameters"]["comparisons"]
    return {
        label: _of_query_set(found, set_suffix(report, label), comparisons)
        for label, found in report["query_sets"].items()
    }


def detail_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return every test by itself, of more than two systems: too long for the screen."""
    comparisons = report["parameters"]["comparisons"]
    tables = []
    for label, found in report["query_sets"].items():
        measures, where = found["measures"], set_suffix(report, label)
        if len(_systems(measures)) > 2:
            note = _effectiveness_note(found, comparisons)
            rows = [
                (f"{measure}, {_pair(test)}", *_test_cells(test))
                for measure, result in measures.items()
                for test in result["tests"]
            ]
            columns = ("", "change", "95 % interval", "p", "+/=/-")
            tables.append(Table(f"Tests{where}", columns, rows, note))
    return tables


def set_suffix(report: Mapping[str, Any], label: str) -> str:
    """Return the end of titles about one query set, where there are several."""
    return f", {label}" if len(report["query_sets"]) > 1 else ""


def _systems(measures: Mapping[str, Any]) -> list[str]:
    return [*next(iter(measures.values()))["means"]]


def _of_query_set(found: Mapping[str, Any], where: str, comparisons: int) -> list[Table]:
    measures, note = found["measures"], _effectiveness_note(found, comparisons)
    systems = _systems(measures)
    title = f"Effectiveness{where}"

    def mean(result: Mapping[str, Any], name: str) -> str:
        return f"{result['means'][name]:.4f}"

    if len(systems) == 2:
        rows = [
            (measure, *(mean(result, name) for name in systems), *_test_cells(result))
            for measure, result in measures.items()
        ]
        columns = ("measure", *systems, "change", "95 % interval", "p", "+/=/-")
        return [Table(title, columns, rows, note)]
    shares = found["judged"]["share_in_ten"]
    means = [
        (name, *(mean(result, name) for result in measures.values()), f"{shares[name]:.0%}")
        for name in systems
    ]
    # A line for each pair of systems, so that many fit on a screen.
    pairs = zip(*(each["tests"] for each in measures.values()))  # the same for every measure
    rows = [(_pair(tests[0]), *map(_starred, tests)) for tests in pairs]
    note = f"{note.removesuffix(_OUTCOMES)} {_JUDGED}"
    return [
        Table(title, ("mean over queries", *measures, "judged"), means),
        Table(f"Differences{where}", ("of means", *measures), rows, note),
    ]


def _starred(test: Mapping[str, Any]) -> str:
    p = test["p_value"]
    return f"{test['difference']:+.4f}" + ("*" if p is not None and p < SIGNIFICANT else "")


def _pair(test: Mapping[str, Any]) -> str:
    return f"{test['treatment']} - {test['baseline']}"


def _test_cells(test: Mapping[str, Any]) -> tuple[str, ...]:
    outcomes = f"{test['wins']}/{test['ties']}/{test['losses']}"
    bounds, p = interval(test["ci95_corrected"]), p_value(test["p_value"])
    return f"{test['difference']:+.4f}", bounds, p, outcomes


def _effectiveness_note(found: Mapping[str, Any], comparisons: int) -> str:
    queries = found["queries"]
    judged = counted(queries["judged"], "judged query", "judged queries")
    emptied = [f"{number:,} in {name}" for name, number in queries["emptied_by"].items() if number]
    lost = f" Queries without a term that is left: {', '.join(emptied)}." if emptied else ""
    return (
        f"{judged}.{lost}{_judged(found['judged'])} * p < {SIGNIFICANT}, two-tailed paired t-test; "
        f"p and intervals are Bonferroni-corrected for {comparisons} comparisons." + _OUTCOMES
    )


def _judged(judged: Mapping[str, Mapping[str, float]]) -> str:
    """Say how much of the ten best is judged of two systems, of more a column does; and nDCG@10
    without the rest if most is not."""
    said, shares = "", judged["share_in_ten"]
    if len(shares) == 2:
        named = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        said = f" Judged documents among the ten best: {named}."
    if found := judged.get("nDCG@10"):
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in found.items())
        said += f" Most of the ten best are not judged; nDCG@10 with these left out: {means}."
    return said


# cost ---------------------------------------------------------------------------------------------


def size_table(report: Mapping[str, Any]) -> Table:
    """Return the indexes side by side, each with its change from the first."""
    names, indexes = [*report["indexes"]], [*report["indexes"].values()]
    counted_in = ("documents", "terms", "postings", "bytes")
    lines = {what: [index[what] for index in indexes] for what in counted_in}
    lines |= {f"... {kind}": sizes for kind, sizes in bytes_by_kind(indexes)}
    rows = [
        (what, f"{full:,}", *(cell for one in after for cell in (f"{one:,}", change(full, one))))
        for what, (full, *after) in lines.items()
    ]
    columns = ("", names[0], *(column for name in names[1:] for column in (name, "change")))
    return Table("Size", columns, rows)


def bytes_by_kind(indexes: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[int]]]:
    """Return kinds of files, the first index's largest first, with their bytes in each index."""
    by_kind = [index["bytes_by_kind"] for index in indexes]
    kinds = {kind for sizes in by_kind for kind, size in sizes.items() if size}
    order = sorted(kinds, key=lambda kind: (-by_kind[0].get(kind, 0), kind))
    return [(kind, [sizes.get(kind, 0) for sizes in by_kind]) for kind in order]


def latency_table(report: Mapping[str, Any]) -> Table:
    """Return mean and percentiles of every index, and how much faster than the first it is."""
    setup = report["latency_setup"]
    note = (
        "Inside the JVM, one thread, warm, "
        f"{counted(setup['queries_timed'], 'query', 'queries')}, median of "
        f"{counted(setup['counted_rounds'], 'round')}; faster compares the means, with its "
        "95 % interval by a paired bootstrap over queries (noise of the machine comes on top)."
    )
    if not setup["warmup_stable"]:
        note += " The machine did not become stable while warming up: read with care."
    first, *_ = report["indexes"]
    rows = []
    for depth, label in DEPTHS.items():
        before = report["latency_ms"][first][depth]["mean"]
        for name, latencies in report["latency_ms"].items():
            summary, faster, bounds = latencies[depth], "", None
            if name != first:
                faster = f"x{ratio(before, summary['mean'])}"
                bounds = report["latency_ratio"][name][depth]["ci95"]
            values = (f"{summary[column]:.3f}" for column in ("mean", "p50", "p95", "p99"))
            rows.append((f"{label}, {name}", *values, faster, times_interval(bounds)))
    columns = ("ms a query", "mean", "p50", "p95", "p99", "faster", "interval")
    return Table("Latency", columns, rows, note)


def tiers_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return what two tiers return of the whole field's answers, if an index has two."""
    rows = [
        (
            name,
            f"{about['depth']:,}",
            f"{about['margin']:g}",
            f"{about['query_terms']:g}",
            *("none" if about[k] is None else f"{about[k]:.3f}" for k in ("fidelity", _CHANGED)),
            "none" if about["hot_bytes"] is None else f"{about['hot_bytes']:,}",
        )
        for name, about in report["tiers"].items()
    ]
    note = (
        "Fidelity: mean share of the whole field's ten best documents that both tiers return, over "
        "the judged queries of the first set; changed: share of these with another first answer. "
        "Depth: documents that the whole field ranks at most; margin: the least share of the last "
        "hit's score that they have in the hot field. Terms: the share of a query's weight that "
        "the hot field is asked for. A search touches its bytes, and what it ranks of the whole."
    )
    columns = ("", "depth", "margin", "terms", "fidelity", "changed", "hot field's bytes")
    return [Table("Two tiers", columns, rows, note)] if rows else []


# single terms and queries -------------------------------------------------------------------------


def term_tables(terms: Mapping[str, Any]) -> list[Table]:
    """Return the terms dropped, raised and lowered most, of the report's ``terms``."""
    titles = {
        "most_dropped": f"Terms dropped: {terms['dropped']:,}, of which these save most postings",
        "raised": "Terms raised most",
        "lowered": "Terms lowered most, but kept",
    }
    columns = ("term", "TDV", "df", "df after")

    def row(term: Mapping[str, Any]) -> tuple[str, ...]:
        tdv = "none" if term["tdv"] is None else f"{term['tdv']:.3f}"
        return term["term"], tdv, f"{term['df_before']:,}", f"{term['df_after']:,}"

    return [Table(title, columns, [*map(row, terms[k])]) for k, title in titles.items() if terms[k]]


def extreme_queries(
    topics: Mapping[str, str], evaluations: Mapping[str, Evaluation], measure: str,
    words: Mapping[str, DocFreqs], most: int = 10,
) -> list[Table]:  # fmt: skip
    """Return the queries that lost and gained most in the second system, if they changed."""
    (full, before), (pruned, after) = [*evaluations.items()][:2]
    differences = after.values[measure] - before.values[measure]
    order = np.argsort(differences, kind="stable")
    lost = [i for i in order[:most] if differences[i] < 0]
    gained = [i for i in order[::-1][:most] if differences[i] > 0]

    def row(i: int) -> tuple[str, ...]:
        query = before.queries[i]
        numbers = (before.values[measure][i], after.values[measure][i])
        values = (f"{value:.3f}" for value in numbers)
        shares = [(t, 1 - of[pruned] / of[full]) for t, of in words[query].items() if of[full]]
        thinned = sorted((each for each in shares if each[1] >= 0.005), key=lambda each: -each[1])
        named = (f"{term} {'all' if share == 1 else f'{share:.0%}'}" for term, share in thinned)
        dropped = ", ".join(named) or "none"
        return (query, topics[query], dropped, *values, f"{differences[i]:+.3f}")

    columns = ("id", "query", "postings dropped", full, pruned, "difference")
    return [
        Table(
            f"{title}, {measure}", columns, [row(i) for i in shown],
            bars=tuple(float(differences[i]) for i in shown),
        )
        for title, shown in (("Lost most", lost), ("Gained most", gained))
    ]  # fmt: skip
