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
from typing import Any, NamedTuple

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
MEASURES = ("nDCG@5", "nDCG@10", "MAP", "R@1000")
DEPTHS = ("top10", "top1000")
Expected = Sequence[float | None]
"""Numbers of a row after its label, in order; None for a cell without one."""


class Page(HTMLParser):
    """Tables (title, rows of cell texts), cards, definitions, and texts of plots."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.cards: list[list[str]] = []
        self.definitions: list[tuple[str, str]] = []
        self.plotted: list[str] = []
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
        elif tag == "li":
            self.cards.append([])
        elif tag == "dt":
            self.definitions.append(("", ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside, data = self._open[-1] if self._open else "", " ".join(data.split())
        in_cell = inside == "td" or "tr" in self._open and inside in ("small", "th", "button")
        in_row = "tbody" in self._open and bool(self.tables[-1][1][-1])  # not of headings
        if not data:
            return
        if in_cell and (inside == "td" or in_row):
            self.tables[-1][1][-1][-1] += (" " if inside == "small" else "") + data
        elif inside in ("strong", "span") and "li" in self._open:
            self.cards[-1].append(data)
        elif inside in ("dt", "dd"):
            name = data if inside == "dt" else self.definitions[-1][0]
            self.definitions[-1] = (name, "" if inside == "dt" else data)
        elif inside in ("text", "tspan"):
            self.plotted.append(data)

    def rows(self, title: str) -> list[list[str]]:
        """A table's rows, without those of headings."""
        return [row for row in dict(self.tables)[title] if row]


class QueryChange(NamedTuple):
    """The change that a line of the worst or best queries should show, whichever query has it."""

    change: float
    rows: Sequence[Mapping[str, str]]
    full: str
    pruned: str

    def check(self, cells: Sequence[str]) -> int:
        query = cells[0].partition(": ")[0]
        row = next(row for row in self.rows if row["query"] == query)
        values = [float(row[f"nDCG@10 {name}"]) for name in (self.full, self.pruned)]
        assert all(map(_same, cells[2:], [*values, values[1] - values[0]])), cells
        assert _same(cells[4], self.change), cells
        return 3


