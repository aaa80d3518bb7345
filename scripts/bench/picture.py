#!/usr/bin/env python3
"""The README's picture: ranking against index size, of what rivals.py measured.

    scripts/bench/picture.py --raw scripts/bench/runs/2026-11-24-rivals/raw.json \
        --output scripts/bench/runs/2026-11-24-rivals/rivals.svg
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MEASURE = "nDCG@5"
PANELS = {
    "wiki165k": (
        "Questions asked without seeing the text: a gain\n(tydi-dev on 165,255 Wikipedia articles)",
        1e6, "MB",
    ),
    "lang/fr-piaf": (
        "Questions about details of a passage: a loss\n(fr-piaf, 1,518 French passages)",
        1e3, "KB",
    ),
}  # fmt: skip
"""Collection -> title of its panel, and the unit of bytes."""
LINES = {
    r"learned-.*": ("learned (this project)", "#D55E00", "o", "-"),
    r"(ridf-.*|full)-tuned": ("RIDF, tuned k1 and b", "#0072B2", "s", "--"),
    r"(carmel-delta-.*|full)-tuned": ("Carmel's rule, tuned k1 and b", "#009E73", "^", ":"),
}
"""Names of a line's indexes -> the line."""
POINTS = {
    "full-tuned": ("full index, tuned k1 and b", "*", 13),
    "full": ("full index, Anserini's k1 and b", "D", 6),
}
CHOSEN = "learned-recommended"


def draw(axes: Axes, rows: list[Mapping[str, Any]], unit: float) -> None:
    """One query set: a line a method, from the largest index to the smallest, and the full ones."""
    at = {row["index"]: (row["bytes"] / unit, row[MEASURE]) for row in rows}
    axes.axhline(at["full-tuned"][1], color="#000000", linewidth=0.8, linestyle=(0, (1, 2)))
    for names, (label, colour, marker, style) in LINES.items():
        points = sorted(point for name, point in at.items() if re.fullmatch(names, name))
        axes.plot(*zip(*points), marker=marker, linestyle=style, color=colour, label=label)
    for name, (label, marker, size) in POINTS.items():
        axes.plot(*at[name], marker, color="#000000", label=label, markersize=size, clip_on=False)
    axes.plot(*at[CHOSEN], "o", markersize=14, markerfacecolor="none", color="#D55E00",
              label="what learn recommends")  # fmt: skip
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.margins(y=0.12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--raw", type=Path, required=True, help="raw.json of a run of rivals.py")
    parser.add_argument("--output", type=Path, required=True, help="the picture, .svg or .png")
    given = parser.parse_args()
    rows = json.loads(given.raw.read_text(encoding="utf-8"))["rows"]
    style = {
        "font.size": 10,
        "lines.markersize": 6,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context({**style, "svg.hashsalt": "tdv-lucene"}):
        figure = Figure(figsize=(9, 4.6), layout="constrained")
        for axes, (collection, (title, unit, name)) in zip(figure.subplots(1, 2), PANELS.items()):
            draw(axes, rows[collection], unit)
            axes.set_title(title, fontsize=11)
            axes.set_xlabel(f"index size, {name}")
        figure.supylabel(f"{MEASURE}, BM25", fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(
            given.output, metadata={"Date": None} if given.output.suffix == ".svg" else {}
        )


if __name__ == "__main__":
    main()
