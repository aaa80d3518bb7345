"""Tables on screens of any width, with anything in them."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tdv_lucene.report.table import Table, print_table
from tdv_lucene.report.text import to_latex, to_markdown

TABLE = Table(
    "Effectiveness", ("measure", "full", "pruned", "change", "95 % interval", "p", "+/=/-"),
    [("nDCG@5", "0.1234", "0.2345", "+0.1111", "+0.010 to +0.020", "<0.001*", "12/345/6789"),
     ("R@1000", "0.9999", "1.0000", "+1,234.5 %", "-0.010 to +0.020", "0.050", "1/2/3")],
    "A note of some length stands below, and goes on.",
)  # fmt: skip
STRANGE = Table(
    "page[a] \x1b[31m", ("[/b]", "$x$\n"),
    [("<script>|", "\u202e1"), ("[red]x[/red]", ":smile:"), ("a_b*c`d&e~f", "\\[x](y)#%^{}")],
    "[link=x]note",
)  # fmt: skip


def printed(table: Table, width: int) -> str:
    out = io.StringIO()
    print_table(Console(file=out, width=width, force_terminal=False), table)
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_lines_break_between_numbers_never_within(width):
    text = printed(TABLE, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for row in TABLE.rows:
        for cell in row[1:]:
            for number in cell.split():
                assert number in words, (width, number)
    assert (text.count("measure") == 1) == (width >= 80)
    assert text.count("Effectiveness") == 1 and " ".join(words).count("goes on.") == 1


def test_no_text_is_interpreted_on_a_screen():
    text = printed(STRANGE, 80)
    for shown in ("page[a] \\x1b[31m", "[/b]", "$x$\\n", "<script>|", "\\u202e1", "[red]x[/red]",
                  ":smile:", "[link=x]note"):  # fmt: skip
        assert shown in text
    assert not re.search("[\x1b\u202e]", text)


def test_no_text_is_interpreted_in_a_paper():
    for line in to_markdown([STRANGE]).splitlines():
        bare = re.sub(r"\\.", "", line)
        assert not re.search(r"[*_<`\[\]&$~]|[\x00-\x1f\u202e]", bare), line
        assert bare.count("|") in (0, 3)
    latex = to_latex([STRANGE])
    assert not re.search("[\x1b\u202e]", latex)
    rows = latex[latex.index("\\toprule") : latex.index("\\bottomrule")]
    for row in rows.split("\\\\\n"):
        assert len(re.findall(r"(?<!\\)&", row)) in (0, 1)
        assert not re.search(r"(?<!\\)[$#%_]", row)
