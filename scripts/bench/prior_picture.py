#!/usr/bin/env python3
"""The learning curve: nDCG@5 at 45 % against judged queries, of what prior_curve.py measured.

    scripts/bench/prior_picture.py --curve scripts/bench/runs/NAME/curve.json --output FILE.svg

With --table it prints the same means as a Markdown table.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from results import markdown_table

LINES = {
    "with the prior": ("learned, from the prior on", "#D55E00", "o", "-"),
    "no judgements": ("pruned without judgements", "#009E73", "", "--"),
    "without a prior": ("learned without the prior", "#CC79A7", "^", ":"),
    "full tuned": ("full index, tuned k1 and b", "#0072B2", "s", "-"),
    "full": ("full index", "#000000", "", "--"),
}
"""What was measured -> its line."""
Curve = dict[str, list[dict[str, float]]]
"""Number of queries -> what each draw of so many measured."""


def mean(draws: list[dict[str, float]], what: str) -> float | None:
    """Over the draws; None where not every draw measured it."""
    found = [draw[what] for draw in draws if what in draw]
    return float(np.mean(found)) if found and len(found) == len(draws) else None


def draw_curves(curves: dict[str, Curve], output: Path) -> None:
    """A panel a collection; its queries that were not drawn measure every line. A collection with
    one number of queries makes no line."""
    columns = 3
    curves = {name: curve for name, curve in curves.items() if len(curve) > 1}
    rows = -(-len(curves) // columns)
    with matplotlib.rc_context({"font.size": 9, "svg.hashsalt": "tdv-lucene"}):
        figure = Figure(figsize=(9, 2.4 * rows + 0.6), layout="constrained")
        panels = [*figure.subplots(rows, columns, squeeze=False).flat]
        for axes, (name, curve) in zip(panels, curves.items()):
            for what, (label, colour, marker, style) in LINES.items():
                found = {int(size): mean(draws, what) for size, draws in curve.items()}
                known = {size: value for size, value in found.items() if value is not None}
                axes.plot([*known], [*known.values()], marker=marker, color=colour,
                          linestyle=style, label=label, markersize=5)  # fmt: skip
            axes.set_title(name, fontsize=10)
            axes.set_xscale("log")
            axes.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"], minor=False)
            axes.minorticks_off()
            axes.grid(color="#dddddd")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
        figure.supxlabel("judged queries")
        figure.supylabel("nDCG@5, BM25")
        figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else {})


def table_of(curves: dict[str, Curve]) -> str:
    rows = []
    for name, curve in curves.items():
        for size, draws in curve.items():
            if draws:
                means = [mean(draws, what) for what in LINES]
                cells = ["" if value is None else f"{value:.3f}" for value in means]
                rows.append([name, size, str(len(draws)), *cells])
    head = ("", "queries", "draws", *(label for label, *_ in LINES.values()))
    return markdown_table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--curve", type=Path, required=True, help="output of prior_curve.py")
    parser.add_argument("--output", type=Path, help="the picture, .svg or .png")
    parser.add_argument("--table", action="store_true", help="print a table")
    given = parser.parse_args()
    curves = json.loads(given.curve.read_text(encoding="utf-8"))
    if given.output:
        draw_curves(curves, given.output)
    if given.table:
        print(table_of(curves))


if __name__ == "__main__":
    main()
