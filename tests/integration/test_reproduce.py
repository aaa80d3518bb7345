"""The paper's experiment on a miniature of its collections' format, made here."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import ROOT, run_apart, run_command

from tdv_lucene import TdvError, build_index, evaluate_run, read_qrels, read_topics
from tdv_lucene.evaluation.runs import read_run
from tdv_lucene.evaluation.significance import compare_paired
from tdv_lucene.paper import recipes, reproduce
from tdv_lucene.paper.experiment import read_queries
from tdv_lucene.paper.neural import RANKERS, runs
from tdv_lucene.paper.neural.rankers import NeuralConfig
from tdv_lucene.paper.published import COLLECTIONS
from tdv_lucene.paper.recipes import PaperRecipe, TunedRecipe
from tdv_lucene.paper.reproduce import reproduce_paper

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

SUBJECTS, NOISE = 12, 20
BENCH = ROOT / "scripts" / "bench" / "paper.py"
TINY_RECIPE = PaperRecipe(max_epochs=2)
TINY_TUNED = TunedRecipe(
    sparsities=(0.95,), powers=(0.0,), targets=(0.1, 0.3, 0.5), share_of_statistics=0.0,
    inner_folds=2, kept_recall=0.0, pairs_per_step=16, learning_rate=0.1,
)  # fmt: skip
TINY_NEURAL = NeuralConfig(
    query_terms=8, doc_terms=20, filters=8, units=8, pairs_per_epoch=64, max_epochs=2
)
FAST = {"folds": 2, "recipe": "paper", "latency_budget_seconds": 0.5}


@pytest.fixture(scope="module", autouse=True)
def tiny_recipes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "LITERAL", TINY_RECIPE)
        patch.setattr(reproduce, "TUNED", TINY_TUNED)
        patch.setattr(runs, "NeuralConfig", lambda: TINY_NEURAL)
        # On so few queries, nDCG@5 is kept by luck.
        patch.setattr(recipes, "most_zeros", lambda tried, *_: tried[-1].setting)
        yield


def word(number: int) -> str:
    """A word the stemmer leaves alone."""
    return "".join("bdfgkmprtv"[int(d)] + "o" for d in f"{number:03d}")


@pytest.fixture(scope="module")
def newswire(tmp_path_factory):
    """An index of SGML documents as TREC's disks have them, with topics and qrels."""
    folder = tmp_path_factory.mktemp("trec")
    rng = np.random.default_rng(0)
    documents, qrels = [], []
    for number in range(96):
        subject = number % SUBJECTS
        words = [word(subject)] * 2 + [word(100 + n) for n in rng.integers(0, NOISE, 12)]
        name = f"AP880212-{number:04d}"
        documents.append(
            f"<DOC>\n<DOCNO> {name} </DOCNO>\n<HEAD>{word(subject)}</HEAD>\n"
            f"<TEXT>\n{' '.join(words)}\n</TEXT>\n</DOC>\n"
        )
        qrels.append(f"{51 + subject} 0 {name} 1")
        qrels.append(f"{51 + (subject + 1) % SUBJECTS} 0 {name} 0")
    (folder / "disk").mkdir()
    (folder / "disk" / "ap880212").write_text("".join(documents))
    flags = ["-collection", "TrecCollection", "-input", str(folder / "disk"),
             "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1",
             "-storePositions"]  # fmt: skip
    build_index(folder / "index", flags)
    topics = [
        f"<top>\n<num> Number: {number:03d}\n<title> Topic: {word(number - 51)} {word(103)}\n"
        "<desc> Description: nothing\n</top>\n"
        for number in (*range(51, 51 + SUBJECTS), 301)
    ]
    (folder / "topics.txt").write_text("\n".join(topics))
    (folder / "plain.txt").write_text("\n".join(topics).replace("Number: 0", "Number: "))
    qrels += ["51 0 WSJ870324-0001 1", "301 0 AP880212-0001 1"]
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
    return SimpleNamespace(
        index=folder / "index", topics=folder / "topics.txt", qrels=folder / "qrels.txt",
        plain=folder / "plain.txt",
    )  # fmt: skip


@pytest.fixture(scope="module")
def reproduced(newswire, tmp_path_factory):
    """All six rows of the paper's tables."""
    output = tmp_path_factory.mktemp("reproduced") / "out"
    report = reproduce_paper(
        "ap88-89", newswire.index, newswire.topics, newswire.qrels, output,
        neural=tuple(RANKERS), rerank_depth=20, **FAST,
    )  # fmt: skip
    return SimpleNamespace(output=output, report=report)


def of_the_collection(newswire):
    """Topics and qrels without those of other collections."""
    topics = {q: text for q, text in read_topics(newswire.plain).items() if q != "301"}
    qrels = read_qrels(newswire.qrels)
    del qrels["51"]["WSJ870324-0001"]
    return topics, qrels


