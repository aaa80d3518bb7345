"""Norms of each kind are read as they were written: by every searcher and ranking function."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ciff_reading import read_ciff
from command_line import search
from index_facts import recorded_parameters
from lucene_indexes import Doc, Layout, change, write_index
from lucene_reading import search_lucene
from pruning_inputs import read_user_data

from tdv_lucene import TdvError, export_ciff, find_shards, inspect_index, prune_index, search_index
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.searcher import make_similarity, open_searched
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.matrix.term_document_matrix import lucene_length
from tdv_lucene.ranking import SearchParameters, ranking_function
from tdv_lucene.ranking.functions import bm25_idf
from tdv_lucene.simulation.collection import plain_collection
from tdv_lucene.timing.latency import measure_latency
from tdv_lucene.values.peers import make_peer_values

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "t1 t7", "q2": "t0 t30 t2", "q3": "t12"}
MODELS = [
    SearchParameters("bm25", k1=0.9, b=0.4),
    SearchParameters("bm25", k1=2.5, b=1.0),
    SearchParameters("qld", mu=50.0),
    SearchParameters("tfidf"),
]
KINDS = ["default", "accurate", "none"]


def _docs(longest: int = 700) -> list[Doc]:
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, longest, 80)
    return [
        Doc(f"d{i:02}", [f"t{t}" for t in np.minimum(rng.zipf(1.4, n) - 1, 40)])
        for i, n in enumerate(lengths)
    ]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory) -> dict[str, Path]:
    folder, docs = tmp_path_factory.mktemp("kinds"), _docs()
    return {
        norms: write_index(folder / norms, [docs[:50], docs[50:]], Layout(norms=norms))
        for norms in KINDS
    }


def _search(index, folder: Path, **options) -> dict[str, list[tuple[str, float]]]:
    return search(index, TOPICS, folder / "run", **options)


def _by_anserini(index: Path, k1: float, b: float) -> dict[str, dict[str, float]]:
    """What Lucene's own searcher finds by Anserini's similarity for exact lengths."""
    accurate = java_class("io.anserini.search.similarity.AccurateBM25Similarity")(k1, b)
    return {qid: dict(hits) for qid, hits in search_lucene(index, TOPICS, accurate).items()}


PRINTED = 0.5e-4 + 80e-6
"""Runs print four decimals, and lower ties by a millionth each: here of 80 documents."""


def _assert_same(run, expected) -> None:
    for name, scores in expected.items():
        found = dict(run.get(name, []))
        assert found.keys() == scores.keys()
        for doc, score in scores.items():
            assert found[doc] == pytest.approx(score, abs=PRINTED)


def _by_formula(matrix, parameters: SearchParameters) -> dict[str, dict[str, float]]:
    """What the simulation of the index gives, which learning and tuning rely on."""
    collection = plain_collection(matrix)
    similarity = ranking_function(parameters.model).similarity(parameters)
    ids, found = [doc.decode() for doc in matrix.doc_ids], {}
    for name, text in TOPICS.items():
        terms = matrix.vocabulary.find(text.split())
        scores, has = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1], bool)
        for term in terms[terms >= 0]:
            span = slice(*matrix.indptr[term : term + 2])
            docs, tf = matrix.indices[span], np.asarray(matrix.data[span], np.float64)
            of_term = collection.statistics.at(term)
            scores[docs] += similarity.term_scores(tf, collection.doc_len[docs], of_term)
            has[docs] = True
        found[name] = {ids[doc]: scores[doc] for doc in np.flatnonzero(has)}
    return found


@pytest.mark.parametrize("parameters", MODELS, ids=str)
@pytest.mark.parametrize("norms", KINDS)
def test_search_equals_the_simulated_index(norms, parameters, indexes, tmp_path):
    matrix = extract_matrix(indexes[norms], tmp_path / "matrix")
    given = {"model": parameters.model, **parameters.values()}
    run = _search(indexes[norms], tmp_path, **given)
    _assert_same(run, _by_formula(matrix, parameters))


def test_every_door_reads_exact_lengths_as_anserinis_own_class(indexes, tmp_path):
    """Runs, shards, an index that stays open, and timed searches."""
    index = indexes["accurate"]
    run = _search(index, tmp_path)
    _assert_same(run, _by_anserini(index, 0.9, 0.4))
    parameters = recorded_parameters(index)
    ranks = make_similarity(parameters)
    with open_searched(index, ranks, "contents", analysis=DEFAULT, threads=1) as opened:
        for name, text in TOPICS.items():
            hits = {hit.document: hit.score for hit in opened.best(text, 1000)}
            _assert_same(run, {name: hits})
    timed = {"a": (index, parameters)}
    measured = measure_latency(
        timed, TOPICS, seed=0, rounds=5, budget_seconds=0.2, raw=tmp_path / "raw.npy"
    )
    assert set(measured.queries) == set(TOPICS)
    docs = _docs()
    for name, some in (("s0", docs[:30]), ("s1", docs[30:])):
        write_index(tmp_path / "shards" / name, [some], Layout(norms="accurate"))
    assert _search(find_shards(str(tmp_path / "shards" / "*")), tmp_path) == run


@pytest.mark.parametrize(
    "options", [{"feedback": "rm3"}, {"feedback": "rocchio"}, {"model": "qld"}]
)
def test_lengths_that_a_byte_can_hold_rank_alike(options, tmp_path):
    """Most are above 40, where the exact length is not its byte."""
    lengths = [int(lucene_length(np.array(len(doc.tokens)))) for doc in _docs()]
    docs = [replace(doc, tokens=doc.tokens[:n]) for doc, n in zip(_docs(), lengths)]
    runs = []
    for norms in ("default", "accurate"):
        index = write_index(tmp_path / norms, [docs], Layout(norms=norms, vectors="v"))
        assert next(f for f in inspect_index(index)["fields"] if f["vectors"])["norms"] == norms
        runs.append(_search(index, tmp_path, **options))
    _assert_same(runs[0], {name: dict(hits) for name, hits in runs[1].items()})


@pytest.mark.parametrize("search_as", ["anserini", "recorded"])
@pytest.mark.parametrize("longest", [100, 700])
def test_pruned_indexes_keep_exact_lengths(search_as, longest, tmp_path):
    """Also where all lengths fit in a byte, which does not tell then what they are."""
    source = write_index(tmp_path / "source", [_docs(longest)], Layout(norms="accurate"))
    make_peer_values(source, tmp_path / "values", "ridf", k1=3.0, b=0.7)
    prune_index(
        source, tmp_path / "values", tmp_path / "pruned", reduction=0.2, search_as=search_as
    )
    assert ("tdv.baked.k1" in read_user_data(tmp_path / "pruned")) == (search_as == "anserini")
    parameters = recorded_parameters(tmp_path / "pruned")
    run = _search(tmp_path / "pruned", tmp_path, model="bm25")
    _assert_same(run, _by_anserini(tmp_path / "pruned", parameters.k1, parameters.b))


def test_norms_of_another_similarity_are_refused(tmp_path):
    """Bytes in one segment and exact lengths in the next: none of the two."""
    docs, index = _docs(), tmp_path / "mixed"
    write_index(index, [docs[:40]], Layout())
    change(index, docs[40:], layout=Layout(norms="accurate"))
    for model in ("bm25", "qld"):
        with pytest.raises(TdvError, match="norms.*contents|contents.*norms"):
            search_index(index, TOPICS, tmp_path / "run", model=model)
    assert not (tmp_path / "run").exists()
    found = _search(index, tmp_path, model="tfidf")  # the remedy: reads no norms
    assert found.keys() == TOPICS.keys()


def _bm25_of_file(path: Path, k1: float, b: float) -> dict[str, dict[str, float]]:
    """What a receiver that knows nothing of norms ranks by."""
    _, lists, documents = read_ciff(path)
    lengths = np.array([document.doclength for document in documents], float)
    with_terms = np.float64(np.count_nonzero(lengths))  # pruning may empty some
    found: dict[str, dict[str, float]] = {}
    by_term = {one.term: one for one in lists}
    for name, text in TOPICS.items():
        scores: dict[str, float] = {}
        for term in set(text.split()) & by_term.keys():
            numbers = np.cumsum([posting.docid for posting in by_term[term].postings])
            for doc, posting in zip(numbers, by_term[term].postings):
                length = 1 - b + b * lengths[doc] / lengths.mean()
                idf = float(bm25_idf(np.float64(by_term[term].df), with_terms))
                score = idf * posting.tf / (posting.tf + k1 * length)
                key = documents[doc].collection_docid
                scores[key] = scores.get(key, 0) + score
        found[name] = scores
    return found


@pytest.mark.parametrize("is_pruned", [False, True])
def test_an_export_without_norms_says_how_lucene_ranks_it(is_pruned, indexes, tmp_path):
    index = indexes["none"]
    if is_pruned:
        make_peer_values(index, tmp_path / "values", "ridf", k1=2.0, b=0.6)
        prune_index(index, tmp_path / "values", tmp_path / "pruned", reduction=0.2)
        index = tmp_path / "pruned"
    told = export_ciff(index, tmp_path / "x.ciff")["description"]
    k1, b = (float(number) for number in re.search(r"k1 ([\d.e-]+), b ([\d.e-]+)", told).groups())
    assert b == 0
    run = _search(index, tmp_path, model="bm25")
    _assert_same(run, _bm25_of_file(tmp_path / "x.ciff", k1, b))
