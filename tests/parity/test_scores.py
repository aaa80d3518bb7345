"""One score: a plain NumPy oracle, and Lucene's score and explain()."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.jvm import java_class

pytestmark = pytest.mark.jvm


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
