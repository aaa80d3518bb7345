"""A table of strings, and how numbers are written in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from .wording import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

SIGNIFICANT = 0.05


_GAP = 3  # between two columns: a blank of each, and one that divides them
_TEXT_WIDTH = 80
_NARROWEST = 12  # column 0 may be broken anywhere, but not into less


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of strings, and a note to stand below.

    The columns ``texts`` are text, the others numbers. ``bars`` holds a number from -1 to 1 for
    each row, which the page draws beside it; or nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""
    bars: tuple[float, ...] = ()
    texts: tuple[int, ...] = (0,)


def print_table(console: Console, table: Table) -> None:
    """Print on a terminal, whatever its width and whatever stands in the cells.

    Where the columns do not fit beside each other, the table goes on below with its first column
    again: a line may break between two numbers, never within one.
    """
    shown = _visible(table)
    parts = _beside(shown, console.width)
    _print_text(console, shown.title, "italic")
    for number, columns in enumerate(parts):
        part = replace(
            shown,
            columns=tuple(shown.columns[i] for i in columns),
            rows=[tuple(row[i] for i in columns) for row in shown.rows],
            texts=tuple(at for at, i in enumerate(columns) if i in shown.texts),
        )
        if number:
            console.print()
        console.print(_to_rich(part, console.width))
    _print_text(console, shown.note, "dim italic")


def _print_text(console: Console, text: str, style: str) -> None:
    """A title or a note: as wide as is read well, however narrow the table is."""
    from rich.text import Text

    if text:
        console.print(Text(text, style), width=min(console.width, _TEXT_WIDTH))


def _visible(table: Table) -> Table:
    return replace(
        table,
        title=visible(table.title),
        columns=tuple(map(visible, table.columns)),
        rows=[tuple(map(visible, row)) for row in table.rows],
        note=visible(table.note),
    )


def _beside(table: Table, width: int) -> list[list[int]]:
    """The columns of each part, column 0 in all of them."""
    least = [low for low, _ in _widths(table)]
    parts: list[list[int]] = [[0]]
    for column in range(1, len(table.columns)):
        used = sum(least[i] + _GAP for i in parts[-1])
        if used + least[column] > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _widths(table: Table) -> list[tuple[int, int]]:
    """Of each column the longest word, at which it may not be narrower, and the longest cell."""
    from rich.cells import cell_len

    found = []
    for number, heading in enumerate(table.columns):
        cells = [heading, *(row[number] for row in table.rows)]
        longest = max(map(cell_len, cells))
        word = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
        found.append((min(word, _NARROWEST) if number in table.texts else word, longest))
    return found


def _fitted(table: Table, width: int) -> list[int]:
    """The columns' widths: what each needs least, then all that numbers want, the rest for text."""
    bounds = _widths(table)
    widths = [low for low, _ in bounds]
    left = max(0, width - sum(widths) - _GAP * (len(widths) - 1))
    for column in sorted(range(len(widths)), key=lambda column: column in table.texts):
        more = min(left, bounds[column][1] - widths[column])
        widths[column] += more
        left -= more
    return widths


def _to_rich(table: Table, width: int) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )  # fmt: skip
    for number, (column, at_most) in enumerate(zip(table.columns, _fitted(table, width))):
        side: Literal["left", "right"] = "left" if number in table.texts else "right"
        shown.add_column(Text(column), justify=side, overflow="fold", width=at_most)
    for row in table.rows:
        shown.add_row(*map(Text, row))
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
