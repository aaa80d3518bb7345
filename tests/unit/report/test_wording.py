"""Text of others is shown as it is written, and does nothing."""

from __future__ import annotations

import pytest

from tdv_lucene.report.wording import counted, shortened, visible, whole_characters


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


@pytest.mark.parametrize(
    "text", ["e\u0301", "\u0915\u094d\u0937\u093f", "\U0001f469\u200d\U0001f680",
             "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1f7", "\u1112\u1161\u11ab",
             "\u0644\u064e\u0651"]
)  # fmt: skip
def test_a_character_of_several_is_not_cut(text: str) -> None:
    """A letter with its accent, a syllable, a family of emoji, a flag, Hangul, Arabic vowels."""
    for at in range(1, len(text)):
        assert whole_characters(f"ab{text}c", 2 + at) == 2
    assert whole_characters(f"ab{text}c", 2 + len(text)) == 2 + len(text)
    assert shortened(f"ab{text}c", 3) == "ab ..."
