"""What decides a pruning: TDVs, options, norms, and whose parameters it is written for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_problem import make_matrix

from tdv_lucene import PruneConfig, TdvError, TermValues, unlearned_values
from tdv_lucene.index.parameters import Searcher
from tdv_lucene.matrix.term_document_matrix import NormKind
from tdv_lucene.plan import FieldPlan
from tdv_lucene.pruning.planning import plan_field
from tdv_lucene.pruning.targets import (
    SearchTarget,
    baking_of,
    refuse_scale,
    scale_for,
    search_parameters,
)
from tdv_lucene.simulation.collection import written_lengths

INDEX = SimpleNamespace(fields={}, searcher=Searcher())


def _values() -> TermValues:
    dense = np.array([[1, 2, 0, 0], [1, 1, 1, 1], [0, 0, 0, 9], [3, 0, 1, 0]])
    return unlearned_values(make_matrix(dense), "df")


def _plan(values: TermValues, share: float = 0.3, **options: object) -> FieldPlan:
    config = PruneConfig(search_as="lucene", **options)
    return plan_field(values, share, config, INDEX)[0]


def test_rare_terms_are_dropped_by_their_documents() -> None:
    plan = _plan(_values(), 0.0, min_doc_freq=2)
    assert ((plan.tdv > 0) == (plan.doc_freq >= 2)).all() and not plan.tdv.all()
    with pytest.raises(TdvError, match="min_doc_freq 5 .*: 4 is"):
        _plan(_values(), 0.0, min_doc_freq=5)


def _learned(model: str, **parameters: float):
    made = unlearned_values(make_matrix(np.eye(4) + 1), "ridf")
    return replace(made, manifest={**made.manifest, "model": model, "parameters": parameters})


@pytest.mark.parametrize(
    "text",
    ["0,0.4", "0.9,0", "-1,0.4", "-1,..", "nan", "nan,0.4", "inf", "words", "0.9,1.5", "1,1,1", "",
     "0"],
)  # fmt: skip
def test_what_is_no_target_is_refused_with_the_legal_range(text) -> None:
    with pytest.raises(TdvError, match="K1 above 0 and B above 0 and at most 1") as refused:
        SearchTarget.of(text)
    assert f"got '{text}'" in str(refused.value) and "'lucene'" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        (None, "bm25", {"k1": 0.9, "b": 0.4}),
        ("lucene", "bm25", {"k1": 1.2, "b": 0.75}),
        ("2,0.5", "bm25", {"k1": 2.0, "b": 0.5}),
        ("recorded", "bm25", None),
        ("lucene", "qld", {"mu": 2000.0}),
        ("1500", "qld", {"mu": 1500.0}),
        (None, "tfidf", None),
        ("0.9,0.4", "qld", "qld: give MU"),
        ("1000", "bm25", "bm25: give K1,B"),
        ("lucene", "tfidf", "tfidf"),
    ],
)
def test_a_target_has_the_parameters_of_a_model_or_is_refused(text, model, expected) -> None:
    target = SearchTarget.of(text)
    if isinstance(expected, str):
        with pytest.raises(TdvError, match=expected):
            target.parameters(model)
    else:
        assert target.parameters(model) == expected


def test_a_scale_is_raised_so_that_short_documents_get_their_length_norm() -> None:
    """k1 (1 - b) of the scale must reach the searcher's .9 (1 - .4)."""
    target = SearchTarget.of(None)
    assert scale_for(_learned("bm25", k1=0.9, b=0.8), 1.5, target, 0) == pytest.approx(3)
    assert scale_for(_learned("bm25", k1=0.9, b=0.4), 1.5, target, 0) == 1.5
    assert scale_for(_learned("bm25", k1=0.9, b=1.0), 1.5, target, 0) == 1.5, "no scale serves"
    near, far = (scale_for(_learned("bm25", k1=0.9, b=b), 1.5, target, 0) for b in (0.899, 0.901))
    assert near == pytest.approx(far, rel=0.03), "beyond what is tried, the most of it"
    assert scale_for(_learned("bm25", k1=0.9, b=0.8), 0.5, target, 0) == 2, "so far, and no further"
    recorded = SearchTarget.of("recorded")
    assert scale_for(_learned("bm25", k1=0.9, b=0.8), 1.5, recorded, 0) == 1.5


