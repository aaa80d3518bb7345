"""Anserini's RM3 and Rocchio on pruned indexes: through Pyserini, and by ``search``."""

from __future__ import annotations

import numpy as np
import pytest
from lucene_indexes import Doc
from pruning_inputs import values_of

from tdv_lucene import TdvError, extract_matrix, open_searcher, prune_index, search_index

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini]

FEEDBACK = ("set_rm3", "set_rocchio")
QUERY = "g3w1"


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    """120 documents on 20 topics of 8 words: RM3 takes no word of more than a tenth of them."""
    rng = np.random.default_rng(4)
    words = [[f"g{i % 20}w{w}" for w in rng.permutation(8)[:5]] for i in range(120)]
    return [Doc(f"d{i}", [*tokens, "all"]) for i, tokens in enumerate(words)]


def pruned(docs, make_index, folder, tf: str, vectors: str):
    """Every third term dropped."""
    source = make_index([docs[:80], docs[80:]], vectors=vectors)
    matrix = extract_matrix(source, folder / "matrix")
    weights = np.where(np.arange(matrix.shape[0]) % 3 == 0, 0, 1.3)
    weights[matrix.vocabulary.find([QUERY])] = 1
    prune_index(source, values_of(matrix, weights), folder / "pruned", reduction=0, tf=tf)
    return folder / "pruned"


@pytest.mark.parametrize("tf", ["scaled", "original"])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_search_expands_as_pyserini(feedback, tf, docs, make_index, tmp_path):
    """The same hits and scores, for several queries at once."""
    index = pruned(docs, make_index, tmp_path, tf, vectors="v")
    topics = {f"q{i}": f"g{i}w1 g{i}w4" for i in range(12)} | {"none": "zyzzy"}
    name = feedback.removeprefix("set_")
    summary = search_index(index, topics, tmp_path / "run", feedback=name, hits=50, threads=3)
    assert summary["feedback"] == name and summary["queries_without_hits"][-1] == "none"
    searcher = open_searcher(index)
    getattr(searcher, feedback)()
    expected = [
        f"{qid} Q0 {hit.docid} {rank} {hit.score:.6f} tdv-lucene-bm25-{name}"
        for qid, text in topics.items()
        for rank, hit in enumerate(searcher.search(text, 50), 1)
    ]
    run = (tmp_path / "run").read_text().splitlines()
    assert run == expected
    search_index(index, topics, tmp_path / "plain", hits=50, tag="mine")
    assert (tmp_path / "plain").read_text().splitlines()[0].endswith(" mine")
    assert len(run) > len((tmp_path / "plain").read_text().splitlines())


@pytest.mark.parametrize("feedback", ["rm3", "rocchio"])
def test_search_says_what_feedback_needs(feedback, docs, make_index, tmp_path):
    index = pruned(docs, make_index, tmp_path, "scaled", vectors="")
    with pytest.raises(TdvError, match=f"no term vectors of 'contents', which {feedback}.*-storeD"):
        search_index(index, {"q": QUERY}, tmp_path / "run", feedback=feedback)
    with pytest.raises(TdvError, match="searches only the field 'contents', not 'title'"):
        search_index(index, {"q": QUERY}, tmp_path / "run", feedback=feedback, field="title")
    with pytest.raises(TdvError, match="feedback must be one of rm3, rocchio, got 'prf'"):
        search_index(index, {"q": QUERY}, tmp_path / "run", feedback="prf")
    assert not (tmp_path / "run").exists()