def check_page(dom: str, folder: Path) -> int:
    """Compare every table, card and definition with the files in ``folder``; count numbers."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    page = Page(dom)
    checked = check_overview(dom, report, "nDCG@5")
    checked += check_listed_queries(dom, folder, report, "nDCG@5")
    expected = [*_tables(report, folder)]
    tables = [table for table in page.tables if table[0] != "All queries"]  # in another order
    assert [title for title, _ in tables] == [title for title, _ in expected]
    for (title, shown), (_, rows) in zip(tables, expected):
        shown = [row for row in shown if row]
        assert len(shown) == len(rows), title
        for cells, row in zip(shown, rows):
            if isinstance(row, QueryChange):
                checked += row.check(cells)
                continue
            labels, numbers = row
            assert cells[: len(labels)] == list(labels), title
            found = [text for cell in cells[len(labels) :] for text in _numbers(cell)]
            _check_numbers(found, [number for number in numbers if number is not None], cells)
            checked += len(found)
    checked += _check_cards([card for card in page.cards if card], report)
    _check_definitions(page.definitions, report)
    for entry in report["indexes"].values():
        for size in entry["bytes_by_kind"].values():
            assert not size or f"{size / 1e6:.3g}" in page.plotted, "the plot of bytes"
    return checked


def _check_numbers(shown: Sequence[str], wanted: Expected, where: object) -> None:
    assert len(shown) == len(wanted) and all(map(_same, shown, wanted)), (where, shown, wanted)


def _numbers(cell: str) -> list[str]:
    return NUMBER.findall(cell.replace("top-", ""))


def _same(text: str, number: float) -> bool:
    """Whether ``text`` is ``number`` rounded to the decimals shown, with a fair sign."""
    decimals = len(text.partition(".")[2])
    shown = float(text.replace(",", ""))
    return abs(shown - number) <= 0.5001 * 10**-decimals


def _tables(report: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, list]]:
    names = [*report["indexes"]]
    several = len(report["query_sets"]) > 1
    sets = {f", {k}" if several else "": entry for k, entry in report["query_sets"].items()}
    two = len(report["measures"]["MAP"]["means"]) == 2
    yield "Overview, nDCG@5", _overview(report, "nDCG@5")
    for where, entry in sets.items():
        yield from _effectiveness(where, entry, two)
    if not two:
        for where, entry in sets.items():
            yield from _every_test(where, entry["measures"])
    yield "Size", _size(report, names)
    timed = [*report["latency_ms"]]
    yield "Latency", _latency(report, timed)
    strata = report["latency_strata"]
    yield "Latency by query length", _strata(strata["by_length"])
    for kind, key in (("terms", "by_dropped"), ("postings", "by_gone")):
        title = f"Latency by share of a query's {kind} that pruning dropped"
        yield title, _strata(strata[key])
    yield "Postings visited a query", _postings_visited(report, timed)
    for label in report["query_sets"]:
        for name in names[1:]:
            yield from _queries(folder, f".{label}" if several else "", names[0], name)
    for name in names[1:]:
        yield from _terms(report["terms_by_index"][name])


def _p(value: float | None) -> list[float]:
    return [] if value is None else [0.001 if value < 0.001 else value]


def _interval(bounds: Sequence[float] | None) -> Sequence[float]:
    return bounds or []


def _effectiveness(where: str, entry: Mapping[str, Any], two: bool) -> Iterator[tuple[str, list]]:
    measures = entry["measures"]
    systems = [*measures["MAP"]["means"]]
    if two:
        rows = [
            ([m], [*(measures[m][s] for s in systems), measures[m]["difference"],
                   *_interval(measures[m]["ci95_corrected"]), *_p(measures[m]["p_value"]),
                   *(measures[m][k] for k in ("wins", "ties", "losses"))])
            for m in MEASURES
        ]  # fmt: skip
        yield f"Effectiveness{where}", rows
        yield from [_effect_sizes(where, measures)]
    else:
        yield f"Effectiveness{where}", [([s], [measures[m][s] for m in MEASURES]) for s in systems]
        rows = [
            ([f"{test['treatment']} - {test['baseline']}"],
             [measures[m]["tests"][at]["difference"] for m in MEASURES])
            for at, test in enumerate(measures["MAP"]["tests"])
        ]  # fmt: skip
        yield f"Differences{where}", rows
    effects = entry["rank_effects"].items()
    keys = ("overlap_at_10", "rbo", "kendall_tau")
    yield f"Rankings{where}", [([name], [e[k] for k in keys]) for name, e in effects]


def _effect_sizes(where: str, measures: Mapping[str, Any]) -> tuple[str, list]:
    rows = []
    for m in MEASURES:
        for t in measures[m]["tests"]:
            several = len(measures[m]["tests"]) > 1
            label = f"{m}, {t['treatment']} - {t['baseline']}" if several else m
            bounds = _interval(t["effect_size_ci95_corrected"])
            rows.append(([label], [t["effect_size"], *bounds, *_p(t["p_randomisation"])]))
    return f"Effect size{where}", rows


def _every_test(where: str, measures: Mapping[str, Any]) -> Iterator[tuple[str, list]]:
    yield f"Tests{where}", [
        ([f"{m}, {t['treatment']} - {t['baseline']}"],
         [t["difference"], *_interval(t["ci95_corrected"]), *_p(t["p_value"]),
          t["wins"], t["ties"], t["losses"]])
        for m in MEASURES for t in measures[m]["tests"]
    ]  # fmt: skip
    yield _effect_sizes(where, measures)


def _size(report: Mapping[str, Any], names: Sequence[str]) -> list:
    indexes = [report["indexes"][name] for name in names]
    values = {
        w: [entry[w] for entry in indexes] for w in ("documents", "terms", "postings", "bytes")
    }
    kinds = indexes[0]["bytes_by_kind"]
    for kind in sorted(kinds, key=lambda k: (-kinds[k], k)):
        sizes = [entry["bytes_by_kind"].get(kind, 0) for entry in indexes]
        values |= {f"... {kind}": sizes} if any(sizes) else {}
    rows = []
    for what, (before, *after) in values.items():
        changes = [None if not before else 100 * (a - before) / before for a in after]
        rows.append(([what], [before, *(n for pair in zip(after, changes) for n in pair)]))
    return rows


def _latency(report: Mapping[str, Any], names: Sequence[str]) -> list:
    rows = []
    for key, how in (("latency_ms", ""), ("latency_exhaustive_ms", " exhaustive")):
        for depth in DEPTHS:
            for name in names:
                entry = report[key][name][depth]
                numbers = [entry[k] for k in ("mean", "p50", "p95", "p99")]
                if name != names[0]:
                    ratio = report["latency_ratio"][name][depth + how.replace(" ", "_")]
                    numbers += [
                        report[key][names[0]][depth]["mean"] / entry["mean"],
                        *ratio["ci95"],
                    ]
                rows.append(([f"{depth.replace('top', 'top-')}{how}, {name}"], numbers))
    return rows


def _strata(rows: Sequence[Mapping[str, Any]]) -> list:
    return [
        ([entry["stratum"], entry["index"]],
         [entry["queries"], *(n for d in DEPTHS
                           for n in (entry[d]["ratio"], *_interval(entry[d]["ci95"])))])
        for entry in rows
    ]  # fmt: skip


def _postings_visited(report: Mapping[str, Any], names: Sequence[str]) -> list:
    labels = {"top10": "top-10", "top1000": "top-1000", "exhaustive": "exhaustive"}
    return [
        ([label], [report["postings_per_query"][name][mode] for name in names])
        for mode, label in labels.items()
    ]


def _queries(folder: Path, ending: str, full: str, name: str) -> Iterator[tuple[str, list]]:
    with (folder / f"per_query{ending}.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    changes = [float(r[f"nDCG@10 {name}"]) - float(r[f"nDCG@10 {full}"]) for r in rows]
    for title, sign in (("Lost most", -1), ("Gained most", 1)):
        worst = sorted((c for c in changes if c * sign > 1e-9), key=lambda c: -abs(c))[:10]
        if worst:
            yield f"{title}, nDCG@10", [QueryChange(change, rows, full, name) for change in worst]


def _terms(entry: Mapping[str, Any]) -> Iterator[tuple[str, list]]:
    titles = {
        "most_dropped": f"Terms dropped: {entry['dropped']:,}, of which these save most postings",
        "raised": "Terms raised most",
        "lowered": "Terms lowered most, but kept",
    }
    for key, title in titles.items():
        if entry[key]:
            columns = ("tdv", "df_before", "df_after")
            yield title, [([row["term"]], [row[c] for c in columns]) for row in entry[key]]


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
        rows.append(([name], numbers))
    return rows


def _against_first(entry: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    first = next(iter(entry["means"]))
    pairs = {(test["baseline"], test["treatment"]): test for test in entry["tests"]}
    return pairs.get((first, name))


def check_overview(dom: str, report: Mapping[str, Any], measure: str) -> int:
    """Compare matrix, marks and plots of the overview with ``report``; count numbers."""
    checked = 0
    rows, expected = Page(dom).rows(f"Overview, {measure}"), _overview(report, measure)
    assert [row[0] for row in rows] == [labels[0] for labels, _ in expected]
    for cells, (_, numbers) in zip(rows, expected):
        texts = [text for cell in cells[1:] for text in _numbers(cell.replace("as full", ""))]
        _check_numbers(texts, numbers, cells)
        checked += len(numbers)
        for cell, entry in zip(cells[5:], report["query_sets"].values()):
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
_BAR = re.compile(r'<line x1="([\d.]+)" x2="[\d.]+" y1="([\d.]+)" y2="([\d.]+)"')


def _check_points(dom: str, report: Mapping[str, Any], measure: str) -> int:
    """Each mark stands where its values put it, on both plots, and so do its bar's ends."""
    sets, indexes = report["query_sets"], report["indexes"]
    first = next(iter(indexes))
    costs = {
        "bytes": {name: entry["bytes"] for name, entry in indexes.items()},
        "latency": {name: entry["top10"]["mean"] for name, entry in report["latency_ms"].items()},
    }
    for kind, cost in costs.items():
        drawn = dom[dom.index(f'id="plot-{kind}"') :]
        drawn = drawn[: drawn.index("</svg>")]
        names = [*report["latency_ms"]]  # the tuned one takes the first's bytes, beside its mark
        places = []  # x, y on the screen; cost, value; ends of the bar on the screen, and values
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
        bars = _BAR.findall(drawn[drawn.index('class="point"') :])
        bounds = [
            [entry["measures"][measure]["means"][first] + end for end in test["ci95_corrected"]]
            for entry in sets.values()
            for name in names
            if (test := _against_first(entry["measures"][measure], name)) and test["ci95_corrected"]
        ]
        assert len(bars) == len(bounds)
        pairs = [(place[5], place[3]) for place in places]
        for end in (0, 1):
            drawn_at = sorted((float(bar[1 + end]) for bar in bars), reverse=True)
            pairs += zip(sorted(each[end] for each in bounds), drawn_at)
        _check_straight(pairs)
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
    shown = Page(dom).rows("All queries")
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


