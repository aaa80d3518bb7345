#!/usr/bin/env python3
"""The README's picture: ranking against index size, of the rows that frontier.py measured.

    scripts/bench/picture.py --raw scripts/bench/runs/2026-11-23-frontier/raw.json \
        --output scripts/bench/runs/2026-11-23-frontier/frontier.svg

RIDF's indexes are searched with k1 and b tuned on the training queries, as learned ones are:
``tuned-peers.json`` beside the raw figures has that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MEASURE = "nDCG@5"
PANELS = {
    "tydi-dev": "questions (tydi-dev)",
    "dbpedia": "keyword queries (dbpedia)",
    "boolq-train": "search questions (boolq-train)",
    "fever-dev": "claims (fever-dev)",
}
"""Query set -> title of its panel."""
LINES = {
    ("postings-", "bytes-"): ("learned (this project)", "#D55E00", "o", "-"),
    ("full-tuned", "ridf-"): ("RIDF, tuned k1 and b, from the full index on", "#0072B2", "s", "--"),
}
"""How the names of a line's indexes begin -> the line."""
POINTS = {
    "full": ("full index, Anserini's k1 and b", "#000000", "D"),
    "full-tuned": ("full index, tuned k1 and b", "#000000", "*"),
}


def draw(axes: Axes, rows: Mapping[str, Mapping[str, Any]], queries: str) -> None:
    """One query set: a line a method, from the largest index to the smallest, and the full one."""
    for names, (label, colour, marker, style) in LINES.items():
        at = sorted(
            (row["bytes"] / 1e6, row[queries][MEASURE])
            for name, row in rows.items()
            if name.startswith(names) and row["bytes"]
        )
        axes.plot(
            *zip(*at), marker=marker, linestyle=style, color=colour, label=label, markersize=5
        )
    for name, (label, colour, marker) in POINTS.items():
        axes.plot(
            rows["full"]["bytes"] / 1e6, rows[name][queries][MEASURE], marker, color=colour,
            label=label, markersize=7,
        )  # fmt: skip
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.margins(y=0.12)


def tuned_rows(raw: Mapping[str, Any], tuned: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows by index, those of unlearned methods as they rank with tuned k1 and b."""
    rows = {row["index"]: row for row in raw["rows"]}
    for name, values in tuned[MEASURE].items():
        if name in rows:
            found = {queries: {MEASURE: x} for queries, x in zip(tuned["sets"], values)}
            rows[name] = {**rows[name], **found}
    rows["full-tuned"]["bytes"] = rows["full"]["bytes"]  # the same index
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--raw", type=Path, required=True, help="raw.json of a run of frontier.py")
    parser.add_argument("--output", type=Path, required=True, help="the picture, .svg or .png")
    given = parser.parse_args()
    files = given.raw, given.raw.with_name("tuned-peers.json")
    rows = tuned_rows(*(json.loads(file.read_text("utf-8")) for file in files))
    style = {
        "font.size": 10,
        "lines.markersize": 6,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context({**style, "svg.hashsalt": "tdv-lucene"}):
        figure = Figure(figsize=(9, 6.4), layout="constrained")
        panels = figure.subplots(2, 2, sharex=True).flat
        for axes, (queries, title) in zip(panels, PANELS.items(), strict=True):
            draw(axes, rows, queries)
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
