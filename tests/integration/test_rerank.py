"""A neural re-ranker trained on an index, and a run re-ranked by it, as a user would."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import json_of
from lucene_indexes import Doc, Layout, write_index

from tdv_lucene import TdvError, evaluate_run, extract_matrix, read_qrels, read_topics, search_index
from tdv_lucene.evaluation.runs import read_run
from tdv_lucene.paper import neural
from tdv_lucene.paper.neural.rerank import rerank_run, train_ranker
from tdv_lucene.paper.neural.training import StoredRanker

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

SUBJECTS = 8


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> SimpleNamespace:
    """Queries of two words; relevant documents have the second, which BM25 takes for the lesser."""
    home, rng = tmp_path_factory.mktemp("rerank"), np.random.default_rng(0)
    docs, qrels = [], []
    for number in range(120):
        subject, wrong = number % SUBJECTS, (number + 3) % SUBJECTS
        words = [f"s{subject}", *([f"loud{wrong}"] * 3)]
        words += [f"n{n}" for n in rng.integers(0, 15, rng.integers(4, 9))]
        docs.append(Doc(f"d{number}", [*rng.permutation(words)]))
        qrels.append(f"q{subject} 0 d{number} 1")
    layout = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", raw=False)
    index = write_index(home / "index", [docs[:70], docs[70:]], layout)
    (home / "topics.tsv").write_text(
        "".join(f"q{s}\tloud{s} s{s}\n" for s in range(SUBJECTS)), encoding="utf-8"
    )
    (home / "qrels.txt").write_text("\n".join(qrels) + "\n")
    extract_matrix(index, home / "matrix", tokens=True)
    search_index(index, home / "topics.tsv", home / "run")
    return SimpleNamespace(
        home=home, index=index, topics=home / "topics.tsv", qrels=home / "qrels.txt",
        matrix=home / "matrix", run=home / "run",
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(case) -> SimpleNamespace:
    """By the command line, with the matrix made on the way."""
    summary = json_of(
        "paper", "ranker", "--index", case.index, "--topics", case.topics, "--qrels", case.qrels,
        "--output", case.home / "ranker",
    )  # fmt: skip
    return SimpleNamespace(folder=case.home / "ranker", summary=summary)


def test_what_training_tells(trained) -> None:
    summary = trained.summary
    assert (summary["name"], summary["queries"], summary["parameters"]) == ("drmm", SUBJECTS, 162)
    assert summary["epoch"] > 0 and summary["held_out_loss"] < 0.5
    manifest = json.loads((trained.folder / "manifest.json").read_text())
    assert manifest["kind"] == "neural-ranker" and manifest["vectors"]["method"] == "lsa"
    assert manifest["source"]["commit"]


def test_a_run_is_ranked_better_and_keeps_its_documents(case, trained) -> None:
    output = case.home / "better"
    summary = json_of(
        "paper", "rerank", "--index", case.index, "--ranker", trained.folder,
        "--topics", case.topics, "--run", case.run, "--matrix", case.matrix, "--output", output,
    )  # fmt: skip
    assert summary["queries"] == SUBJECTS
    before, after = read_run(case.run), read_run(output)
    pairs = [frame.groupby("query")["docid"].apply(set).to_dict() for frame in (before, after)]
    assert pairs[0] == pairs[1]
    topics, qrels = read_topics(case.topics), read_qrels(case.qrels)
    means = [evaluate_run(run, topics, qrels).means() for run in (case.run, output)]
    assert means[1]["nDCG@5"] > 0.8 > means[0]["nDCG@5"]
    assert means[1]["R@1000"] == means[0]["R@1000"]
    assert (after.groupby("query")["score"].diff().dropna() < 0).all()


def test_only_the_first_are_reranked(case, trained, tmp_path: Path) -> None:
    rerank_run(
        case.index, trained.folder, case.topics, case.run, tmp_path / "run",
        rerank_depth=3, matrix=case.matrix, tag="mine",
    )  # fmt: skip
    before, after = read_run(case.run), read_run(tmp_path / "run")
    assert {*after["system"]} == {"mine"}
    for query, own in before.groupby("query"):
        names, found = own["docid"].tolist(), after[after["query"] == query]["docid"].tolist()
        assert found[3:] == names[3:] and {*found[:3]} == {*names[:3]}


def test_a_stored_ranker_scores_as_before(case, trained, tmp_path: Path) -> None:
    """Also without the matrix at hand, and bit by bit in a second run."""
    for name in ("one", "other"):
        rerank_run(case.index, trained.folder, case.topics, case.run, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    again = StoredRanker.load(trained.folder)
    train_ranker(
        case.index, case.topics, case.qrels, tmp_path / "again", matrix=case.matrix
    )  # fmt: skip
    weights = [np.load(folder / "weights.npy") for folder in (trained.folder, tmp_path / "again")]
    np.testing.assert_array_equal(*weights)
    assert again.config == StoredRanker.load(tmp_path / "again").config


def _refused(case, trained, output: Path, message: str, **changes: object) -> None:
    given = {"index": case.index, "ranker": trained.folder, "topics": case.topics,
             "run": case.run, "output": output, "matrix": case.matrix}  # fmt: skip
    with pytest.raises(TdvError, match=message):
        rerank_run(**{**given, **changes})
    assert not output.exists()


def test_what_does_not_belong_together_is_refused(case, trained, tmp_path: Path) -> None:
    place = tmp_path / "out"
    (tmp_path / "topics.tsv").write_text("q0\tloud0\n")
    _refused(case, trained, place, "answers 7 queries .such as 'q1'. that the topics lack",
             topics=tmp_path / "topics.tsv")  # fmt: skip
    (tmp_path / "run").write_text("q0 Q0 x1 1 3.0 t\n")
    _refused(case, trained, place, "has the document 'x1', and the index has not",
             run=tmp_path / "run")  # fmt: skip
    _refused(
        case, trained, place, "rerank_depth must be from 1 to 1,000,000, got 0", rerank_depth=0
    )
    layout = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
    other = write_index(tmp_path / "other", [[Doc("d0", ["a"]), Doc("d1", ["b"])]], layout)
    _refused(case, trained, place, "was trained on another index than", index=other, matrix=None)
    plain = extract_matrix(case.index, tmp_path / "plain").source
    assert plain["commit"]
    _refused(case, trained, place, "does not know the order of tokens", matrix=tmp_path / "plain")


def test_without_equinox_the_remedy_is_told(case, trained, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(neural, "find_spec", lambda name: None)
    _refused(case, trained, tmp_path / "out", r"pip install 'tdv-lucene\[neural\]'")
    with pytest.raises(TdvError, match=r"pip install 'tdv-lucene\[neural\]'"):
        train_ranker(case.index, case.topics, case.qrels, tmp_path / "out")