def _check_cards(cards: Sequence[Sequence[str]], report: Mapping[str, Any]) -> int:
    if len(report["indexes"]) > 2:  # the overview speaks of them all
        assert not {card[0] for card in cards} & {"bytes", "postings", *MEASURES}
        return 0
    full, pruned = [*report["indexes"].values()][:2]
    first, second = [*report["indexes"]][:2]
    wanted: dict[str, Expected] = {
        what: [100 * (pruned[what] / full[what] - 1), full[what], pruned[what]]
        for what in ("bytes", "postings")
    }
    for depth in DEPTHS:
        before, after = (report["latency_ms"][n][depth]["mean"] for n in (first, second))
        bounds = report["latency_ratio"][second][depth]["ci95"]
        wanted[f"{depth.replace('top', 'top-')} faster"] = [
            before / after,
            95,
            *bounds,
            before,
            after,
        ]
    for measure in ("nDCG@5", "R@1000"):
        entry = report["measures"][measure]
        wanted[measure] = [entry["difference"], 95, *entry["ci95_corrected"], entry[first],
                           entry[second], *_p(entry["p_value"])]  # fmt: skip
    shown = {card[0]: [n for text in card[1:] for n in _numbers(text)] for card in cards
             if card[0] in wanted}  # fmt: skip
    assert shown.keys() == wanted.keys()
    for label, numbers in wanted.items():
        _check_numbers(shown[label], numbers, label)
    return sum(map(len, wanted.values()))


def _check_definitions(shown: Sequence[tuple[str, str]], report: Mapping[str, Any]) -> None:
    groups = ("rules", "parameters", "latency_setup", "machine", "versions")
    wanted = [(k.replace("_", " "), v) for group in groups for k, v in report[group].items()]
    assert [name for name, _ in shown] == [name for name, _ in wanted]
    for (name, text), (_, value) in zip(shown, wanted):
        for leaf in _leaves(value):
            assert " ".join(str(leaf).split()) in text, name


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield name
            yield from _leaves(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    else:
        yield value
