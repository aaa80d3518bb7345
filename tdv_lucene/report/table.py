"""A table of strings, and how numbers are written in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of strings, and a note to stand below. Column 0 is text.

    ``bars`` holds a number from -1 to 1 for each row, which the page draws beside it; or nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""
    bars: tuple[float, ...] = ()


def to_rich(table: Table) -> RichTable:
    """The table for a terminal."""
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(
        title=table.title, caption=table.note or None, box=box.SIMPLE_HEAD,
        title_justify="left", caption_justify="left", show_edge=False, pad_edge=False,
    )  # fmt: skip
    for number, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def interval(bounds: Sequence[float] | None) -> str:
    """An interval as printed; nothing where there is none."""
    return "" if bounds is None else "{:+.3f} to {:+.3f}".format(*bounds)


def times_interval(bounds: Sequence[float] | None) -> str:
    """The interval of a ratio as printed; nothing where there is none."""
    return "" if bounds is None else "{:.2f} to {:.2f}".format(*bounds)


def p_value(p: float | None) -> str:
    """A p-value as printed, starred where significant."""
    if p is None:
        return "none"
    text = "<0.001" if p < 0.001 else f"{p:.3f}"
    return text + ("*" if p < SIGNIFICANT else "")


def change(before: float, after: float) -> str:
    """Relative change, ``-45.0 %``."""
    if not before:
        return "" if not after else "new"
    return f"{100 * (after / before - 1):+.1f} %".replace("-0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")


def ratio(before: float, after: float) -> str:
    """How many times faster, two decimals."""
    return f"{before / after:.2f}" if after else "-"
