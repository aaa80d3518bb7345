"""Values that count a term's place: from the positions of an index to the index pruned by them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fuzz_check import check_occurrences
from lucene_indexes import Doc
from pruning_inputs import read_user_data, values_of
from testing_jar import dump_index

from tdv_lucene.errors import TdvError
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.matrix.term_document_matrix import load_matrix
from tdv_lucene.prior.prior import prior_values
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.ranking.postings import FirstPositionBoost

pytestmark = pytest.mark.jvm

POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"
LEAD = FirstPositionBoost(3.0, 2.0)


def _docs() -> list[Doc]:
    rng = random.Random(7)
    words, weights = list("abcdefgh"), [1 / (i + 1) for i in range(8)]
    return [
        Doc(f"d{i}", rng.choices(words, weights, k=rng.choice([0, 9, 70, 90])), deleted=i % 7 == 5)
        for i in range(40)
    ]


@pytest.fixture
def source(make_index) -> Path:
    docs = _docs()
    return make_index([docs[:15], docs[15:]], options=POSITIONS, vectors="vp")


def _with_lead(values, lead: FirstPositionBoost = LEAD):
    return replace(values, manifest={**values.manifest, "lead": lead._asdict()})


def test_first_positions_are_those_of_the_index(source, tmp_path) -> None:
    matrix = extract_matrix(source, tmp_path / "matrix", threads=3)
    rows = np.repeat(np.arange(len(matrix.vocabulary)), np.diff(matrix.indptr))
    found = {
        (matrix.vocabulary.terms[row].decode(), matrix.doc_ids[doc].decode()): int(first)
        for row, doc, first in zip(rows, matrix.indices, matrix.first_positions)
    }
    tokens = {doc.id: doc.tokens for doc in _docs() if not doc.deleted}
    assert found == {(t, d): words.index(t) for d, words in tokens.items() for t in set(words)}


def test_positions_are_written_for_those_who_want_them(source, make_index, tmp_path) -> None:
    assert extract_matrix(source, tmp_path / "no", positions=False).first_positions is None
    assert load_matrix(tmp_path / "no").first_positions is None
    bare = make_index([_docs()], "bare")
    assert extract_matrix(bare, tmp_path / "bare-matrix").first_positions is None


def test_an_index_is_pruned_by_places_and_verified(source, tmp_path) -> None:
    matrix = extract_matrix(source, tmp_path / "matrix")
    values = _with_lead(values_of(matrix))
    report = prune_index(source, values, tmp_path / "pruned", reduction=0.2, scale=8)
    point = values.at_reduction(0.2)
    rows = np.repeat(np.arange(len(matrix.vocabulary)), np.diff(matrix.indptr))
    counted = LEAD.weigh(matrix.data, matrix.first_positions).astype(np.float64)
    stored = np.rint(8 * counted * point.tdv[rows])
    found = extract_matrix(tmp_path / "pruned", tmp_path / "found")
    np.testing.assert_array_equal(found.data, stored[stored > 0])
    assert report["lead"] == LEAD._asdict()
    assert read_user_data(tmp_path / "pruned")["tdv.lead.boost"] == "3.0"
    assert verify_pruned(source, tmp_path / "pruned")["equal"]


@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_what_is_dropped_may_go_by_another_boost_than_what_is_stored(source, tmp_path, tf) -> None:
    """The order doubles the boost in the saturation that it drops by."""
    matrix = extract_matrix(source, tmp_path / "matrix")
    values = replace(prior_values(matrix), posting_factors=None)  # else whole terms go
    point = values.at_reduction(0.5)
    boost, of_cut = point.position_boost, point.cut.position_boost
    assert of_cut == FirstPositionBoost(2 * boost.boost, 2 * boost.span)
    rows = np.repeat(np.arange(len(matrix.vocabulary)), np.diff(matrix.indptr))
    length_norm = point.cut.length_norm.at(matrix.stored_lengths())[matrix.indices]

    def kept(by: FirstPositionBoost) -> np.ndarray:
        counted = by.weigh(matrix.data, matrix.first_positions).astype(np.float64)
        stays = counted / (counted + length_norm) >= point.cut.least[rows] * (1 - 1e-9)
        return stays & (point.tdv[rows] > 0)

    assert (kept(of_cut) != kept(boost)).any()
    prune_index(source, values, tmp_path / "pruned", reduction=0.5, tf=tf)
    stored = matrix.data
    if tf == "scaled":
        counted = boost.weigh(matrix.data, matrix.first_positions).astype(np.float64)
        stored = np.maximum(np.rint(point.scale * counted * point.tdv[rows]), 1)
    found = extract_matrix(tmp_path / "pruned", tmp_path / "found")
    np.testing.assert_array_equal(found.data, stored[kept(of_cut)])
    assert verify_pruned(source, tmp_path / "pruned")["equal"]


def test_what_keeps_frequencies_keeps_positions(source, tmp_path) -> None:
    values = _with_lead(values_of(extract_matrix(source, tmp_path / "matrix")))
    prune_index(source, values, tmp_path / "pruned", reduction=0.3, tf="original")
    before, after = dump_index(source), dump_index(tmp_path / "pruned")
    assert after["postings"]["contents"]
    check_occurrences("contents", before, after, True)
    assert verify_pruned(source, tmp_path / "pruned")["equal"]


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({}, "'contents'.*no positions"),
        ({"options": POSITIONS, "vectors": "v"}, "'contents'.*no positions"),
    ],
)
def test_an_index_that_does_not_tell_places_is_refused(
    layout, said, make_index, tmp_path: Path
) -> None:
    index = make_index([_docs()], **layout)
    values = _with_lead(values_of(extract_matrix(index, tmp_path / "matrix")))
    with pytest.raises(TdvError, match=said):
        prune_index(index, values, tmp_path / "pruned")
    assert not (tmp_path / "pruned").exists()
