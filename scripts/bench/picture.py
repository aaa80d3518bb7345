#!/usr/bin/env python3
"""The README's picture: ranking against index size, of the table's entries in raw.json.

    scripts/bench/picture.py --raw scripts/bench/runs/2026-11-22-table/raw.json \
        --output scripts/bench/runs/2026-11-22-table/frontier.svg
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MEASURE = "nDCG@5"
PANELS = {
    "wiki165k tydi-dev (from tydi-train)": "questions (tydi-dev)",
    "wiki165k dbpedia (from tydi-train)": "keyword queries (dbpedia)",
    "wiki165k boolq-train (from tydi-train)": "search questions (boolq-train)",
    "wiki165k fever-dev (from tydi-train)": "claims (fever-dev)",
}
"""Row of the table -> title of its panel."""
LINES = {
    "tdv": ("learned (this project)", "#D55E00", "o", "-"),
    "ridf, tuned": ("RIDF, tuned k1 and b", "#0072B2", "s", "--"),
}
POINTS = {
    "full": ("full index, Anserini's k1 and b", "#000000", "D"),
    "full, tuned": ("full index, tuned k1 and b", "#000000", "*"),
}


def draw(axes: Axes, entries: Sequence[Mapping[str, Any]]) -> None:
    """One query set: a line a method, from the largest index to the smallest, and the full one."""
    for method, (label, colour, marker, style) in LINES.items():
        at = sorted((e["bytes"] / 1e6, e[MEASURE]) for e in entries if e["method"] == method)
        axes.plot(
            *zip(*at), marker=marker, linestyle=style, color=colour, label=label, markersize=5
        )
    full = next(entry for entry in entries if entry["method"] == "full")
    for method, (label, colour, marker) in POINTS.items():
        found = next(entry for entry in entries if entry["method"] == method)
        axes.plot(
            full["bytes"] / 1e6, found[MEASURE], marker, color=colour, label=label, markersize=7
        )
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.margins(y=0.12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--raw", type=Path, required=True, help="raw.json of a table's run")
    parser.add_argument("--output", type=Path, required=True, help="the picture, .svg or .png")
    given = parser.parse_args()
    entries = json.loads(given.raw.read_text(encoding="utf-8"))["entries"]
    style = {
        "font.size": 10,
        "lines.markersize": 6,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context({**style, "svg.hashsalt": "tdv-lucene"}):
        figure = Figure(figsize=(9, 6.4), layout="constrained")
        panels = figure.subplots(2, 2, sharex=True).flat
        for axes, (row, title) in zip(panels, PANELS.items(), strict=True):
            draw(axes, [e for e in entries if e["row"] == row and e["model"] == "bm25"])
            axes.set_title(title, fontsize=11)
        figure.supxlabel("index size, MB")
        figure.supylabel(f"{MEASURE}, BM25")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
        figure.savefig(
            given.output, metadata={"Date": None} if given.output.suffix == ".svg" else {}
        )


if __name__ == "__main__":
    main()
