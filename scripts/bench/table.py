#!/usr/bin/env python3
"""Learned pruning against every unlearned one, at the same size, on real Lucene indexes.

Rows are query sets (see table_rows.py), columns shares of the postings removed; every cell is an
index pruned and searched through the package's public functions, in one process. Cells, values
and tuned parameters are kept in --work beside what they were made from, so that a second run
makes only what is missing, and a killed run is resumed by the same command.

    scripts/bench/table.py --collections DIR --work DIR --output scripts/bench/runs/NAME
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import table_ablation
from table_bars import SIZES, Entry, Line
from table_methods import Method, Search
from table_rows import ROWS, Row, Split
from table_summary import write
from table_work import MEASURES, Work

from tdv_lucene import TdvError
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.paper.pairwise import PaperRecipe
from tdv_lucene.peers.orders import PEERS

PAPER = replace(PaperRecipe(), folds=2)
"""Its folds only validate points; the values are those of a training on all queries, so two folds
give the same kind of values in half the time."""
TDV = replace(DefaultRecipe(), reductions=SIZES, prior=False)
"""Its points are validated at the table's sizes only. Without the prior, which was made of the
queries that are measured here; "tdv-prior" starts from one made without the row's collection."""
METHODS = (
    Method("tdv", TDV),
    Method("tdv-prior", replace(TDV, prior=True)),
    Method("tdv-speed", replace(TDV, prefer="speed")),
    Method("tdv-df2", TDV, min_doc_freq=2, values_of="tdv"),
    Method("tdv-no-values", replace(TDV, values=False)),
    Method("tdv-no-lead", replace(TDV, lead=False)),
    Method("binary", TDV, binary=True),
    Method("paper", PAPER),
    *(
        Method(f"{name}, tuned" if tuned else name, values_of=name, tuned=tuned)
        for name in PEERS
        for tuned in (False, True)
    ),
)
MODELS = ("bm25", "qld", "tfidf")
TFIDF_SIZES = (0.45,)


def sizes_of(method: Method, model: str, wanted: list[float]) -> list[float]:
    allowed = TFIDF_SIZES if model == "tfidf" else SIZES
    return [s for s in wanted if s in allowed and not (s == 0 and method.changes_nothing_at_zero)]


class Group(NamedTuple):
    """Values, and what is searched on the indexes they make.

    ``learned_for`` is the model of learned values; unlearned ones have neither it nor a split.
    """

    split: Split | None
    learned_for: str | None
    searches: list[Search]


