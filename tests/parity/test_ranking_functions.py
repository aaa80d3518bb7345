"""What every ranking function must keep, over random corpora, pruned at random."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from lucene_indexes import Doc, write_index
from lucene_reading import explain_scores
from oracle import read_norms
from pruning_inputs import field_plan

from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.rewriter import rewrite_index
from tdv_lucene.jvm.searcher import make_similarity
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.ranking import (
    ANSERINI_DEFAULTS,
    MODELS,
    SearchParameters,
    Statistics,
    at_scale,
    ranking_function,
)
from tdv_lucene.values.posting_rule import constants_of

pytestmark = pytest.mark.jvm

LENGTHS = {
    "short": lambda rng: rng.integers(1, 4, 40),
    "empty ones": lambda rng: rng.choice([0, 0, 5, 30], 40),
    "one token": lambda rng: np.ones(40, int),
    "long": lambda rng: rng.integers(50, 400, 25),
    "all lengths": lambda rng: rng.choice([0, 1, 2, 39, 40, 41, 200], 40),
}
CASES = [
    ("short", 0.0, 1.0), ("short", 0.95, 12.0), ("empty ones", 0.5, 0.1), ("one token", 0.3, 3.0),
    ("long", 0.0, 0.1), ("long", 0.95, 3.0), ("all lengths", 0.45, 3.0),
    ("all lengths", 0.8, 100.0),
]  # fmt: skip
"""Lengths of documents, share of terms that are dropped, scale."""


@pytest.fixture(scope="module", params=CASES, ids=str)
def pruned(request, tmp_path_factory):
    """An index that was pruned, its matrix, the terms of the source, and the scale."""
    lengths, dropped, scale = request.param
    rng = np.random.default_rng(CASES.index(request.param))
    folder = tmp_path_factory.mktemp("functions")
    docs = [
        Doc(f"d{i}", [f"t{t}" for t in np.minimum(rng.zipf(1.4, n) - 1, 40)])
        for i, n in enumerate(LENGTHS[lengths](rng))
    ]
    index = write_index(folder / "index", [docs[:15], docs[15:]])
    source = extract_matrix(index, folder / "source")
    tdv = rng.uniform(0.05, 3, source.shape[0]).astype(np.float32)
    tdv[rng.permutation(len(tdv))[: int(dropped * len(tdv))]] = 0
    if not tdv.any():
        tdv[0] = 1
    (folder / "pruned").mkdir()
    plan = field_plan(source.vocabulary, tdv, scale)
    rewrite_index(index, folder / "pruned", [plan], threads=1, user_data={})
    return folder / "pruned", extract_matrix(folder / "pruned", folder / "matrix"), scale


def _parameters(model: str, scale: float) -> SearchParameters:
    names = MODELS[model]
    scaled = at_scale(ANSERINI_DEFAULTS, scale)
    return SearchParameters(model, **{name: scaled[name] for name in names})


def _scores(model: str, parameters: SearchParameters, matrix, xp) -> np.ndarray:
    """float[V, D]: of every term in every document, at the lengths that norms tell."""
    dense = np.zeros(matrix.shape, np.float32)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    dense[rows, matrix.indices] = matrix.data
    statistics = Statistics(
        xp.asarray(matrix.doc_freq, xp.float32)[:, None],
        xp.asarray(matrix.total_term_freq, xp.float32)[:, None],
        xp.float32(matrix.doc_count),
        xp.float32(matrix.total_term_freq.sum()),
    )
    lengths = xp.asarray(np.maximum(read_norms(matrix.norms), 1), xp.float32)
    similarity = ranking_function(model).similarity(parameters)
    return np.asarray(similarity.term_scores(xp.asarray(dense), lengths[None, :], statistics))


@pytest.mark.parametrize("model", list(MODELS))
def test_numpy_jax_and_lucene_agree(model, pruned) -> None:
    index, matrix, scale = pruned
    parameters = _parameters(model, scale)
    terms = [term.decode() for term in matrix.vocabulary.terms]
    topics = {term: term for term in terms}
    lucene = explain_scores(index, make_similarity(parameters), "contents", topics, hits=100)
    ids = [name.decode() for name in matrix.doc_ids]
    found = {xp: _scores(model, parameters, matrix, xp) for xp in (np, jnp)}
    compared = 0
    for row, term in enumerate(terms):
        for document, score, explained in lucene[term]:
            assert np.isfinite(score) and score >= 0
            assert explained == pytest.approx(score, rel=1e-6)
            for scores in found.values():
                ours = scores[row, ids.index(document)]
                assert ours == pytest.approx(score, rel=5e-6, abs=5e-6)
            compared += 1
    # A searcher of weights does not ask for terms that all documents have.
    asked = matrix.doc_freq < matrix.shape[1]
    if not ranking_function(model).of_weights:
        asked[:] = True
    assert compared == matrix.doc_freq[asked].sum() > 0


@pytest.mark.parametrize("model", list(MODELS))
@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_scores_are_finite_and_grow_with_the_frequency(model, scale) -> None:
    similarity = ranking_function(model).similarity(_parameters(model, scale))
    rng = np.random.default_rng(1)
    for _ in range(20):
        documents = int(rng.integers(1, 10**6))
        df = int(rng.integers(1, documents + 1))
        cf = df * float(rng.integers(1, 50))
        tokens = cf + float(rng.integers(0, 10**8))
        statistics = Statistics(np.array(df), np.array(cf), np.array(documents), np.array(tokens))
        tf = np.concatenate([[0], np.sort(rng.integers(1, 10**4, 30))]).astype(float)
        length = np.array(float(rng.integers(1, 10**5)))
        scores = similarity.term_scores(tf, length, statistics)
        assert np.isfinite(scores).all() and np.all(np.diff(scores) >= 0) and scores[0] == 0


@pytest.mark.parametrize("model", list(MODELS))
def test_a_scale_leaves_the_ranking(model) -> None:
    """Frequencies and lengths times s, with the parameters that go with s: the same scores, for
    TF-IDF and impact scoring times s. Query likelihood's p has a 1 in it, which the frequencies of
    a collection hide.
    """
    function = ranking_function(model)
    plain = SearchParameters(model, **{each.name: each.anserini for each in function.takes})
    rng = np.random.default_rng(2)
    tf, lengths = rng.integers(0, 30, 50).astype(float), rng.integers(30, 900, 50).astype(float)
    counts = np.array(40.0), np.array(9e5), np.array(1e4), np.array(1e9)
    expected = function.similarity(plain).term_scores(tf, lengths, Statistics(*counts))
    for scale in (0.5, 3.0):
        scaled = Statistics(counts[0], counts[1] * scale, counts[2], counts[3] * scale)
        similarity = function.similarity(plain, scale)
        found = similarity.term_scores(tf * scale, lengths * scale, scaled)
        times = scale if constants_of(model).scale_ranks or function.of_weights else 1.0
        np.testing.assert_allclose(found, times * expected, rtol=1e-5)


@pytest.mark.parametrize("model", list(MODELS))
def test_what_an_object_says_fits_together(model) -> None:
    function = ranking_function(model)
    assert function.name == model and function.title
    constants = constants_of(model)
    searched = [set(values) for values in constants.pool_searches]
    assert all(names in (set(), set(function.parameters)) for names in searched)
    assert all(each.holds(x) for each in function.takes for x in (each.anserini, *each.grid))
    assert function.flags(ANSERINI_DEFAULTS) is None or function.parameters
    assert function.held_by is None or function.parameters
    assert list(constants.scales) == sorted(constants.scales)
    share = np.array([0.2, 0.9, 1.0])
    if function.has_idf:
        corrected = function.corrected(share, np.array([1.0, 3.0, 2.0]), 0.9)
        assert np.all(corrected <= 1 + 1e-12) and corrected[2] == pytest.approx(1)


def test_tfidf_keeps_lucenes_contract():
    """Finite, positive, growing with the frequency, deaf to the norm: block maxima stay exact."""
    search = "org.apache.lucene.search."
    term = java_class("org.apache.lucene.util.BytesRef")(b"t")
    rng = np.random.default_rng(3)
    for _ in range(50):
        doc_count = int(rng.integers(1, 2**31 - 1))
        doc_freq = int(rng.integers(1, doc_count + 1))
        tokens = int(doc_freq + rng.integers(0, 2**40))
        collection = java_class(search + "CollectionStatistics")(
            "contents", doc_count, doc_count, tokens, min(tokens, 2**33)
        )
        statistics = java_class(search + "TermStatistics")(term, doc_freq, tokens)
        boost = float(rng.uniform(0, 100))
        similarity = java_class("tdvlucene.search.TfIdfSimilarity")()
        scorer = similarity.scorer(boost, collection, statistics)
        freqs = np.unique(rng.integers(1, 2**31 - 1, 20).astype(np.float32))
        scores = [scorer.score(float(f), 1) for f in freqs]
        assert np.all(np.isfinite(scores)) and np.all(np.diff(scores) >= 0) and scores[0] > 0
        assert scorer.score(float(freqs[0]), 200) == scores[0]


def test_tfidf_norm_is_the_usual_one():
    """An index written for TF-IDF serves BM25 and the reverse."""
    state = java_class("org.apache.lucene.index.FieldInvertState")
    options = java_class("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS
    for length in (1, 7, 41, 1000, 123_456):
        of_field = state(9, "contents", options, 0, length, 0, 0, 1, 1)
        ours = java_class("tdvlucene.search.TfIdfSimilarity")().computeNorm(of_field)
        bm25 = java_class("org.apache.lucene.search.similarities.BM25Similarity")()
        assert ours == bm25.computeNorm(of_field)
