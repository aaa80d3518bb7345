"""Plots, as inline SVG for the report: the only module that imports matplotlib.

Colours are Okabe and Ito's, blue and vermilion first, distinct for everyone and in grey. A pattern,
a line style or a label repeats what the colour says. Plots are narrow, so that their text stays
readable in narrow windows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..timing.latency import Latency

if TYPE_CHECKING:  # takes long to import
    from matplotlib.figure import Figure

_MEASURES = ("nDCG@5", "R@1000")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
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