class Table:
    """All cells: ``fill`` makes those that are missing, ``lines`` reads those there are."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.all_rows = [replace(row, seed=args.seed) for row in ROWS]
        self.rows = [r for r in self.all_rows if args.rows is None or r.key in args.rows]
        self.methods = [m for m in METHODS if args.methods is None or m.name in args.methods]
        self.works: dict[str, Work] = {}
        self.failures: list[str] = []

    def work(self, row: Row) -> Work:
        if row.collection not in self.works:
            self.works[row.collection] = Work(
                self.args.collections, self.args.work, row.collection, self.args.keep_values
            )
        return self.works[row.collection]

    def fill(self) -> None:
        """Collection by collection, so that an index pruned once is searched for all its rows."""
        for name in dict.fromkeys(row.collection for row in self.rows):
            rows = [row for row in self.rows if row.collection == name]
            print(f"== {', '.join(row.name for row in rows)}", flush=True)
            for row, model in itertools.product(rows, self.args.models):
                self._baselines(row, model)
            for method in self.methods:
                for group in self._groups(rows, method):
                    self._guarded(self.work(rows[0]), method, group, compute=True)

    def _baselines(self, row: Row, model: str) -> None:
        work = self.work(row)
        work.full(row.measured_queries(self.args.collections), model)
        for split in row.splits(self.args.collections):
            if model != "tfidf":
                tuned = work.tuned(row.tuning_queries(self.args.collections), split, model)
                work.full(split.test, model, **tuned)

    def _groups(self, rows: list[Row], method: Method) -> list[Group]:
        """What the rows need of a method, by the values they are pruned with."""
        if method.tuned:
            return [Group(None, None, list(self._tuned_searches(rows)))]
        if not method.trained:
            measured = [row.measured_queries(self.args.collections) for row in rows]
            of_model = {m: [Search(queries, m) for queries in measured] for m in self.args.models}
            if method.recipe is None:
                return [Group(None, None, [*itertools.chain(*of_model.values())])]
            return [Group(None, model, searches) for model, searches in of_model.items()]
        groups: dict[tuple[str, str], Group] = {}
        for row, model in itertools.product(rows, self.args.models):
            for split in row.splits(self.args.collections):
                group = groups.setdefault((model, split.name), Group(split, model, []))
                group.searches.append(Search(split.test, model))
        return list(groups.values())

    def _tuned_searches(self, rows: list[Row]) -> Iterator[Search]:
        """Each split's queries with what its training queries chose, where that is known."""
        for row, model in itertools.product(rows, self.args.models):
            queries = row.tuning_queries(self.args.collections)
            for split in row.splits(self.args.collections) if model != "tfidf" else ():
                parameters = self.work(row).tuned(queries, split, model, compute=False)
                if parameters is not None:
                    yield Search(split.test, model, parameters)

    def _guarded(self, work: Work, method: Method, group: Group, compute: bool) -> dict:
        """The cells of a group; what cannot be made is noted and left empty."""
        try:
            return self._cells(work, method, group, compute)
        except TdvError as error:
            self.failures.append(f"{work.collection}, {method.name}: {error}")
            print(f"FAILED {self.failures[-1]}", file=sys.stderr, flush=True)
            return {}

    def _cells(
        self, work: Work, method: Method, group: Group, compute: bool
    ) -> dict[tuple[str, float], list[dict[str, Any]]]:
        """(model, size) -> the cells there are of the group's query sets."""
        made = work.values(method, group.split, group.learned_for, compute=compute)
        if made is None:
            return {}
        found = {}
        for size in self.args.sizes:
            wanted = [
                search
                for search in group.searches
                if size in sizes_of(method, search.model, [size])
            ]
            if wanted:
                cells = work.pruned(method, made, size, wanted, compute)
                for search, cell in zip(wanted, cells):
                    found.setdefault((search.model, size), []).append(cell)
        return {key: cells for key, cells in found.items() if all(cells)}

    def lines(self) -> dict[str, dict[str, Line]]:
        """Model -> row -> line, of all cells there are; nothing is computed."""
        lines: dict[str, dict[str, Line]] = {model: {} for model in MODELS}
        self.args.models, self.args.sizes = list(MODELS), list(SIZES)
        for row in self.all_rows:
            if not self.work(row).sources.indexed:
                continue
            of_method = {method.name: self._read(row, method) for method in METHODS}
            for model in MODELS:
                line = self._line(row, model, of_method)
                if line is not None:
                    lines[model][row.name] = line
        return {model: by_name for model, by_name in lines.items() if by_name}

    def _read(self, row: Row, method: Method) -> dict[tuple[str, float], Entry]:
        """Entries by (model, size) of which every split's cell is there."""
        groups = self._groups([row], method)
        parts: dict[tuple[str, float], list[dict[str, Any]]] = {}
        for group in groups:
            for key, cells in self._guarded(self.work(row), method, group, compute=False).items():
                parts.setdefault(key, []).extend(cells)
        by_split = method.trained or method.tuned
        needed = len(row.splits(self.args.collections)) if by_split else 1
        order = list(row.measured_queries(self.args.collections).topics)
        return {key: _join(cells, order) for key, cells in parts.items() if len(cells) == needed}

    def _line(self, row: Row, model: str, of_method: dict) -> Line | None:
        work, measured = self.work(row), row.measured_queries(self.args.collections)
        order = list(measured.topics)
        full = work.full(measured, model, compute=False)
        if full is None:
            return None
        index = work.sources.about(work.sources.index)
        about = {"bytes": index["bytes"], "postings_bytes": index["bytes_by_kind"]["postings"]}
        tuned, tuning = None, row.tuning_queries(self.args.collections)
        if model != "tfidf":
            cells = [
                work.full(split.test, model, compute=False, **parameters)
                for split in row.splits(self.args.collections)
                if (parameters := work.tuned(tuning, split, model, compute=False))
            ]
            if all(cells) and len(cells) == len(row.splits(self.args.collections)):
                tuned = _join(cells, order)
        methods = {
            name: {size: entry for (m, size), entry in entries.items() if m == model}
            for name, entries in of_method.items()
        }
        return Line(Entry(_join([full], order).values, {**about, "version": full["version"]}),
                    tuned, methods)  # fmt: skip


