"""``prune --tf similarity``: original frequencies in the index, the values applied at search."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc, open_writer, write_index
from lucene_reading import read_positions
from test_prune import _values
from test_search import read_lines

from tdv_lucene.core.scoring import Bm25, Dirichlet, Statistics, TfIdf
from tdv_lucene.errors import TdvError
from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.indexes.user_data import java_similarity, recorded_parameters
from tdv_lucene.jvm import find_java, java_class, pyserini_jar, rewriter
from tdv_lucene.jvm.index import analyze
from tdv_lucene.jvm.searcher import explain_scores, make_similarity, weigh_similarity
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.searching.search import open_searcher, search_index
from tdv_lucene.values.stored_values import round_values

pytestmark = pytest.mark.jvm

LUCENE = "org.apache.lucene."
CORE = {"bm25": Bm25(0.9, 0.4), "qld": Dirichlet(1000.0), "tfidf": TfIdf()}
TOPICS = {"a": "t0 t1", "b": "t1 t3 t3 t7", "c": "t2", "d": "t0 t4 t19 t38", "e": "t5 t6 t0"}
VOCABULARY = 40
VALUES = {
    "usual": lambda rng: np.exp(rng.normal(0, 0.5, VOCABULARY)) * (rng.random(VOCABULARY) > 0.2),
    "extreme": lambda rng: 2.0 ** rng.uniform(-20, 20, VOCABULARY),
    "one": lambda rng: np.ones(VOCABULARY),
    "tiny": lambda rng: np.full(VOCABULARY, 1e-30),
    "alternating": lambda rng: np.where(np.arange(VOCABULARY) % 2, 2.0**20, 2.0**-20),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """2,500 documents in two segments, some deleted: long lists, so that blocks are skipped."""
    rng = np.random.default_rng(11)
    lengths = rng.geometric(1 / 20, 2500)
    docs = [
        Doc(f"d{i}", [f"t{t}" for t in np.minimum(rng.zipf(1.4, n) - 1, 39)], deleted=i % 97 == 5)
        for i, n in enumerate(lengths)
    ]
    return write_index(tmp_path_factory.mktemp("weighted") / "index", [docs[:1700], docs[1700:]])


@pytest.fixture(scope="module")
def matrix(source, tmp_path_factory):
    return extract_matrix(source, tmp_path_factory.mktemp("matrix") / "matrix")


def pruned_by(matrix, source, folder: Path, name: str, seed: int = 0):
    """An index pruned with values of this kind; returns it and the values it should apply."""
    weights = VALUES[name](np.random.default_rng(seed))[: len(matrix.vocabulary)]
    values = _values(matrix, weights)
    prune_index(source, values, folder / "pruned", reduction=0, tf="similarity")
    return folder / "pruned", round_values(values.at_reduction(0, original_tf=True).tdv)


def model_scores(matrix, tdv: np.ndarray, model: str, text: str, doc_len: np.ndarray):
    """Real-valued scores of every document, by the core's formula over frequencies x values."""
    tf = np.zeros(matrix.shape)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    tf[rows, matrix.indices] = matrix.data
    kept = tf * (tdv > 0)[:, None]
    weighted = kept * tdv.astype(float)[:, None]
    statistics = Statistics(
        np.maximum((kept > 0).sum(axis=1), 1), weighted.sum(axis=1),
        np.float64((kept.sum(axis=0) > 0).sum()), weighted.sum(),
    )  # fmt: skip
    scores = np.zeros(matrix.shape[1])
    for token, times in Counter(analyze([text])[0]).items():
        term = int(matrix.vocabulary.find([token])[0])
        if term >= 0 and tdv[term] > 0:
            of_term = statistics.at(term)
            scores += times * CORE[model].term_scores(weighted[term], doc_len, of_term)
    return scores


