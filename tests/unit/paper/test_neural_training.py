"""Training and scoring on small made collections: arrays only, no index and no Java."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_matrix

from tdv_lucene.errors import TdvError
from tdv_lucene.matrix.term_document_matrix import TokenSequences
from tdv_lucene.matrix.term_vectors import TermVectors
from tdv_lucene.paper.neural import RANKERS, runs, training
from tdv_lucene.paper.neural.rankers import POOLED, NeuralConfig, make_ranker, score
from tdv_lucene.paper.neural.runs import rerank, score_documents
from tdv_lucene.paper.neural.training import Reader, judged_training, train
from tdv_lucene.simulation.retrieval import find_documents

pytestmark = pytest.mark.slow

TERMS, DOCUMENTS, TWIN = 40, 160, 20
CONFIG = NeuralConfig(
    query_terms=8, doc_terms=2 * POOLED, filters=32, units=8, pairs_per_step=16, max_epochs=20,
    patience=20, learning_rate=1e-2,
)  # fmt: skip


def _vectors(matrix, rng) -> TermVectors:
    """Terms t and t + TWIN mean about the same; the last two terms have no vector."""
    base = rng.normal(size=(TWIN, 12))
    vectors = np.concatenate([base, base + 0.1 * rng.normal(size=base.shape)]).astype(np.float32)
    known = np.arange(TERMS - 2, dtype=np.int32)
    return TermVectors(matrix.vocabulary.sha256, known, vectors[known], {})


def make_task(signal: str, seed: int = 0):
    """(matrix with sequences, vectors, topics, qrels): all documents have the query's first term.

    By ``"exact"`` the relevant ones have its second term as well, by ``"meaning"`` that term's
    twin, and the others a term of another meaning.
    """
    rng = np.random.default_rng(seed)
    shared, texts, topics, qrels = TWIN - 1, [], {}, {}
    subjects = rng.integers(0, 15, DOCUMENTS)
    for subject in subjects:
        word = subject + (TWIN if signal == "meaning" else 0)
        text = [shared, word, word, *rng.integers(15, TWIN - 1, rng.integers(1, 12))]
        texts.append(rng.permutation(text))
    for subject in range(15):
        topics[f"q{subject}"] = [f"t{shared:03d}", f"t{subject:03d}"]
        qrels[f"q{subject}"] = {f"d{d}": 1 for d in np.flatnonzero(subjects == subject)}
    dense = np.zeros((TERMS, DOCUMENTS), int)
    for doc, text in enumerate(texts):
        np.add.at(dense[:, doc], text, 1)
    rare = np.flatnonzero(dense.sum(axis=1) == 0)  # every term needs a posting
    for doc, term in enumerate(rare):
        texts[doc] = np.append(texts[doc], term)
        dense[term, doc] += 1
    matrix = make_matrix(dense)
    indptr = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    sequences = TokenSequences(np.concatenate(texts).astype(np.int32), indptr)
    matrix = replace(matrix, sequences=sequences)
    return matrix, _vectors(matrix, rng), topics, qrels


@pytest.fixture(scope="module")
def tasks():
    return {signal: make_task(signal) for signal in ("exact", "meaning")}


def _trained(task, name: str, config: NeuralConfig = CONFIG, seed: int = 0):
    made = judged_training(task[0], task[1], config, task[2], task[3])
    return made, train(name, made, seed)


@pytest.mark.parametrize(
    ("name", "signal"),
    [("drmm", "exact"), ("drmm", "meaning"), ("duet", "exact"), ("conv-knrm", "meaning")],
)
def test_each_learns_what_it_is_made_for(tasks, name: str, signal: str) -> None:
    """BM25 cannot tell a twin; at random half of the pairs are in order."""
    made, found = _trained(tasks[signal], name)
    start = make_ranker(name, 12, CONFIG, 5)
    assert found.epoch > 0
    assert _in_order(made, found.ranker) > 0.95 > _in_order(made, start)


def _in_order(made, ranker) -> float:
    """The share of pairs, of learned and of held-out queries, whose relevant document is first."""
    pairs = made.triples.pairs
    batches = training._batches(made, training._triples(made, pairs, np.random.default_rng(0)))
    scores = np.concatenate([np.asarray(score(ranker, batch)) for batch in batches])
    return float((scores[:, 0] > scores[:, 1]).mean())


def test_training_ends_when_the_held_out_loss_falls_no_more(tasks, monkeypatch) -> None:
    losses = [0.9, 0.8, 0.7, 0.75, 0.5, 0.6, 0.5, 0.9, 0.1]
    told = iter(losses)
    monkeypatch.setattr(training, "_mean_loss", lambda *given: next(told))
    _, found = _trained(tasks["exact"], "drmm", replace(CONFIG, patience=3))
    assert (found.epoch, found.loss) == (4, 0.5)
    assert next(told) == 0.1, "three epochs after the best one nothing more is learned"


def test_held_out_queries_are_not_learned_from(tasks) -> None:
    matrix, vectors, topics, qrels = tasks["exact"]
    made = judged_training(matrix, vectors, CONFIG, topics, qrels)
    pairs = made.triples.pairs
    learned, held_out = training._split(pairs, 0.2, np.random.default_rng(0))
    assert len({*held_out[:, 0]}) == round(0.2 * len(topics))
    assert not {*held_out[:, 0]} & {*learned[:, 0]}
    assert len(held_out) + len(learned) == len(pairs)
    one = pairs[pairs[:, 0] == pairs[0, 0]]
    both = training._split(one, 0.2, np.random.default_rng(0))
    assert all(part.tolist() == one.tolist() for part in both)


def test_negatives_are_found_and_not_relevant(tasks) -> None:
    matrix, vectors, topics, qrels = tasks["exact"]
    made = judged_training(matrix, vectors, CONFIG, topics, qrels)
    pairs = made.triples.pairs
    drawn = training._triples(made, pairs, np.random.default_rng(0))
    assert len(drawn) == len(pairs) == sum(map(len, qrels.values()))
    assert {*map(tuple, drawn[:, :2].tolist())} == {*map(tuple, pairs.tolist())}
    for query, positive, negative in drawn:
        relevant = qrels[made.judged.ids[query]]
        assert f"d{positive}" in relevant and f"d{negative}" not in relevant
        assert negative in made.triples.others[query]


@pytest.fixture(scope="module")
def reader(tasks) -> Reader:
    return Reader(tasks["exact"][0], tasks["exact"][1], CONFIG)


@pytest.mark.parametrize("name", RANKERS)
def test_scores_depend_on_neither_chunks_nor_order(reader: Reader, name: str, monkeypatch) -> None:
    ranker = make_ranker(name, 12, CONFIG, 2)
    query = reader.queries({"q": ["t003", "t019"]})[0]
    docs = np.arange(DOCUMENTS)
    whole = score_documents(ranker, reader, query, docs)
    turned = np.random.default_rng(1).permutation(docs)
    np.testing.assert_allclose(
        score_documents(ranker, reader, query, turned), whole[turned], rtol=1e-5, atol=1e-6
    )
    some = score_documents(ranker, reader, query, docs[5:6])
    np.testing.assert_allclose(some, whole[5:6], rtol=1e-5, atol=1e-6)
    monkeypatch.setattr(runs, "CHUNK", 7)
    cut = score_documents(ranker, reader, query, docs)
    np.testing.assert_allclose(cut, whole, rtol=1e-5, atol=1e-6)


def test_what_is_read(reader: Reader) -> None:
    queries = reader.queries({"a": ["t003", "zebra", "t019", "t003"], "b": [], "c": ["t001"] * 20})
    assert queries.shape == (3, 8)
    assert queries[0].tolist() == [3, 19, 3, -1, -1, -1, -1, -1]
    assert (queries[1] == -1).all() and (queries[2] == 1).all(), "cut after eight"
    np.testing.assert_allclose((reader.table**2).sum(axis=1), 12, rtol=1e-5)
    assert abs(reader.table[TERMS - 1] @ reader.table[TERMS - 2]) < 11, "random, not the same"
    batch = reader.batch(queries, np.array([[4, -1]] * 3), 2 * POOLED)
    own = reader.sequences.terms[reader.sequences.indptr[4] : reader.sequences.indptr[5]]
    assert batch.docs[0, 0, : len(own)].tolist() == own.tolist()
    assert (batch.docs[:, 1] == -1).all() and not batch.doc_vectors[:, 1].any()
    np.testing.assert_array_equal(batch.doc_vectors[0, 0, 0], reader.table[own[0]])
    assert not batch.query_vectors[1].any() and not batch.idf[1].any()


def test_equal_scores_keep_the_order_of_the_first_stage(reader: Reader, monkeypatch) -> None:
    monkeypatch.setattr(runs, "score_documents", lambda *a: np.ones(4, np.float32))
    names = ["d7", "d1", "d9", "d3"]
    documents = find_documents(reader.matrix, names)
    ranked = rerank(names, None, None, reader, documents, 4)
    assert [name for name, _ in ranked] == names
    scores = np.array([score for _, score in ranked], np.float32)
    assert (np.diff(scores) < 0).all() and scores[-1] > 0.999


def test_an_unknown_ranker_is_refused() -> None:
    with pytest.raises(TdvError, match="no neural re-ranker 'bert': choose one of drmm, duet"):
        make_ranker("bert", 12, CONFIG, 0)
