"""Term vectors: from the matrix, from files of every kind, matched to stems, on disk."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import FastText
from small_problem import make_collection, make_matrix

from tdv_lucene.errors import TdvError
from tdv_lucene.matrix.embed import load_term_vectors, match_terms
from tdv_lucene.matrix.term_vectors import TermVectors, latent_semantic_vectors
from tdv_lucene.matrix.vector_files import WordVectors
from tdv_lucene.progress import silent

SENTENCES = [["pruning", "prunes", "index"], ["indexes", "pruning", "terms"]] * 20


@pytest.fixture(scope="module")
def fasttext() -> FastText:
    return FastText(SENTENCES, vector_size=6, min_count=1, epochs=1, seed=1, workers=1)


def stem(words) -> list[list[str]]:
    """An analyzer for the tests: cuts to five letters, drops 'terms', splits at a dash."""
    return [[part[:5] for part in word.split("-") if word != "terms"] for word in words]


def matrix_of(*terms: str):
    made = make_matrix(np.ones((len(terms), 8), int))
    encoded = made.vocabulary.terms.of(t.encode() for t in terms)
    object.__setattr__(made.vocabulary, "terms", encoded)
    return made


def test_terms_of_the_same_documents_get_the_same_direction():
    rng = np.random.default_rng(0)
    about = np.arange(200) % 2
    dense = np.array([rng.poisson(0.1 + 2 * (about == i // 10)) for i in range(20)])
    vectors = latent_semantic_vectors(make_matrix(dense), dimensions=3).vectors
    cosine = vectors @ vectors.T
    within = np.kron(np.eye(2, dtype=bool), np.ones((10, 10), bool)) & ~np.eye(20, dtype=bool)
    assert cosine[within].mean() > cosine[~within & ~np.eye(20, dtype=bool)].mean() + 0.5
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_a_stem_is_the_mean_of_the_words_that_become_it(fasttext):
    matrix = matrix_of("index", "pruni", "unseen")
    words = WordVectors.of_gensim(fasttext)
    found = match_terms(matrix, words, stem, 5, {}, silent)
    assert found.terms.tolist() == [0, 1, 2]
    both = (fasttext.wv["index"] + fasttext.wv["indexes"]) / 2
    np.testing.assert_allclose(found.vectors[0], both, rtol=1e-5)
    np.testing.assert_allclose(found.vectors[1], fasttext.wv["pruning"], rtol=1e-5)
    np.testing.assert_allclose(found.vectors[2], fasttext.wv.get_vector("unseen"), rtol=1e-5)
    assert found.origin == {"matched_terms": 2, "terms_by_subwords": 1}
    assert match_terms(matrix, words, stem, 9, {}, silent).terms.tolist() == [0, 1], "too rare"


def test_words_of_another_language_are_refused():
    words = WordVectors(["wort"], np.ones((1, 2), np.float32), None)
    with pytest.raises(TdvError, match="none of the 1 words"):
        match_terms(matrix_of("index"), words, stem, 1, {}, silent)


def test_round_trip_and_checks(tmp_path):
    matrix = make_collection()[0]
    made = latent_semantic_vectors(matrix, dimensions=4)
    made.save(tmp_path / "E")
    read = load_term_vectors(tmp_path / "E", matrix)
    np.testing.assert_array_equal(read.vectors, made.vectors)
    np.testing.assert_array_equal(read.terms, made.terms)
    assert read.origin == made.origin
    with pytest.raises(TdvError, match="made for another vocabulary"):
        load_term_vectors(tmp_path / "E", matrix_of("other"))
    np.save(tmp_path / "E" / "vectors.npy", np.full_like(made.vectors, np.nan))
    with pytest.raises(TdvError, match="damaged.*vectors"):
        TermVectors.load(tmp_path / "E")
