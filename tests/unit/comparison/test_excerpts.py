"""Cutting a text to what one wants to see of it."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tdv_lucene.comparison.excerpts import EXCERPT_LENGTH, Piece, excerpt, mark


def test_words_are_marked_in_place():
    text = "the foxes ran to a Fox"
    pieces = mark(text, [(4, 9, "fox"), (10, 13, "ran"), (19, 22, "fox")], {"fox"})
    assert pieces == [
        Piece("the "), Piece("foxes", "fox", True), Piece(" "), Piece("ran", "ran", False),
        Piece(" to a "), Piece("Fox", "fox", True),
    ]  # fmt: skip


def test_a_word_with_two_terms_is_marked_once():
    assert mark("wi-fi", [(0, 5, "wifi"), (0, 2, "wi"), (3, 5, "fi")], ()) == [
        Piece("wi-fi", "wifi", False)
    ]


def test_a_short_text_is_shown_whole():
    assert excerpt("fox", [], ()) == [Piece("fox")]
    assert excerpt("", [], ()) == []


def test_the_excerpt_is_where_most_different_terms_are():
    text = "fox fox fox " + "word " * 200 + "a fox and a dog " + "word " * 200
    at = text.index("a fox and")
    places = [(0, 3, "fox"), (4, 7, "fox"), (8, 11, "fox"),
              (at + 2, at + 5, "fox"), (at + 12, at + 15, "dog")]  # fmt: skip
    shown = excerpt(text, places, {"dog"})
    assert shown[0] == Piece("… ") and shown[-1] == Piece(" …")
    assert [piece for piece in shown if piece.term] == [
        Piece("fox", "fox", False), Piece("dog", "dog", True)
    ]  # fmt: skip
    words = "".join(piece.text for piece in shown[1:-1])
    assert words in text and len(words) <= EXCERPT_LENGTH
    assert set(words.split()) == {"a", "fox", "and", "dog", "word"}, "no word is cut"


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 700), st.integers(0, 12))
def test_pieces_join_to_a_part_of_the_text(seed, length, count):
    draw = random.Random(seed)
    text = "".join(draw.choices("aé😀 \n", k=length))
    given_places = [(draw.randint(0, 700), draw.randint(1, 9)) for _ in range(count)]
    places = [
        (start, start + length, "t")
        for start, length in sorted(given_places)
        if start + length <= len(text)
    ]
    assert "".join(piece.text for piece in mark(text, places, ())) == text
    shown = excerpt(text, places, ())
    cut = shown[bool(shown and shown[0] == Piece("… ")) :]
    cut = cut[: -1 if cut and cut[-1] == Piece(" …") else None]
    joined = "".join(piece.text for piece in cut)
    assert joined in text and len(joined) <= max(EXCERPT_LENGTH, 0)
    assert len(text) > EXCERPT_LENGTH or joined == text
    if places and len(text) <= EXCERPT_LENGTH:
        assert any(piece.term for piece in shown)


def test_bigrams_that_overlap_are_marked_whole() -> None:
    """As Lucene makes them of Chinese: three characters are two terms."""
    pieces = mark("在東京都。", [(1, 3, "東京"), (2, 4, "京都")], ["京都"])
    assert [(piece.text, piece.term) for piece in pieces] == [
        ("在", None), ("東京", "東京"), ("都", "京都"), ("。", None),
    ]  # fmt: skip
