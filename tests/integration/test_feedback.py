"""Anserini's RM3 and Rocchio on pruned indexes, through Pyserini."""

from __future__ import annotations

import numpy as np
import pytest
from lucene_indexes import Doc
from test_prune import _values

from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.searching.search import open_searcher

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini]

FEEDBACK = ("set_rm3", "set_rocchio")
QUERY = "g3w1"


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    """120 documents on 20 topics of 8 words: RM3 takes no word of more than a tenth of them."""
    rng = np.random.default_rng(4)
    words = [[f"g{i % 20}w{w}" for w in rng.permutation(8)[:5]] for i in range(120)]
    return [Doc(f"d{i}", [*of, "all"]) for i, of in enumerate(words)]


def pruned(docs, make_index, folder, tf: str, vectors: str):
    """Every third term dropped; returns the index and the terms that are left."""
    source = make_index([docs[:80], docs[80:]], vectors=vectors)
    matrix = extract_matrix(source, folder / "matrix")
    weights = np.where(np.arange(matrix.shape[0]) % 3 == 0, 0, 1.3)
    weights[matrix.vocabulary.find([QUERY])] = 1
    prune_index(source, _values(matrix, weights), folder / "pruned", reduction=0, tf=tf)
    return folder / "pruned", {matrix.vocabulary.terms[i].decode() for i in np.flatnonzero(weights)}


@pytest.mark.parametrize("tf", ["scaled", "original", "similarity"])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_vectors_give_an_expansion_of_kept_terms(feedback, tf, docs, make_index, tmp_path):
    index, kept = pruned(docs, make_index, tmp_path, tf, vectors="v")
    searcher = open_searcher(index)
    plain = {hit.docid for hit in searcher.search(QUERY, 120)}
    getattr(searcher, feedback)()
    expansion = set(searcher.get_feedback_terms(QUERY))
    assert QUERY in expansion and len(expansion) > 1
    assert expansion <= kept
    found = {hit.docid for hit in searcher.search(QUERY, 120)}
    assert plain and plain < found, "the expansion finds more"


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_without_vectors_pyserini_says_so(feedback, docs, make_index, tmp_path):
    index, _ = pruned(docs, make_index, tmp_path, "scaled", vectors="")
    searcher = open_searcher(index)
    with pytest.raises(TypeError, match="not supported for indexes without document vectors"):
        getattr(searcher, feedback)()
    assert searcher.search(QUERY)
