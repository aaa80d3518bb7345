"""A table of strings: how numbers are written in it; printing it, in Markdown and LaTeX too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .wording import visible

if TYPE_CHECKING:
    from rich.console import Console

SIGNIFICANT = 0.05

_GAP = 3  # between two columns: a blank of each, and one that divides them
_TEXT_WIDTH = 80
_NARROWEST = 12  # column 0 may be broken anywhere, but not into less
_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
})  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of strings, and a note to print below.

    The columns ``texts`` are text, the others numbers. ``bars`` holds a number from -1 to 1 for
    each row, which the page draws beside it; or nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""
    bars: tuple[float, ...] = ()
    texts: tuple[int, ...] = (0,)


def interval(bounds: Sequence[float] | None, form: str = "{:+.3f} to {:+.3f}") -> str:
    """Format an interval; empty where there is none."""
    return "" if bounds is None else form.format(*bounds)


def times_interval(bounds: Sequence[float] | None) -> str:
    """Format the interval of a ratio."""
    return interval(bounds, "{:.2f} to {:.2f}")


def p_value(p: float | None) -> str:
    """Format a p-value, starred where significant."""
    if p is None:
        return "none"
    text = "<0.001" if p < 0.001 else f"{p:.3f}"
    return text + ("*" if p < SIGNIFICANT else "")


def change(before: float, after: float) -> str:
    """Format a relative change: ``-45.0 %``."""
    if not before:
        return "" if not after else "new"
    return f"{100 * (after / before - 1):+.1f} %".replace("-0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")


def ratio(before: float, after: float) -> str:
    """Format how many times faster, with two decimals."""
    return f"{before / after:.2f}" if after else "-"


def print_table(console: Console, table: Table) -> None:
    """Print on a terminal of any width, whatever the cells hold.

    Columns that do not fit beside each other continue below, with the first column again: a line
    may break between two numbers, never within one.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table as RichTable
    from rich.text import Text

    def say(text: str, style: str) -> None:
        if text:  # as wide as is read well, however narrow the table is
            console.print(Text(visible(text), style), width=min(console.width, _TEXT_WIDTH))

    columns = [[*map(visible, cells)] for cells in zip(table.columns, *table.rows)]
    bounds = []  # the least width of each column, its longest word, and that of its longest cell
    for at, cells in enumerate(columns):
        word = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
        least = min(word, _NARROWEST) if at in table.texts else word
        bounds.append((least, max(map(cell_len, cells))))
    say(table.title, "italic")
    for number, part in enumerate(_parts(bounds, console.width)):
        if number:
            console.print()
        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        widths = _widths({at: bounds[at] for at in part}, table.texts, console.width)
        for at in part:
            shown.add_column(
                Text(columns[at][0]), justify="left" if at in table.texts else "right",
                overflow="fold", width=widths[at],
            )  # fmt: skip
        for row in zip(*(columns[at][1:] for at in part)):
            shown.add_row(*map(Text, row))
        console.print(shown)
    say(table.note, "dim italic")


def _parts(bounds: Sequence[tuple[int, int]], width: int) -> list[list[int]]:
    """Return the columns of each part, column 0 in all of them."""
    parts: list[list[int]] = [[0]]
    for column in range(1, len(bounds)):
        used = sum(bounds[i][0] + _GAP for i in parts[-1])
        if used + bounds[column][0] > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _widths(
    bounds: Mapping[int, tuple[int, int]], texts: Sequence[int], width: int
) -> dict[int, int]:
    """Return the columns' widths: their least, then all that numbers want, the rest for text."""
    left = max(0, width - sum(least for least, _ in bounds.values()) - _GAP * (len(bounds) - 1))
    widths = {}
    for column in sorted(bounds, key=lambda column: column in texts):
        least, most = bounds[column]
        widths[column] = min(most, least + left)
        left -= widths[column] - least
    return widths


def to_markdown(tables: Iterable[Table]) -> str:
    """Return GitHub's Markdown: a heading, a table and its note each."""

    def escaped(text: str) -> str:
        return re.sub(r"([\\|*_<>`\[\]~&$])", r"\\\1", visible(text))

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(map(escaped, cells))} |"

    lines = []
    for table in tables:
        rule = "| --- |" + " ---: |" * (len(table.columns) - 1)
        lines += [f"### {escaped(table.title)}", "", line(table.columns), rule]
        lines += [*map(line, table.rows), "", *([escaped(table.note), ""] if table.note else [])]
    return "\n".join(lines)


def to_latex(tables: Iterable[Table]) -> str:
    """Return ``table`` environments with booktabs' rules; needs ``\\usepackage{booktabs}``."""

    def escaped(text: str) -> str:
        return visible(text).translate(_LATEX)

    def line(cells: Iterable[str]) -> str:
        return " & ".join(map(escaped, cells)) + r" \\"

    return "\n".join(
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{escaped(table.title)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}\n\\toprule\n"
        f"{line(table.columns)}\n\\midrule\n"
        + "\n".join(map(line, table.rows))
        + "\n\\bottomrule\n\\end{tabular}"
        + (f"\n\\par\\small {escaped(table.note)}" if table.note else "")
        + "\n\\end{table}\n"
        for table in tables
    )
