"""One score: a plain NumPy oracle, and Lucene's score and explain()."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import ranking_oracle as oracle
from lucene_indexes import Doc, write_index
from lucene_reading import explain_scores

from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.searcher import make_similarity
from tdv_lucene.ranking import SearchParameters

pytestmark = pytest.mark.jvm

MODELS = [
    SearchParameters("bm25", k1=0.9, b=0.4),
    SearchParameters("bm25", k1=3.6, b=1.0),
    SearchParameters("bm25", k1=0.1, b=0.0),
    SearchParameters("qld", mu=1000.0),
    SearchParameters("qld", mu=20.0),
    SearchParameters("tfidf"),
]
TOPICS = {"rare": "t90 t99", "twice": "t1 t2 t1 t50", "common": "t0", "absent": "t0 nowhere"}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """200 documents in three segments, up to 200 tokens long, one of them empty."""
    rng = np.random.default_rng(7)
    lengths = [0, 1, *rng.integers(1, 200, 198)]
    docs = [
        Doc(f"d{i}", [f"t{t}" for t in np.minimum(rng.zipf(1.3, n) - 1, 99)])
        for i, n in enumerate(lengths)
    ]
    folder = tmp_path_factory.mktemp("parity")
    index = write_index(folder / "index", [docs[:90], docs[90:150], docs[150:]])
    return SimpleNamespace(
        index=index,
        tokens={doc.id: doc.tokens for doc in docs},
    )


def stored_length(length: float) -> int:
    """The length after Lucene's own rounding to one byte."""
    small_float = java_class("org.apache.lucene.util.SmallFloat")
    return small_float.byte4ToInt(small_float.intToByte4(int(length)))


def oracle_scores(collection, parameters: SearchParameters, text: str) -> dict[str, float]:
    """Scores of the documents that hold a term of the query, from their raw tokens."""
    terms = sorted({token for doc in collection.tokens.values() for token in doc})
    number = {term: i for i, term in enumerate(terms)}
    tf = np.zeros((len(terms), len(collection.tokens)))
    for column, doc in enumerate(collection.tokens.values()):
        for token in doc:
            tf[number[token], column] += 1
    query = Counter(number[term] for term in text.split() if term in number)
    score = {
        "bm25": lambda doc: oracle.bm25(
            tf, query, doc, **parameters.values(), stored=stored_length
        ),
        "qld": lambda doc: oracle.dirichlet(tf, query, doc, parameters.mu, stored=stored_length),
        "tfidf": lambda doc: oracle.tf_idf(tf, query, doc),
    }[parameters.model]
    return {
        name: score(doc)
        for doc, name in enumerate(collection.tokens)
        if tf[list(query), doc].any()
    }  # fmt: skip


@pytest.mark.parametrize("parameters", MODELS, ids=str)
def test_oracle_and_lucene_agree(collection, parameters):
    similarity = make_similarity(parameters)
    lucene = explain_scores(collection.index, similarity, "contents", TOPICS, hits=1000)
    for qid, text in TOPICS.items():
        expected = oracle_scores(collection, parameters, text)
        found = {doc: (score, explained) for doc, score, explained in lucene[qid]}
        assert found.keys() == expected.keys(), "Lucene retrieves what holds a term of the query"
        values = np.array([[*found[doc], expected[doc]] for doc in expected])
        np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=1e-6)
        np.testing.assert_allclose(values[:, 1], values[:, 2], rtol=2e-6, atol=2e-6)


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
