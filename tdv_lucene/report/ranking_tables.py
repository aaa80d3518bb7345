"""How well indexes rank, as tables: means, tests, effect sizes, agreement of rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import SIGNIFICANT, Table, interval, p_value
from .wording import counted

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
