"""Plots, as inline SVG for the report and as files: the only module that imports matplotlib.

Colours are Okabe and Ito's, blue and vermilion first, distinct for everyone and in grey. A pattern,
a line style or a label repeats what the colour says. Plots are narrow, so that their text stays
readable in narrow windows.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TdvError
from ..output import Output
from ..timing.latency import Latency

if TYPE_CHECKING:  # learning checks where a plot goes before it needs matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT = "plot"
_KINDS = ("svg", "png")
_MEASURES = ("nDCG@5", "R@1000")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
_PLATE = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"}
_WIDTH_INCHES = 5.2
_STEPS = 200  # of a line: one step for each of thousands of queries would make megabytes
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "none",  # text stays text: selectable, in the page's font
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
}


def plot_trade_off(trade_off: Mapping[str, Any], suffix: str, chosen: Mapping[str, float]) -> str:
    """Return an SVG of the measures at each operating point, relative to the full index.

    ``suffix`` distinguishes the plots of a page; ``chosen`` is the reduction of each index, by
    name.
    """
    removed = [100 * point["reduction"] for point in trade_off["points"]]
    with _figure(f"trade-off{suffix}", 2.6) as figure:
        axes = figure.subplots()
        for number, measure in enumerate(m for m in _MEASURES if m in trade_off["full"]):
            full = trade_off["full"][measure]
            if not full:  # no change is a share of it
                axes.plot([], [], " ", label=f"{measure}: 0 in the full index")
                continue
            change = [100 * (p["measures"][measure] / full - 1) for p in trade_off["points"]]
            axes.plot(removed, change, marker="os"[number], label=measure, **_style_of(number))
        axes.axhline(0, color="#444444", linewidth=1)
        for name, reduction in chosen.items():
            axes.axvline(100 * reduction, color="#444444", linestyle=":")
            axes.annotate(name, (100 * reduction, 0.02), (-3, 0), textcoords="offset points",
                          xycoords=("data", "axes fraction"), rotation=90, fontsize=8,
                          ha="right", va="bottom")  # fmt: skip
        axes.set_xlabel("postings dropped, %")
        axes.set_ylabel("change against full, %")
        axes.legend(frameon=False)
        return _inline(figure)


def plot_latency(latency: Latency, depth: str) -> str:
    """Return an SVG of the share of queries answered within a time, ``top10`` or ``top1000``."""
    from matplotlib.ticker import LogLocator, NullFormatter

    with _figure(f"latency-{depth}", 2.6) as figure:
        axes = figure.subplots()
        for number, name in enumerate(latency.names):
            times = np.sort(latency.per_query_ms(depth, name))
            shown = np.unique(np.linspace(0, len(times) - 1, _STEPS).round().astype(int))
            times, share = times[shown], (shown + 1) / len(times)
            axes.step(times, share, where="post", label=name, linewidth=2, **_style_of(number))
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("milliseconds, logarithmic")
        axes.set_ylabel("share of queries")
        axes.legend(frameon=False, loc="upper left", fontsize=8)
        return _inline(figure)


def check_plot(
    output: str | os.PathLike[str], *, overwrite: bool, inputs: Sequence[Any] = ()
) -> Output:
    """Return the place for the picture ``output``, checked before any work.

    ``inputs`` are those of the work, which the picture must not replace. Raises :class:`TdvError`
    when the name ends in neither ``.svg`` nor ``.png``, or cannot be written.
    """
    place = Output(output, PLOT, is_folder=False, inputs=inputs, overwrite=overwrite, option="plot")
    if _kind(output) not in _KINDS:
        raise TdvError(f"a plot is a .svg or a .png file, got '{output}'")
    return place


def plot_points(
    points: Sequence[Mapping[str, Any]], full: Mapping[str, Any], recommended: float | None,
    place: Output,
) -> None:  # fmt: skip
    """Draw held-out nDCG@5 and R@1000 of the validated points over their bytes.

    The level line is the tuned full index on the same queries; bars are the 95 % interval of the
    difference from it. ``full`` is that entry of the manifest of :class:`tdv_lucene.TermValues`,
    ``recommended`` a reduction, ``place`` from :func:`check_plot`. Raises :class:`TdvError` when
    nothing was validated.
    """
    points = [point for point in points if point.get("difference")]
    if not points:
        raise TdvError("there is nothing to plot: these values were not validated on queries")
    whole = all("index_bytes" in entry for entry in (full, *points))
    sized, kind = "index_bytes" if whole else "posting_bytes", _kind(place.path)
    measures = [m for m in _MEASURES if m in points[0]["measures"]]
    with _figure("path", 2 * len(measures) + 0.4) as figure:
        panels = figure.subplots(len(measures), sharex=True, squeeze=False)[:, 0]
        for number, (axes, measure) in enumerate(zip(panels, measures)):
            _draw_points(axes, points, measure, sized, number)
            axes.plot(full[sized] / 1e6, points[0]["full"][measure], "D", color="#444444")
            for point in points:
                if point["reduction"] == recommended:
                    axes.axvline(point[sized] / 1e6, color="#444444", linestyle=":",
                                 label="recommended")  # fmt: skip
            axes.set_ylabel(measure)
            axes.margins(x=0.06, y=0.25)
        panels[0].legend(frameon=False, fontsize=8, loc="best")
        panels[-1].set_xlabel("MB of the index, foreseen" if whole else "MB of posting lists")
        picture = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(picture, format=kind, metadata=metadata, dpi=150)
    with place as unfinished:
        unfinished.write_bytes(picture.getvalue())
        place.write_manifest({"recommended_reduction": recommended})


def _draw_points(
    axes: Axes, points: Sequence[Mapping[str, Any]], measure: str, sized: str, number: int
) -> None:
    level, values = points[0]["full"][measure], [p["measures"][measure] for p in points]
    megabytes = [point[sized] / 1e6 for point in points]
    axes.axhline(level, color="#444444", linewidth=1, label=f"full index, tuned, {level:.3f}")
    label = "pruned, held-out queries"
    axes.plot(megabytes, values, marker="os"[number], label=label, **_style_of(number))
    for x, value, point in zip(megabytes, values, points):
        low, high = (level + end for end in point["difference"][measure]["ci95"])
        axes.plot([x, x], [low, high], color=_COLOURS[number], linewidth=1)
        label = f"{value:.3f}\n{point['removed']:.0%}"
        axes.annotate(label, (x, value), (0, 6), textcoords="offset points", ha="center",
                      fontsize=8, bbox=_PLATE)  # fmt: skip


def _kind(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lstrip(".").lower()


def _style_of(number: int) -> dict[str, Any]:
    """Return colour and line style of the index ``number``; more than seven indexes begin anew."""
    return {"color": _COLOURS[number % 7], "linestyle": _LINES[number % 7]}


@contextmanager
def _figure(name: str, height_inches: float) -> Iterator[Figure]:
    import matplotlib
    from matplotlib.figure import Figure

    # The salt makes ids the same every time, and different between the plots of a page.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": f"tdv-lucene {name}"}):
        yield Figure(figsize=(_WIDTH_INCHES, height_inches), layout="constrained")


def _inline(figure: Figure) -> str:
    """Return an ``<svg>`` element that scales with the page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    # Groups are numbered alike in every plot and referred to by none.
    return re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])