def _join(cells: list[dict[str, Any]], order: list[str]) -> Entry:
    """One entry of the cells of all splits, in the row's order of queries."""
    values = {}
    for measure in MEASURES:
        by_query = {}
        for cell in cells:
            by_query.update(zip(cell["queries"], cell["values"][measure]))
        values[measure] = np.array([by_query[q] for q in order])
    numbers = ("removed", "bytes", "postings_bytes", "scale")
    about: dict[str, Any] = {
        name: round(float(np.mean([cell[name] for cell in cells])), 6)
        for name in numbers
        if all(name in cell for cell in cells)
    }
    about["version"] = ", ".join(sorted({cell["version"] for cell in cells}))
    about["unit"] = ", ".join(sorted({cell.get("unit", "") for cell in cells}))
    if any(cell["parameters"] for cell in cells):  # else the index's own
        about["parameters"] = [cell["parameters"] for cell in cells]
    return Entry(values, about)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("--collections", type=Path, required=True, help="test collections")
    add("--work", type=Path, required=True, help="folder for what is kept between runs")
    add("--output", type=Path, required=True, help="folder for summary.md and raw.json")
    add("--rows", nargs="*", choices=[r.key for r in ROWS], help="default: all")
    add("--seed", type=int, default=0, help="of the folds (default: 0)")
    add("--methods", nargs="*", choices=[m.name for m in METHODS], help="default: all")
    add("--models", nargs="*", choices=MODELS, default=list(MODELS), help="default: all")
    add("--sizes", nargs="*", type=float, choices=SIZES, default=list(SIZES), help="default: all")
    add("--ablation", action="store_true", help="measure the recipe's parts (table_ablation.py)")
    add("--lines", nargs="*", choices=table_ablation.CHANGES, help="of the ablation; default: all")
    add("--summary-only", action="store_true", help="compute nothing; write what there is")
    add("--keep-values", action="store_true",
        help="take learned values as they are, whatever recipe or code made them")  # fmt: skip
    args = parser.parse_args()
    args.collections, args.work = args.collections.resolve(), args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    table = Table(args)
    if args.ablation:
        lines = args.lines or list(table_ablation.CHANGES)
        print(table_ablation.run(args.collections, args.work, args.output, lines))
        return
    if not args.summary_only:
        table.fill()
    lines = table.lines()
    used = {
        version
        for by_name in lines.values()
        for line in by_name.values()
        for sizes in line.methods.values()
        for entry in sizes.values()
        for version in entry.about["version"].split(", ")
    }
    words = ["scripts/bench/table.py", *sys.argv[1:]]
    for folder, name in ((args.work, "WORK"), (args.collections, "COLLECTIONS")):
        words = [word.replace(str(folder), name) for word in words]
    steps = {
        "command": shlex.join(words),
        "commits": sorted(used),
        "failures": sorted(set(table.failures)),
    }
    print(write(args.output, lines, [m.name for m in METHODS], steps))


if __name__ == "__main__":
    main()
