"""Tables as text to paste into a paper: Markdown and LaTeX."""

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
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    def say(text: str, style: str) -> None:
        """A title or a note: as wide as is read well, however narrow the table is."""
        if text:
            console.print(Text(visible(text), style), width=min(console.width, _TEXT_WIDTH))

    columns = [[*map(visible, cells)] for cells in zip(table.columns, *table.rows)]
    bounds = [_bounds(cells, at in table.texts) for at, cells in enumerate(columns)]
    say(table.title, "italic")
    for number, part in enumerate(_beside(bounds, console.width)):
        if number:
            console.print()
        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        widths = _fitted({at: bounds[at] for at in part}, table.texts, console.width)
        for at in part:
            shown.add_column(
                Text(columns[at][0]), justify="left" if at in table.texts else "right",
                overflow="fold", width=widths[at],
            )  # fmt: skip
        for row in zip(*(columns[at][1:] for at in part)):
            shown.add_row(*map(Text, row))
        console.print(shown)
    say(table.note, "dim italic")


def _bounds(cells: Sequence[str], is_text: bool) -> tuple[int, int]:
    """Of a column the longest word, at which it may not be narrower, and the longest cell."""
    from rich.cells import cell_len

    word = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
    return min(word, _NARROWEST) if is_text else word, max(map(cell_len, cells))


def _beside(bounds: Sequence[tuple[int, int]], width: int) -> list[list[int]]:
    """The columns of each part, column 0 in all of them."""
    parts: list[list[int]] = [[0]]
    for column in range(1, len(bounds)):
        used = sum(bounds[i][0] + _GAP for i in parts[-1])
        if used + bounds[column][0] > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _fitted(
    bounds: Mapping[int, tuple[int, int]], texts: Sequence[int], width: int
) -> dict[int, int]:
    """The columns' widths: what each needs least, then all that numbers want, the rest for text."""
    left = max(0, width - sum(least for least, _ in bounds.values()) - _GAP * (len(bounds) - 1))
    widths = {}
    for column in sorted(bounds, key=lambda column: column in texts):
        least, most = bounds[column]
        widths[column] = min(most, least + left)
        left -= widths[column] - least
    return widths


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


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
})  # fmt: skip


def to_markdown(tables: Iterable[Table]) -> str:
    """GitHub's Markdown: a heading, a table and its note each."""
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(map(_escape_markdown, cells))} |"

    rule = "| --- |" + " ---: |" * (len(table.columns) - 1)
    lines = [
        f"### {_escape_markdown(table.title)}",
        "",
        line(table.columns),
        rule,
        *map(line, table.rows),
        "",
    ]
    return "\n".join([*lines, *([_escape_markdown(table.note), ""] if table.note else [])])


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\|*_<>`\[\]~&$])", r"\\\1", visible(text))


def to_latex(tables: Iterable[Table]) -> str:
    """``table`` environments with booktabs' rules; needs ``\\usepackage{booktabs}``."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    def line(cells: Iterable[str]) -> str:
        return " & ".join(map(_escape, cells)) + r" \\"

    note = f"\n\\par\\small {_escape(table.note)}" if table.note else ""
    rows = "\n".join(map(line, table.rows))
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{_escape(table.title)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}\n\\toprule\n"
        f"{line(table.columns)}\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}{note}\n"
        "\\end{table}\n"
    )


def _escape(text: str) -> str:
    return visible(text).translate(_LATEX)
