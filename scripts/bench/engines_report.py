"""The table and the picture of engines.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from results import hardware, markdown_table, write_run

from tdv_lucene.timing.latency import paired_ratio

DEPTHS = {10: "ten best", 1000: "a thousand"}
COLOURS = {
    "lucene-10": "#D55E00", "lucene-9": "#E69F00", "pisa": "#0072B2", "tantivy": "#009E73",
    "bm25s": "#CC79A7", "bmp": "#56B4E9", "seismic": "#999999",
}  # fmt: skip
TICKS = [0.1, 0.2, 0.5, 1, 2, 5]
MARKERS = {"full": "o", "tuned": "*"}


def report(output: Path, looked: dict[str, Any], times: dict[str, Any]) -> None:
    """Write ``table.md``, ``raw.json`` and ``engines.svg`` into the folder ``output``."""
    times = {name: found for name, found in times.items() if found}
    text = [hardware(), "", _sizes(looked, times)]
    for k, title in DEPTHS.items():
        text += ["", f"**{title}**, mean and 99th percentile, ms:", "", _overview(times, k)]
    for name, found in times.items():
        for k, title in DEPTHS.items():
            text += ["", f"**{name}, {title}** ({len(found['queries'])} queries):", ""]
            text.append(_latencies(found, k))
    raw = {"looked": looked, "times": {n: _summary(f) for n, f in times.items()}}
    write_run(output, "\n".join(text) + "\n", raw, ("table.md", "raw.json"))
    _picture(output / "engines.svg", looked, times)


def _sizes(looked: dict[str, Any], times: dict[str, Any]) -> str:
    """What does not depend on a depth: bytes, rankings, two threads, opening."""
    first = next(iter(looked.values()))
    sets = [name for name in first if name not in ("bytes", "memory")]
    kinds = list(first[sets[0]])
    rows = []
    for row, values in looked.items():
        timed = [found for found in times.values() if row in found["open_ms"]]
        second = [found["per_second"][row] for found in timed]
        opened = [found["open_ms"][row] for found in timed]
        measures = [" ".join(f"{values[s][kind]:.3f}"[1:] for s in sets) for kind in kinds]
        rows.append(
            [row, f"{values['bytes'] / 1e6:.1f}", f"{values['memory'] / 1e6:.0f}", *measures]
            + ([f"{np.mean(second):,.0f}", f"{np.median(opened):.1f}"] if timed else ["", ""])
        )
    head = ["engine and index", "MB on disk", "MB in memory", *kinds]
    return markdown_table([*head, "queries/s, two threads", "ms to open"], rows)


def _overview(times: dict[str, Any], k: int) -> str:
    """Mean and 99th percentile of all sets."""
    rows = []
    for row in next(iter(times.values()))["open_ms"]:
        ms = [_ms(found, row, k) for found in times.values()]
        rows.append([row, *(f"{of.mean():.3f}, {np.percentile(of, 99):.2f}" for of in ms)])
    return markdown_table(["engine and index", *times], rows)


def _latencies(found: dict[str, Any], k: int) -> str:
    rows = []
    for row in found["open_ms"]:
        ms = _ms(found, row, k)
        spread = [f"{value:.3f}" for value in (ms.mean(), *np.percentile(ms, (50, 95, 99)))]
        rows.append([row, *spread, *_ratios(found, row, k)])
    spread = ["mean ms", "p50", "p95", "p99"]
    ratios = ["to its own full", "its p99", "to Lucene 10's full"]
    return markdown_table(["engine and index", *spread, *ratios], rows)


def _ratios(found: dict[str, Any], row: str, k: int) -> list[str]:
    """How many times as fast as the same engine's full index, and as Lucene 10's."""
    own = row.rsplit(" ", 1)[0] + " full"
    cells = []
    for base in (own, "lucene-10 full"):
        before, after = _ms(found, base, k), _ms(found, row, k)
        ratio = paired_ratio(before, after)
        low, high = ratio["ci95"]
        cells.append(f"x{ratio['ratio']:.2f} ({low:.2f} to {high:.2f})" if base != row else "")
        if base == own:
            tail = np.percentile(before, 99) / np.percentile(after, 99)
            cells.append(f"x{tail:.2f}" if base != row else "")
    return cells


def _ms(found: dict[str, Any], row: str, k: int) -> np.ndarray:
    return np.array(found["ns"][f"{row}@{k}"]) / 1e6


def _summary(found: dict[str, Any]) -> dict[str, Any]:
    """Means and percentiles of a set, for programs."""
    ms = {}
    for row in found["open_ms"]:
        for k in DEPTHS:
            values = _ms(found, row, k)
            percentiles = np.percentile(values, (50, 95, 99))
            ms[f"{row}@{k}"] = [round(float(v), 4) for v in (values.mean(), *percentiles)]
    kept = {key: found[key] for key in ("open_ms", "per_second")}
    return {"queries": len(found["queries"]), "mean, p50, p95, p99 ms": ms, **kept}


def _picture(output: Path, looked: dict[str, Any], times: dict[str, Any]) -> None:
    """nDCG@5 against the mean and the 99th percentile of the ten best; area as bytes."""
    matplotlib.rcParams["svg.hashsalt"] = "engines"
    figure = Figure(figsize=(4.2 * len(times), 7), layout="constrained")
    panels = figure.subplots(2, len(times), squeeze=False)
    for column, (name, found) in enumerate(times.items()):
        for line, title in enumerate(("mean", "99th percentile")):
            axes = panels[line][column]
            for row in found["open_ms"]:
                ms = _ms(found, row, 10)
                engine, index = row.split(" ", 1)[0], row.rsplit(" ", 1)[1]
                axes.scatter(
                    np.percentile(ms, 99) if line else ms.mean(), looked[row][name]["nDCG@5"],
                    s=looked[row]["bytes"] / 4e5, color=COLOURS[engine], alpha=0.7,
                    marker=MARKERS.get(index, "v" if index.endswith("60") else "s"), linewidths=0,
                )  # fmt: skip
            axes.set_xscale("log")
            axes.set_xticks(TICKS, [str(tick) for tick in TICKS], minor=False)
            axes.set_xticks([], minor=True)
            axes.set_title(name if not line else "")
            axes.set_xlabel(f"ms a query, {title}")
            axes.grid(color="#dddddd")
            axes.set_axisbelow(True)
    for line in panels:
        line[0].set_ylabel("nDCG@5")
    engines = [
        matplotlib.lines.Line2D([], [], marker="o", linestyle="", color=c, label=e)
        for e, c in COLOURS.items()
        if any(row.startswith(e) for found in times.values() for row in found["open_ms"])
    ]
    shapes = [
        matplotlib.lines.Line2D([], [], marker=m, linestyle="", color="black", label=label)
        for m, label in (
            ("o", "full"),
            ("*", "full, tuned"),
            ("s", "-40 % bytes"),
            ("v", "-60 %"),
        )
    ]
    figure.legend(handles=engines + shapes, loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(output, metadata={"Date": None})
