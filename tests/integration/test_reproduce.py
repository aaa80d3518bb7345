"""The paper's experiment on a miniature of its collections' format, made here."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.evaluate import evaluate_run
from tdv_lucene.evaluation.topics import read_qrels, read_topics
from tdv_lucene.experiments.reproduce import reproduce_paper
from tdv_lucene.indexes.build import build_index
from tdv_lucene.learning.recipes import PaperRecipe

pytestmark = pytest.mark.jvm

SUBJECTS, NOISE = 12, 20
TINY_RECIPE = PaperRecipe(max_epochs=2, folds=2, reductions=(0.0, 0.3))
FAST = {"folds": 2, "recipe": TINY_RECIPE, "reduction": 0.3, "latency_budget_seconds": 0.5}


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
             "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1"]  # fmt: skip
    build_index(folder / "index", flags)
    topics = [
        f"<top>\n<num> Number: {number:03d}\n<title> Topic: {word(number - 51)} {word(103)}\n"
        "<desc> Description: nothing\n</top>\n"
        for number in (*range(51, 51 + SUBJECTS), 301)
    ]
    (folder / "topics.txt").write_text("\n".join(topics))
    qrels += ["51 0 WSJ870324-0001 1", "301 0 AP880212-0001 1"]
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
    return SimpleNamespace(
        index=folder / "index", topics=folder / "topics.txt", qrels=folder / "qrels.txt"
    )


@pytest.fixture(scope="module")
def reproduced(newswire, tmp_path_factory):
    output = tmp_path_factory.mktemp("reproduced") / "out"
    report = reproduce_paper(
        "ap88-89", newswire.index, newswire.topics, newswire.qrels, output, **FAST
    )
    return SimpleNamespace(output=output, report=report)


def test_topics_and_models_of_the_paper(reproduced):
    report = reproduced.report
    assert json.loads((reproduced.output / "report.json").read_text()) == report
    assert report["collection"] == "AP88-89"
    assert report["queries"] == SUBJECTS, "topic 301 is not of this collection"
    assert list(report["models"]) == ["tfidf", "qld", "bm25"]


def test_baselines_count_judged_documents_of_the_collection_only(newswire, reproduced):
    """A relevant document of another collection must not lower recall."""
    topics = {q: text for q, text in read_topics(newswire.topics).items() if q != "301"}
    qrels = read_qrels(newswire.qrels)
    del qrels["51"]["WSJ870324-0001"]
    for model, entry in reproduced.report["models"].items():
        run = reproduced.output / f"{model}.baseline.run"
        means = evaluate_run(run, topics, qrels).means()
        for measure in ("nDCG@5", "R@1000"):
            assert entry[measure]["baseline"] == pytest.approx(means[measure])
    assert reproduced.report["models"]["bm25"]["R@1000"]["baseline"] == 1.0


def test_every_query_is_held_out_once(reproduced):
    for model in ("tfidf", "qld", "bm25"):
        seen = []
        for fold in (1, 2):
            lines = (reproduced.output / f"{model}.tdv.{fold}.run").read_text().splitlines()
            seen += sorted({line.split()[0] for line in lines})
        assert len(seen) == len(set(seen)) <= SUBJECTS


def test_the_three_tables_beside_the_published_ones(reproduced):
    entry = reproduced.report["models"]["bm25"]
    assert entry["nDCG@5"]["published"] == [44.70, 47.09]
    assert entry["latency_ms"]["baseline"] > 0 < entry["latency_ms"]["tdv"]
    assert entry["postings_removed"]["mean"] == pytest.approx(
        np.mean(entry["postings_removed"]["by_fold"])
    )
    text = (reproduced.output / "tables.md").read_text()
    for number, published in ((1, "683.8"), (2, "47.09"), (3, "-46.91 %")):
        assert f"Table {number}, AP88-89" in text and published in text
    assert f"{100 * entry['nDCG@5']['baseline']:.2f}" in text


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"collection": "gov2"}, "no collection 'gov2'"),
        ({"collection": "ft91-94", "folds": 2}, "1 judged queries cannot make 2 folds"),
        ({"folds": 7}, "12 judged queries cannot make 7 folds"),
        ({"models": ["lm"]}, "no model 'lm'"),
        ({"recipe": "other"}, "no recipe 'other'"),
    ],
)
def test_refusals_write_nothing(newswire, tmp_path, changes, message):
    arguments = {"collection": "ap88-89", "index": newswire.index, "topics": newswire.topics,
                 "qrels": newswire.qrels, "output": tmp_path / "out", **FAST}  # fmt: skip
    with pytest.raises(TdvError, match=message):
        reproduce_paper(**{**arguments, **changes})
    assert list(tmp_path.iterdir()) == []


def test_command_line(newswire, tmp_path, capsys, monkeypatch):
    from tdv_lucene.cli import main

    words = ["reproduce", "--collection", "wiki165k", "--index", newswire.index, "--topics",
             newswire.topics, "--qrels", newswire.qrels, "--output", tmp_path / "out", "--folds",
             "2", "--model", "tfidf", "--latency-budget", "0.5"]  # fmt: skip
    monkeypatch.setattr("sys.argv", ["tdv-lucene", *map(str, words)])
    main()
    shown = capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["queries"] == SUBJECTS + 1, "all topics are wiki165k's"
    assert report["models"]["tfidf"]["postings_removed"]["mean"] == 0, "too small to drop a term"
    assert re.search(r"TDV-TF-IDF +0\.00 %", shown)
