"""Text of others is shown as it is written, and does nothing."""

from __future__ import annotations

import pytest

from tdv_lucene.report.wording import counted, visible


@pytest.mark.parametrize(
    "text, shown",
    [
        ("page[a] [/b] <b> $x$ | :smile:", "page[a] [/b] <b> $x$ | :smile:"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\nb\tc\rd\x00\x7f\x9b", r"a\nb\tc\rd\x00\x7f\x9b"),
        ("gpj.\u202eexe\u2069\u200f", r"gpj.\u202eexe\u2069\u200f"),
        ("a\u2028b\u2029c\u200bd\ufeff", r"a\u2028b\u2029c\u200bd\ufeff"),
        ("\udcff", r"\udcff"),
        ("naïve 検索 חיפוש 🔎", "naïve 検索 חיפוש 🔎"),
    ],
)
def test_what_acts_is_written_out(text, shown):
    assert visible(text) == shown
    assert visible(visible(text)) == shown
    shown.encode()


def test_a_message_keeps_its_lines():
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@pytest.mark.parametrize(
    "number, shown",
    [(0, "0 judged queries"), (1, "1 judged query"), (2, "2 judged queries"),
     (1234, "1,234 judged queries")],
)  # fmt: skip
def test_one_thing_is_no_plural(number, shown):
    assert counted(number, "judged query", "judged queries") == shown
    assert counted(number, "word").endswith("word" if number == 1 else "words")
