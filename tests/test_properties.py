"""Laws that hold for all inputs: codecs, roundings, thresholds and parsers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tdv_lucene import TdvError, read_qrels, read_topics
from tdv_lucene.arguments import parse_bytes
from tdv_lucene.matrix.term_document_matrix import lucene_length, norm_bytes
from tdv_lucene.ranking.postings import POSITIONS, FirstPositionBoost, LengthNorm, stays
from tdv_lucene.simulation.collection import stored_frequency
from tdv_lucene.vocabulary import ByteStrings

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("repeatable")

LENGTHS = arrays.arrays(np.int64, st.integers(1, 50), elements=st.integers(0, 2**31 - 1))
VALUES = arrays.arrays(
    np.float32, st.integers(1, 50), elements=st.floats(0, 1e5, width=32, allow_subnormal=False)
)
# What stands in a file between its separators, with at least one visible character.
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(LENGTHS)
def test_a_norm_is_the_largest_length_not_above(lengths):
    """``SmallFloat.intToByte4`` rounds down, by less than an eighth, and keeps the order."""
    stored = lucene_length(lengths)
    assert (stored <= lengths).all() and (stored >= lengths * 0.875).all()
    np.testing.assert_array_equal(norm_bytes(stored), norm_bytes(lengths))
    np.testing.assert_array_equal(stored[lengths <= 40], lengths[lengths <= 40])
    order = np.argsort(lengths, kind="stable")
    assert (np.diff(stored[order]) >= 0).all()


@given(st.lists(st.binary(max_size=20), max_size=30))
def test_byte_strings_give_back_what_they_were_made_of(strings):
    packed = ByteStrings.of(strings)
    assert list(packed) == strings == [packed[i] for i in range(len(strings))]
    other = ByteStrings.of([*strings, b""])
    assert packed.sha256 != other.sha256


@given(VALUES, st.integers(1, 1000), st.sampled_from([0.5, 1.0, 1.5, 3.0, 12.0]))
def test_stored_frequencies_are_whole_and_never_lose_a_term(values, tf, scale):
    stored = stored_frequency(np.full(len(values), tf), values, scale)
    np.testing.assert_array_equal(stored, np.rint(stored))
    np.testing.assert_array_equal(stored > 0, values > 0)
    wanted = scale * tf * values.astype(np.float64)
    kept = wanted >= 1
    assert (np.abs(stored[kept] - wanted[kept]) <= 0.5).all()


@given(
    tf=arrays.arrays(np.int32, 20, elements=st.integers(1, 10_000)),
    lengths=arrays.arrays(np.int64, 20, elements=st.integers(1, 100_000)),
    least=st.floats(0, 1, width=32),
    k1=st.floats(0.1, 5),
    b=st.floats(0, 1),
)
def test_a_posting_stays_when_a_better_one_would_not(tf, lengths, least, k1, b):
    """More occurrences, a shorter document or a lower threshold never drop a posting."""
    norm = LengthNorm.of(k1, b, 100.0, by_postings=False)
    kept = stays(tf, least, norm.at(lengths))
    assert stays(tf + 1, least, norm.at(lengths))[kept].all()
    assert stays(tf, least, norm.at(np.maximum(lengths // 2, 1)))[kept].all()
    assert stays(tf, np.float32(least) / 2, norm.at(lengths))[kept].all()
    assert stays(tf, 0.0, norm.at(lengths)).all()


@given(boost=st.floats(0, 20), span=st.floats(0.5, 50), tf=st.integers(1, 1000))
def test_a_first_position_counts_for_more_the_earlier_it_is(boost, span, tf):
    counted = FirstPositionBoost(boost, span).weigh(
        np.full(POSITIONS + 5, tf), np.arange(POSITIONS + 5, dtype=np.uint16)
    )
    assert (np.diff(counted) <= 0).all() and (counted >= tf).all()
    assert counted[0] == pytest.approx(tf * (1 + boost), rel=1e-6)
    assert len(set(counted[POSITIONS - 1 :].tolist())) == 1


@given(st.dictionaries(WORDS, st.lists(WORDS, min_size=1).map(" ".join), min_size=1, max_size=8))
def test_topics_are_read_as_written(tmp_path_factory, topics):
    path = tmp_path_factory.mktemp("topics") / "topics.tsv"
    text = "".join(f"{qid}\t{query}\n" for qid, query in topics.items())
    path.write_text(text, encoding="utf-8")
    assert read_topics(path) == topics


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


@pytest.mark.parametrize("text", ["", "MB", "-3MB", "0", "25 parrots", "1e6"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(TdvError, match="25MB"):
        parse_bytes(text)


@given(st.integers(1, 10**15), st.sampled_from(["", "k", "MB", "GiB", " kb"]))
def test_sizes_are_read_in_every_unit(number, unit):
    times = {"": 1, "k": 10**3, "MB": 10**6, "GiB": 2**30, " kb": 10**3}[unit]
    assert parse_bytes(f"{number}{unit}") == pytest.approx(number * times)
