"""Read a report's page as a browser has it, and say what each of its numbers should be.

What is expected comes from ``report.json`` and the ``per_query`` files by arithmetic of its own,
not through the code that made the page.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
MEASURES = ("nDCG@5", "nDCG@10", "MAP", "R@1000")
DEPTHS = ("top10", "top1000")


class Page(HTMLParser):
    """Tables: title, rows of cell texts."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self._open: list[str] = []
        self.feed(dom)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag in ("meta", "link", "br", "input"):
            return
        self._open.append(tag)
        if given.get("role") == "region":
            self.tables.append((given["aria-label"] or "", []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag == "td" and "bar" not in (given.get("class") or "") or given.get("scope") == "row":
            self.tables[-1][1][-1].append("")

    def _row(self) -> bool:
        """Whether a row with a cell in it is open, not one of headings."""
        return "tbody" in self._open and bool(self.tables[-1][1][-1])

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside, data = self._open[-1] if self._open else "", " ".join(data.split())
        if not data:
            return
        if (
            inside == "td"
            or "tr" in self._open
            and inside in ("small", "th", "button")
            and self._row()
        ):
            self.tables[-1][1][-1][-1] += (" " if inside == "small" else "") + data


def check_page(dom: str, folder: Path) -> int:
    """Compare what a browser shows of effects, bytes and time with the files in ``folder``; count
    numbers."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    checked = check_overview(dom, report, "nDCG@5")
    checked += check_listed_queries(dom, folder, report, "nDCG@5")
    return checked + check_tables(dom, report)


def check_tables(dom: str, report: Mapping[str, Any]) -> int:
    """Compare tables that no script draws; count numbers."""
    checked = 0
    shown = {title: [row for row in rows if row] for title, rows in Page(dom).tables}
    for title, rows in _tables(report):
        assert len(shown[title]) == len(rows), title
        for cells, (label, numbers) in zip(shown[title], rows):
            assert cells[0] == label, title
            found = [text for cell in cells[1:] for text in _numbers(cell)]
            wanted = [number for number in numbers if number is not None]
            assert len(found) == len(wanted), (title, cells, wanted)
            assert all(map(_same, found, wanted)), (title, cells, wanted)
            checked += len(found)
    return checked


def _numbers(cell: str) -> list[str]:
    return NUMBER.findall(cell.replace("top-", ""))


def _same(text: str, number: float) -> bool:
    """Whether ``text`` is ``number`` rounded to the decimals shown, with a fair sign."""
    decimals = len(text.partition(".")[2])
    shown = float(text.replace(",", ""))
    return abs(shown - number) <= 0.5001 * 10**-decimals


def _tables(report: Mapping[str, Any]) -> Iterator[tuple[str, list]]:
    """(Title, rows of a label and numbers) of those that say what an index gains and costs."""
    several = len(report["query_sets"]) > 1
    for label, entry in report["query_sets"].items():
        yield from _effectiveness(f", {label}" if several else "", entry)
    yield "Size", _size(report, [*report["indexes"]])
    names = [*report["latency_ms"]]
    yield "Latency", _latency(report, names, "latency_ms", "")
    yield (
        "Latency without skipping by block maxima",
        _latency(report, names, "latency_exhaustive_ms", "_exhaustive"),
    )


def _p(value: float | None) -> list[float]:
    return [] if value is None else [0.001 if value < 0.001 else value]


def _interval(bounds: Sequence[float] | None) -> Sequence[float]:
    return bounds or []


def _effectiveness(where: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, list]]:
    measures = entry["measures"]
    systems, tests = measures["MAP"]["means"], measures["MAP"]["tests"]
    if len(systems) == 2:
        keys = ("difference", "ci95_corrected", "p_value", "wins", "ties", "losses")
        yield (
            f"Effectiveness{where}",
            [
                (m, [*(measures[m][s] for s in systems), *_flat(measures[m], keys)])
                for m in MEASURES
            ],
        )
    else:
        shares = entry["judged"]["share_in_ten"]
        yield (
            f"Effectiveness{where}",
            [(s, [*(measures[m][s] for m in MEASURES), 100 * shares[s]]) for s in systems],
        )
        yield f"Differences{where}", [
            (f"{test['treatment']} - {test['baseline']}",
             [measures[m]["tests"][at]["difference"] for m in MEASURES])
            for at, test in enumerate(tests)
        ]  # fmt: skip
    effects, keys = entry["rank_effects"].items(), ("overlap_at_10", "rbo", "kendall_tau")
    yield f"Rankings{where}", [(name, [effect[k] for k in keys]) for name, effect in effects]


def _flat(entry: Mapping[str, Any], keys: Sequence[str]) -> Iterator[float]:
    for key in keys:
        value = entry[key]
        yield from _p(value) if key == "p_value" else value if isinstance(value, list) else [value]


def _size(report: Mapping[str, Any], names: Sequence[str]) -> list:
    indexes = [report["indexes"][name] for name in names]
    values = {
        w: [entry[w] for entry in indexes] for w in ("documents", "terms", "postings", "bytes")
    }
    kinds = {k for entry in indexes for k, size in entry["bytes_by_kind"].items() if size}
    by_kind = {k: [entry["bytes_by_kind"].get(k, 0) for entry in indexes] for k in kinds}
    order = sorted(by_kind, key=lambda k: (-by_kind[k][0], k))
    values |= {f"... {kind}": by_kind[kind] for kind in order}
    rows = []
    for what, (before, *after) in values.items():
        changes = [None if not before else 100 * (a - before) / before for a in after]
        rows.append((what, [before, *(n for pair in zip(after, changes) for n in pair)]))
    return rows


def _latency(report: Mapping[str, Any], names: Sequence[str], key: str, how: str) -> list:
    rows = []
    for depth in DEPTHS:
        for name in names:
            entry = report[key][name][depth]
            numbers = [entry[k] for k in ("mean", "p50", "p95", "p99")]
            if name != names[0]:
                ratio = report["latency_ratio"][name][depth + how]
                numbers += [report[key][names[0]][depth]["mean"] / entry["mean"], *ratio["ci95"]]
            rows.append((f"{depth.replace('top', 'top-')}, {name}", numbers))
    return rows


def _overview(report: Mapping[str, Any], measure: str) -> list:
    """A line a system: what each index costs, then the measure on every query set."""
    names, systems = [*report["indexes"]], [*report["parameters"]["search"]]
    rows = []
    for name in systems:
        numbers: list[float] = []
        if name in names:
            for what, unit in (("bytes", 1e6), ("postings", 1)):
                before, after = report["indexes"][names[0]][what], report["indexes"][name][what]
                numbers.append(after / unit)
                numbers += [100 * (after / before - 1)] if name != names[0] else []
        if tiers := report["tiers"].get(name):
            numbers += [tiers["hot_bytes"] / 1e6, tiers["fidelity"], tiers["depth"]]
        for depth in DEPTHS:
            numbers.append(report["latency_ms"][name][depth]["mean"])
            if name != names[0]:
                ratio = report["latency_ratio"][name][depth]
                numbers += [ratio["ratio"], *(ratio["ci95"] or [ratio["ratio"]] * 2)]
        for entry in report["query_sets"].values():
            found = entry["measures"][measure]
            numbers.append(found["means"][name])
            test = _against_first(found, name)
            numbers += [] if test is None else [test["difference"]]
            numbers += _interval(test and test["ci95_corrected"])
        shares = (entry["judged"]["share_in_ten"] for entry in report["query_sets"].values())
        numbers += [100 * found[name] for found in shares]
        rows.append((name, numbers))
    return rows


def _against_first(entry: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    first = next(iter(entry["means"]))
    pairs = {(test["baseline"], test["treatment"]): test for test in entry["tests"]}
    return pairs.get((first, name))


def check_overview(dom: str, report: Mapping[str, Any], measure: str) -> int:
    """Compare matrix, marks and plots of the overview with ``report``; count numbers."""
    title = f"Overview, {measure}"
    found = {title: rows for title, rows in Page(dom).tables}
    checked = 0
    rows = [row for row in found[title] if row]
    expected = _overview(report, measure)
    assert [row[0] for row in rows] == [label for label, _ in expected]
    for cells, (_, numbers) in zip(rows, expected):
        texts = [text for cell in cells[1:] for text in _numbers(cell.replace("as full", ""))]
        assert len(texts) == len(numbers), (cells, numbers)
        assert all(map(_same, texts, numbers)), (cells, numbers)
        checked += len(numbers)
        first = 7 if report["tiers"] else 5
        for cell, entry in zip(cells[first:], report["query_sets"].values()):
            _check_marks(cell, entry["measures"][measure], cells[0], report)
    return checked + _check_points(dom, report, measure)


def _check_marks(cell: str, entry: Mapping[str, Any], name: str, report: Mapping[str, Any]) -> None:
    tuned = report["tuning"] and report["tuning"]["name"]
    first = next(iter(report["indexes"]))
    marks = {first: "*", tuned: "†"}
    sure = {
        marks[test["baseline"]]
        for test in entry["tests"]
        if test["treatment"] == name and test["p_value"] is not None and test["p_value"] < 0.05
    }
    assert {mark for mark in "*†" if mark in cell} == sure, (cell, name)


_POINT = re.compile(r'<g class="point".*?translate\(([\d.]+) ([\d.]+)\).*?<title>(.*?)</title></g>')


def _check_points(dom: str, report: Mapping[str, Any], measure: str) -> int:
    """Each mark stands where its values put it, on both plots."""
    sets, indexes = report["query_sets"], report["indexes"]
    costs = {
        "bytes": {name: entry["bytes"] for name, entry in indexes.items()},
        "latency": {name: entry["top10"]["mean"] for name, entry in report["latency_ms"].items()},
    }
    for kind, cost in costs.items():
        drawn = dom[dom.index(f'id="plot-{kind}"') :]
        drawn = drawn[: drawn.index("</svg>")]
        names = [*report["latency_ms"]]  # the tuned one takes the first's bytes, beside its mark
        places = []  # x, y on the screen; cost, value
        for x, y, text in _POINT.findall(drawn):
            name, label = text.partition(": ")[0].split(", ")
            entry = sets[label]["measures"][measure]
            test = _against_first(entry, name)
            numbers = _numbers(text.partition(f"{measure} ")[2])
            assert _same(numbers[0], entry["means"][name]), text
            if test is not None:
                assert _same(numbers[2], test["difference"]), text
            places.append((name, label, float(x), float(y), cost.get(name), entry["means"][name]))
        assert {place[:2] for place in places} == {(n, label) for n in names for label in sets}
        assert len(places) == len(names) * len(sets)
        _check_straight([place[4:1:-2] for place in places if place[0] in cost])
        _check_straight([place[5:2:-2] for place in places])
    return 2 * len(report["latency_ms"]) * len(sets)


def _check_straight(pairs: Sequence[tuple[float, float]]) -> None:
    """Pixels are a straight line of values, to a tenth of one."""
    (low, at_low), (high, at_high) = min(pairs), max(pairs)
    if high > low:
        assert at_low != at_high
        for value, at in pairs:
            wanted = at_low + (value - low) / (high - low) * (at_high - at_low)
            assert abs(at - wanted) < 0.1, (value, at, wanted)


def check_listed_queries(
    dom: str,
    folder: Path,
    report: Mapping[str, Any],
    measure: str,
    *,
    system: str | None = None,
    ending: str | None = None,
    ids: Sequence[str] | None = None,
) -> int:
    """Compare the table of all queries with a per_query file; ``ids`` are those to be shown.

    ``ending`` None is that of the first query set's file.
    Without them, the first 50 by difference. The page holds thousandths.
    """
    full = next(iter(report["indexes"]))
    if ending is None:
        first, *more = report["query_sets"]
        ending = f".{first}" if more else ""
    system = system or [*report["indexes"]][1]
    with (folder / f"per_query{ending}.tsv").open(newline="", encoding="utf-8") as file:
        rows = {row["query"]: row for row in csv.DictReader(file, delimiter="\t")}
    shown = dict(Page(dom).tables)["All queries"]
    shown = [row for row in shown if row]
    values = {
        query: [float(row[f"{measure} {name}"]) for name in (full, system)]
        for query, row in rows.items()
    }
    found = [row[0].partition(": ")[0] for row in shown]
    if ids is not None:
        assert found == list(ids)
    else:
        assert len(set(found)) == len(found) == min(50, len(rows))
        changes = sorted(after - before for before, after in values.values())
        for query, change in zip(found, changes):
            before, after = values[query]
            assert abs(after - before - change) < 0.0011, query
    for query, row in zip(found, shown):
        before, after = values[query]
        assert _same(row[1], before) and _same(row[2], after), row
        assert abs(float(row[3]) - (after - before)) < 0.0011, row
    return 3 * len(shown)