def test_baselines_count_judged_documents_of_the_collection_only(newswire, reproduced):
    """A relevant document of another collection must not lower recall."""
    topics, qrels = of_the_collection(newswire)
    for model, entry in reproduced.report["models"].items():
        run = reproduced.output / f"{model}.baseline.run"
        means = evaluate_run(run, topics, qrels).means()
        for measure in ("nDCG@5", "R@1000"):
            assert entry[measure]["baseline"] == pytest.approx(means[measure])
    assert reproduced.report["models"]["bm25"]["R@1000"]["baseline"] == 1.0


def test_the_three_tables_beside_the_published_ones(reproduced):
    """Of the paper's topics and models; every query is held out once."""
    report = reproduced.report
    assert json.loads((reproduced.output / "report.json").read_text()) == report
    assert report["collection"] == "AP88-89" and [*report["models"]] == ["tfidf", "qld", "bm25"]
    assert report["queries"] == SUBJECTS, "topic 301 is not of this collection"
    for model in report["models"]:
        folds = [{*read_run(reproduced.output / f"{model}.tdv.{fold}.run")["query"]}
                 for fold in (1, 2)]  # fmt: skip
        assert not folds[0] & folds[1] and len(folds[0] | folds[1]) <= SUBJECTS
    entry = report["models"]["bm25"]
    assert entry["nDCG@5"]["published"] == [44.70, 47.09]
    assert entry["latency_ms"]["baseline"] > 0 < entry["latency_ms"]["tdv"]
    assert entry["postings_removed"]["mean"] == pytest.approx(
        np.mean(entry["postings_removed"]["by_fold"])
    )
    text = (reproduced.output / "tables.md").read_text()
    for number, published in ((1, "683.8"), (2, "47.09"), (3, "-46.91 %")):
        assert f"Table {number}, AP88-89" in text and published in text
    assert f"{100 * entry['nDCG@5']['baseline']:.2f}" in text


@pytest.mark.parametrize("name", RANKERS)
def test_neural_rows_beside_the_published_ones(newswire, reproduced, name):
    """Measured on the same queries, and compared with TDV-BM25 as TDV-BM25 is with BM25."""
    report, row = reproduced.report, reproduced.report["neural"][name]
    topics, qrels = of_the_collection(newswire)
    measured = evaluate_run(reproduced.output / f"{name}.run", topics, qrels)
    tdv = {}
    for fold in (1, 2):
        run = reproduced.output / f"bm25.tdv.{fold}.run"
        answered = {*read_run(run)["query"]}
        found = evaluate_run(run, {q: topics[q] for q in topics if q in answered}, qrels)
        tdv |= dict(zip(found.queries, found.values["nDCG@5"]))
    same = compare_paired(
        measured.values["nDCG@5"], np.array([tdv[q] for q in measured.queries]), 12
    )
    assert row["nDCG@5"]["value"] == pytest.approx(measured.means()["nDCG@5"])
    assert row["nDCG@5"]["difference"] == pytest.approx(same.difference)
    assert row["nDCG@5"]["p_value"] == pytest.approx(same.p_value)
    assert row["R@1000"]["value"] == report["models"]["bm25"]["R@1000"]["baseline"]
    assert row["latency_ms"]["reranking"] > 0 and row["latency_ms"]["queries"] >= 2
    assert len(row["epochs"]) == 2
    published = {"drmm": (44.05, ">10^4"), "duet": (43.86, ">10^5"), "conv-knrm": (44.13, ">10^5")}
    assert (row["nDCG@5"]["published"], row["latency_ms"]["published"]) == published[name]
    text = (reproduced.output / "tables.md").read_text()
    assert f"| {RANKERS[name]} | " in text and f"| {RANKERS[name]}, nDCG@5 | " in text
    assert "BM25's first 20 re-ranked, so R@1000 is its own" in text