def stored_lengths(matrix, tdv: np.ndarray) -> np.ndarray:
    """float64[D]: |d|' after rounding to whole tokens of the stored unit, and to Lucene's byte."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    kept = tdv[rows] > 0
    weighted = matrix.data * tdv[rows].astype(float)
    unit = (matrix.data * kept).sum() / weighted.sum()
    parts = np.clip(np.rint(256 * unit * weighted), 1, 1 << 30) * kept
    sums = np.bincount(matrix.indices, parts, matrix.shape[1]) / 256
    floats = java_class(LUCENE + "util.SmallFloat")
    lengths = np.where(sums > 0, np.clip(np.rint(sums), 1, 1 << 30), 0)
    seen = {n: floats.byte4ToInt(floats.intToByte4(n)) for n in set(lengths.astype(int).tolist())}
    return np.array([seen[n] for n in lengths.astype(int).tolist()]) / unit


@pytest.mark.parametrize("model", list(CORE))
@pytest.mark.parametrize("name", ["usual", "one"])
def test_scores_are_those_of_the_real_valued_model(name, model, source, matrix, tmp_path):
    pruned, tdv = pruned_by(matrix, source, tmp_path, name)
    similarity = java_similarity(recorded_parameters(pruned, model), pruned)
    found = explain_scores(pruned, similarity, "contents", TOPICS, hits=100)
    lengths = stored_lengths(matrix, tdv)
    for qid, text in TOPICS.items():
        expected = model_scores(matrix, tdv, model, text, lengths)
        position = {doc.decode(): i for i, doc in enumerate(matrix.doc_ids)}
        assert len(found[qid]) == min(100, np.count_nonzero(expected)) or model == "qld"
        scores = np.array([[s, e, expected[position[doc]]] for doc, s, e in found[qid]])
        np.testing.assert_allclose(scores[:, 0], scores[:, 2], rtol=5e-5, atol=1e-6)
        np.testing.assert_allclose(scores[:, 1], scores[:, 2], rtol=5e-5, atol=1e-6)
        best = np.sort(expected)[::-1][: len(scores)]
        np.testing.assert_allclose(scores[:, 0], best, rtol=5e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", list(VALUES))
def test_skipping_by_block_maxima_is_exact(name, seed, source, matrix, tmp_path):
    """The best ten, where blocks were skipped, against those of scoring everything."""
    pruned, _ = pruned_by(matrix, source, tmp_path, name, seed)
    skipped = 0
    paths = java_class("java.nio.file.Paths")
    directory = java_class(LUCENE + "store.FSDirectory").open(paths.get(str(pruned)))
    reader = java_class(LUCENE + "index.DirectoryReader").open(directory)
    for model in CORE:
        searcher = java_class(LUCENE + "search.IndexSearcher")(
            reader, signature="(Lorg/apache/lucene/index/IndexReader;)V"
        )
        searcher.setSimilarity(java_similarity(recorded_parameters(pruned, model), pruned))
        for text in TOPICS.values():
            query = _query(text)
            every = java_class("tdvlucene.common.Lucene").countingAll(10)
            exhaustive = searcher.search(query, every)
            for hits in (10, 200):
                found = searcher.search(query, hits)
                some = min(10, len(found.scoreDocs))
                pairs = zip(found.scoreDocs[:some], exhaustive.scoreDocs[:some])
                for ours, theirs in pairs:
                    assert ours.score == pytest.approx(theirs.score, rel=1e-5)
                assert some == len(exhaustive.scoreDocs)
                skipped += "+" in found.totalHits.toString()  # "1001+ hits"
    reader.close()
    assert skipped > 0, "no search skipped a document: the test shows nothing"


def _query(text: str):
    builder = java_class(LUCENE + "search.BooleanQuery$Builder")()
    should = java_class(LUCENE + "search.BooleanClause$Occur").SHOULD
    for token, times in Counter(text.split()).items():
        term = java_class(LUCENE + "index.Term")("contents", token)
        query = java_class(LUCENE + "search.TermQuery")(term)
        builder.add(java_class(LUCENE + "search.BoostQuery")(query, float(times)), should)
    return builder.build()


def test_the_index_is_sound_and_keeps_positions(make_index, tmp_path):
    docs = [Doc("a", ["x", "y", "z", "x"]), Doc("b", ["y", "x"]), Doc("c", ["z"])]
    index = make_index([docs[:2], docs[2:]], options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp")
    matrix = extract_matrix(index, tmp_path / "matrix")
    values = _values(matrix, np.array([2, 0.5, 0]))
    prune_index(index, values, tmp_path / "pruned", reduction=0, tf="similarity")
    rewriter.check_index(tmp_path / "pruned")
    before, after = (read_positions(i, "contents") for i in (index, tmp_path / "pruned"))
    assert after == {key: places for key, places in before.items() if key[0] != b"z"}
    kept = extract_matrix(tmp_path / "pruned", tmp_path / "kept")
    assert list(kept.vocabulary.terms) == [b"x", b"y"]
    assert kept.data.tolist() == [2, 1, 1, 1]
    # x counts 2 and y 0.5, together 7 for 5 tokens: 4.5 and 2.5 become 3.2 and 1.8
    assert kept.norms.tolist() == [3, 2, 0]


def test_values_survive_merging_and_copying(source, matrix, tmp_path):
    """All that goes through Lucene's writer, as replication and forced merges do."""
    pruned, tdv = pruned_by(matrix, source, tmp_path, "usual")
    merged = tmp_path / "merged"
    merged.mkdir()
    for file in pruned.iterdir():
        if not file.name.startswith("tdv-"):  # what the commit lists, and no more
            shutil.copy(file, merged)
    writer = open_writer(merged)
    writer.getConfig().setMergePolicy(java_class(LUCENE + "index.TieredMergePolicy")())
    writer.forceMerge(1)
    writer.close()
    assert len(inspect_index(merged)["segments"]) == 1
    bm25 = make_similarity("bm25", k1=0.9, b=0.4)
    before, after = (
        explain_scores(index, weigh_similarity(bm25, index, "contents"), "contents", TOPICS, 50)
        for index in (pruned, merged)
    )
    assert before == after


