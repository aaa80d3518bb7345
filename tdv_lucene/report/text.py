"""Tables as text to paste into a paper: Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .table import Table
from .wording import visible

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
