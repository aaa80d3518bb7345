"""What the benchmarks share: Markdown tables, the machine in words, a run's two files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; rows shorter than the head are filled up with empty cells."""

    def line(cells: Sequence[str]) -> str:
        filled = [*cells, *[""] * (len(head) - len(cells))]
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in filled)

    return "\n".join([line(head), "|" + " --- |" * len(head), *map(line, rows)])


def hardware() -> str:
    """Cores, memory and system: what a time depends on, without any name of the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


def machine() -> str:
    """`hardware` and the Python that ran."""
    return f"{hardware()}, Python {platform.python_version()}"


def write_run(output: Path, text: str, raw: dict[str, Any], names: tuple[str, str]) -> None:
    """Write a run's summary for people and its figures for programs into the folder ``output``.

    ``names`` are those of the two files, Markdown and JSON; files of these names are replaced.
    """
    output.mkdir(parents=True, exist_ok=True)
    markdown, figures = names
    (output / markdown).write_text(text, encoding="utf-8")
    (output / figures).write_text(in_lines(raw) + "\n", encoding="utf-8")


def in_lines(value: Any, levels: int = 2) -> str:
    """JSON with a line for each entry of the outer ``levels``."""
    if not levels or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(in_lines(one, levels - 1) for one in value) + "\n]"
    entries = (f"{json.dumps(key)}: {in_lines(one, levels - 1)}" for key, one in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"
