"""Laws that hold for all inputs: of byte strings and of parsers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdv_lucene import TdvError, read_qrels, read_topics
from tdv_lucene.arguments import parse_bytes
from tdv_lucene.vocabulary import ByteStrings

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("repeatable")

# What stands in a file between its separators, with at least one visible character.
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(st.lists(st.binary(max_size=20), max_size=30))
def test_byte_strings_give_back_what_they_were_made_of(strings):
    packed = ByteStrings.of(strings)
    assert list(packed) == strings == [packed[i] for i in range(len(strings))]
    other = ByteStrings.of([*strings, b""])
    assert packed.sha256 != other.sha256


@given(
    st.dictionaries(
        WORDS, st.dictionaries(WORDS, st.integers(-2, 4), min_size=1, max_size=5), min_size=1
    )
)
def test_qrels_are_read_as_written(tmp_path_factory, qrels):
    path = tmp_path_factory.mktemp("qrels") / "qrels.txt"
    lines = [
        f"{qid} 0 {doc} {grade}\n" for qid, docs in qrels.items() for doc, grade in docs.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    assert read_qrels(path) == qrels


@given(st.binary(max_size=200))
def test_files_of_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("files") / "any.txt"
    path.write_bytes(content)
    for read in (read_topics, read_qrels):
        try:
            found = read(path)
        except TdvError as error:
            assert str(path) in str(error)
        else:
            assert found


def test_sizes_are_read_in_every_unit_and_else_refused():
    sizes = {"7": 7, "3k": 3000, "25MB": 25e6, "2GiB": 2**31, "9 kb": 9000}
    assert {text: parse_bytes(text) for text in sizes} == sizes
    for text in ("", "MB", "-3MB", "0", "25 parrots", "1e6"):
        with pytest.raises(TdvError, match="25MB"):
            parse_bytes(text)