def test_a_scale_is_raised_within_the_full_indexs_bytes_unless_that_was_asked_for() -> None:
    values = _learned("bm25", k1=0.9, b=0.8)  # at a scale of 1.5 all documents get their K at 3
    sizes = [
        {"scale": scale, "posting_bytes": size, "dictionary_bytes": 100}
        for scale, size in ((1, 7000), (4, 11000))
    ]
    point = {**values.points[0], "scales": sizes}

    def with_full(size: int) -> TermValues:
        full = {"posting_bytes": size, "dictionary_bytes": 100}
        return replace(values, manifest={**values.manifest, "points": [point], "full": full})

    asked, not_asked = SearchTarget.of("anserini"), SearchTarget.of(None)
    half = 9000 + 900  # a pruned index also holds the record of its pruning
    assert scale_for(with_full(half), 1.5, not_asked, 0) == pytest.approx(2)
    assert scale_for(with_full(half), 1.5, asked, 0) == pytest.approx(3)
    assert scale_for(with_full(12000), 1.5, not_asked, 0) == pytest.approx(3)
    assert scale_for(with_full(6000), 1.5, not_asked, 0) == 1.5, "as the ranking needs it"


def test_values_of_no_model_keep_lengths_unless_asked() -> None:
    values = _learned("any")
    assert baking_of(values, 2.0, SearchTarget.of(None)) is None
    baking = baking_of(values, 2.0, SearchTarget.of("lucene"))
    assert (baking.held, baking.searched) == ((1.8, 0.4), (1.2, 0.75))


def test_mu_is_held_where_it_costs_little() -> None:
    values = _learned("qld", mu=800.0)
    target = SearchTarget.of(None)
    assert scale_for(values, 1, target, 0.3) == 1, "nothing is known of the bytes"
    sizes = [{"scale": s, "posting_bytes": b} for s, b in ((1, 1000), (1.5, 1015), (2, 1200))]
    point = {**values.points[0], "reduction": 0.3, "scales": sizes, "dictionary_bytes": 100}
    point["posting_bytes"] = 1000
    known = replace(values, manifest={**values.manifest, "points": [point]})
    assert scale_for(known, 1, target, 0.3) == 1.25
    assert search_parameters(known, 1.25, target, None)["mu"] == 1000
    dear = replace(known, manifest={**known.manifest, "parameters": {"mu": 500.0}})
    assert scale_for(dear, 1, target, 0.3) == 1
    assert search_parameters(dear, 1, target, None)["mu"] == 500
    assert scale_for(dear, 1, SearchTarget.of("anserini"), 0.3) == 2


@pytest.mark.parametrize(("tf", "scale"), [("original", None), ("scaled", 3.0)])
def test_a_scale_that_cannot_hold_mu_is_refused(tf, scale) -> None:
    values = _learned("qld", mu=500.0)
    with pytest.raises(TdvError, match="at a scale of 2: leave out scale and tf"):
        refuse_scale(values, SearchTarget.of("anserini"), tf, scale)
    refuse_scale(values, SearchTarget.of(None), tf, scale)
    refuse_scale(values, SearchTarget.of("anserini"), "scaled", 2.0)


def test_norms_hold_no_k1_of_zero() -> None:
    """Frequencies then count nothing: searchers have to be told, and nothing divides by it."""
    values = _learned("bm25", k1=0.0, b=0.4)
    assert baking_of(values, 4, SearchTarget.of(None)) is None
    assert search_parameters(values, 4, SearchTarget.of(None), None)["k1"] == 0
    assert scale_for(values, 4, SearchTarget.of(None), 0) == 4
    with pytest.raises(TdvError, match="search_as anserini"):
        baking_of(values, 4, SearchTarget.of("anserini"))
    lengths = np.array([0.0, 3.0, 300.0])
    plain = written_lengths(lengths, NormKind.BYTES, 101.0)
    np.testing.assert_array_equal(
        written_lengths(lengths, NormKind.BYTES, 101.0, (0.0, 0.4)), plain
    )