def test_changed_index_is_refused(source, matrix, tmp_path):
    pruned, _ = pruned_by(matrix, source, tmp_path, "usual")
    write_index(pruned, [[Doc("more", ["t1", "new"])]])
    with pytest.raises(TdvError, match="TDVs are of another vocabulary.*prune its source again"):
        search_index(pruned, TOPICS, tmp_path / "run")


def test_index_without_its_values_is_refused(tiny_index):
    bm25 = make_similarity("bm25", k1=0.9, b=0.4)
    with pytest.raises(TdvError, match="has no TDVs for field 'contents'"):
        weigh_similarity(bm25, tiny_index, "contents")


def test_pruned_once_is_not_pruned_again(source, matrix, tmp_path):
    pruned, _ = pruned_by(matrix, source, tmp_path, "usual")
    again = _values(extract_matrix(pruned, tmp_path / "again"))
    with pytest.raises(TdvError, match="was made with tf='similarity'.*prune its source"):
        prune_index(pruned, again, tmp_path / "twice")


def test_too_large_a_value_is_refused(source, matrix, tmp_path):
    values = _values(matrix, np.full(matrix.shape[0], 3e6))
    with pytest.raises(TdvError, match="exceeds 1.04858e.06, the most"):
        prune_index(source, values, tmp_path / "pruned", reduction=0, tf="similarity")


def test_plain_bm25_ranks_by_original_frequencies(source, matrix, tmp_path):
    """With equal values the pruned index is the source: plain search finds the same."""
    pruned, _ = pruned_by(matrix, source, tmp_path, "one")
    plain = make_similarity("bm25", k1=0.9, b=0.4)
    a, b = (explain_scores(index, plain, "contents", TOPICS, 50) for index in (source, pruned))
    for qid in TOPICS:  # the source still counts its deleted documents
        scores = [np.array([score for _, score, _ in found[qid]]) for found in (a, b)]
        np.testing.assert_allclose(*scores, rtol=0.01)


@pytest.mark.pyserini
def test_pyserinis_searcher_applies_the_values(source, matrix, tmp_path):
    pruned, _ = pruned_by(matrix, source, tmp_path, "usual")
    for model in CORE:
        run = tmp_path / f"{model}.run"
        search_index(pruned, {"a": "t0 t4 t19"}, run, model=model, hits=50)
        hits = open_searcher(pruned, model).search("t0 t4 t19", 50)
        expected = [(doc, score) for _, _, doc, _, score, _ in read_lines(run)]
        assert [(hit.docid, f"{hit.score:.6f}") for hit in hits] == expected


@pytest.mark.pyserini  # the SearchCollection of Anserini 2.3 starts by fetching a list of indexes
@pytest.mark.parametrize("model", ["bm25", "qld"])
def test_anserinis_command_line_applies_the_values(model, source, matrix, tmp_path):
    pruned, _ = pruned_by(matrix, source, tmp_path, "usual")
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(TOPICS.values())))
    search_index(pruned, topics, tmp_path / "ours", model=model, hits=30)
    hooks = java_class("java.lang.Class").forName("tdvlucene.common.Lucene")
    location = hooks.getProtectionDomain().getCodeSource().getLocation().getPath()
    command = [str(find_java().home / "bin" / "java"), "-cp", f"{pyserini_jar()}:{location}"]
    command += ["tdvlucene.search.WeightedSearchCollection", "-index", str(pruned), f"-{model}"]
    command += ["-topics", str(topics), "-topicReader", "TsvString", "-hits", "30"]
    done = subprocess.run(
        [*command, "-output", str(tmp_path / "theirs")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ours, theirs = (
        [line[:5] for line in read_lines(tmp_path / name)] for name in ("ours", "theirs")
    )
    assert ours == theirs