def test_who_owns_the_disks_runs_one_script(newswire, tmp_path):
    """With documents, topics and qrels of all collections in one folder."""
    disks, output = tmp_path / "disks", tmp_path / "run"
    shutil.copytree(newswire.index.parent / "disk", disks / "ap88-89")
    for path in (newswire.topics, newswire.qrels):
        shutil.copy(path, disks)
    done = run_apart(
        BENCH, "--collections", disks, "--name", "ap88-89", "--model", "bm25", "--recipe", "paper",
        "--work", tmp_path / "work", "--output", output,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((output / "ap88-89.bm25.paper.json").read_text())
    assert report["collection"] == "AP88-89" and report["queries"] == SUBJECTS
    assert report["folds"] == 5 and [*report["models"]] == ["bm25"]
    assert "| ap88-89, BM25, literal | " in (output / "tables.md").read_text()


def test_training_queries_of_their_own(newswire, tmp_path):
    """In place of folds; none of them may be measured."""
    lines = newswire.plain.read_text().split("\n\n")
    halves = tmp_path / "train.txt", tmp_path / "test.txt"
    for path, some in zip(halves, (lines[:5], lines[5:])):
        path.write_text("\n\n".join(some))
    train, test = halves
    files = (COLLECTIONS["other"], newswire.index, (test, newswire.qrels))
    found = read_queries(*files, (train, newswire.qrels), 5, 0)
    assert len(found.folds) == 1
    assert found.folds[0].training == [str(n) for n in range(51, 56)]
    assert found.folds[0].held_out == [*found.measured] == [*map(str, range(56, 63)), "301"]
    assert found.qrels.keys() == {*found.measured, *found.training}
    with pytest.raises(TdvError, match="8 queries .such as '301'. are to be learned from and"):
        read_queries(*files, (newswire.plain, newswire.qrels), 5, 0)
    with pytest.raises(TdvError, match="train_topics and train_qrels go together"):
        read_queries(*files, (train, None), 5, 0)


def test_refusals_write_nothing(newswire, tmp_path):
    arguments = {"collection": "ap88-89", "index": newswire.index, "topics": newswire.topics,
                 "qrels": newswire.qrels, "output": tmp_path / "out", **FAST}  # fmt: skip
    for changes, message in (
        ({"collection": "gov2"}, "'gov2'"),
        ({"collection": "ft91-94", "folds": 2}, "2 folds"),
        ({"folds": 7}, "7 folds"),
        ({"models": ["lm"]}, "'lm'"),
        ({"recipe": "other"}, "recipe .*'other'"),
        ({"reduction": 0.3}, "reduction"),
        ({"neural": ["bert"]}, "'bert'"),
        ({"neural": ["drmm"], "models": ["qld"]}, "'bm25'"),
        ({"neural": ["drmm"], "rerank_depth": 0}, "rerank_depth .* 0"),
    ):
        with pytest.raises(TdvError, match=message):
            reproduce_paper(**{**arguments, **changes})
        assert list(tmp_path.iterdir()) == []


def test_rows_of_all_recipes_with_vectors_of_a_file(newswire, tmp_path):
    words = [word(number) for number in (*range(SUBJECTS), *range(100, 100 + NOISE))]
    vectors = np.random.default_rng(0).normal(size=(len(words), 6)).astype(np.float32)
    np.savez(tmp_path / "vectors.npz", words=np.array(words), vectors=vectors)
    report = reproduce_paper(
        "ap88-89", newswire.index, newswire.topics, newswire.qrels, tmp_path / "out",
        folds=2, latency_budget_seconds=0, models=("bm25",), recipe="all", reduction=0.3,
        vectors=tmp_path / "vectors.npz",
    )  # fmt: skip
    rows = report["models"]
    assert list(rows) == ["bm25-literal", "bm25", "bm25-ridf", "bm25-full", "bm25-default"]
    for row in rows.values():
        assert row["nDCG@5"]["baseline"] == rows["bm25"]["nDCG@5"]["baseline"]
        assert row["nDCG@5"]["published"] == rows["bm25"]["nDCG@5"]["published"]
        assert row["latency_ms"]["tdv"] is None
    removed = {name: row["postings_removed"]["mean"] for name, row in rows.items()}
    assert removed["bm25"] >= 10 > removed["bm25-full"] == 0
    assert 0 < removed["bm25-ridf"] <= removed["bm25"] and removed["bm25-default"] > 25
    visited = {name: row["postings_visited"] for name, row in rows.items()}
    assert visited["bm25-full"]["tdv"] == visited["bm25-full"]["baseline"]
    assert visited["bm25"]["tdv"] < visited["bm25"]["baseline"]
    chosen = rows["bm25"]["chosen"][0]
    assert chosen["target"] in TINY_TUNED.targets and chosen["curve"][0]["dropped"] >= 0.1
    assert report["recipe"]["tuned"]["targets"] == [0.1, 0.3, 0.5]
    assert 0 <= rows["bm25"]["own formulas, nDCG@5"]["tdv"] <= 1
    text = (tmp_path / "out" / "tables.md").read_text()
    assert "| BM25, literal, nDCG@5 | " in text and "by the paper's own formulas" in text


def test_command_line(newswire, tmp_path):
    shown = run_command(
        "paper", "reproduce", "--collection", "wiki165k", "--index", newswire.index,
        "--topics", newswire.plain, "--qrels", newswire.qrels, "--output", tmp_path / "out",
        "--folds", "2", "--model", "tfidf", "--recipe", "paper", "--latency-budget", "0.5",
    ).output  # fmt: skip
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["queries"] == SUBJECTS + 1, "all topics are wiki165k's"
    assert report["models"]["tfidf"]["postings_removed"]["mean"] == 0, "too small to drop a term"
    assert re.search(r"TDV-TF-IDF +0\.00 %", shown)
