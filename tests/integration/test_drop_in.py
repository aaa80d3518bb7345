"""A pruned or tuned index ranks right for whoever opens it, without being told anything; what norms
cannot hold is not written as if they did."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import json_of, run_command, search, write_judged
from lucene_indexes import Doc, write_index
from lucene_reading import search_lucene
from oracle import ANSERINI, assert_baked, read_norms
from tiny_collection import TINY_TEXTS

from tdv_lucene import TdvError, tune_index
from tdv_lucene.index.index import Index
from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.index.parameters import recorded_parameters
from tdv_lucene.jvm import java_class, rewriter
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.ranking import Baking
from tdv_lucene.searching import tune as searching_tune
from tdv_lucene.searching.search import search_index
from tdv_lucene.simulation.collection import apply_values
from tdv_lucene.values.peers import unlearned_values

pytestmark = pytest.mark.jvm

WORDS = [f"w{i}" for i in range(60)]
QUERIES = {f"q{i}": f"w{i} w{3 * i + 1} w{50 - i}" for i in range(12)}
HELD = 2.1, 0.2
SCALE = 3


def _docs() -> list[Doc]:
    """Lengths from one token to hundreds, so that norms of both kinds of byte occur."""
    rng = random.Random(7)
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    lengths = [1, 2, 5, 40, 41, 300] + [rng.randint(3, 120) for _ in range(54)]
    return [Doc(f"d{i:02}", rng.choices(WORDS, weights, k=n)) for i, n in enumerate(lengths)]


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A source, and TDVs learned with other parameters than any searcher's."""
    folder = tmp_path_factory.mktemp("drop-in")
    docs = _docs()
    source = write_index(folder / "source", [docs[:35], docs[35:]])
    matrix = extract_matrix(source, folder / "matrix")
    made = unlearned_values(matrix, "ridf")
    tdv = np.linspace(0.5, 1.5, matrix.shape[0]).astype(np.float32)
    points = [{**point, "scale": SCALE} for point in made.manifest["points"]]
    about = {"model": "bm25", "parameters": {"k1": HELD[0], "b": HELD[1]}, "points": points}
    values = replace(made, weights=tdv, manifest={**made.manifest, **about})
    values.save(folder / "values")
    return source, values, folder


def _prune(case, tmp_path: Path, search_as: str | None = None, **options) -> Path:
    source, values, _ = case
    prune_index(source, values, tmp_path / "P", reduction=0.3, search_as=search_as, **options)
    return tmp_path / "P"


def _plain(index: Path, k1: float | None = None, b: float | None = None) -> dict:
    """query id -> [(document, score)] of Lucene's own searcher, which knows no parameters."""
    bm25 = java_class("org.apache.lucene.search.similarities.BM25Similarity")
    return search_lucene(index, QUERIES, bm25() if k1 is None else bm25(k1, b))


def _ours(index: Path, tmp_path: Path) -> dict:
    return dict.fromkeys(QUERIES, []) | search(index, QUERIES, tmp_path / "run")


def _same(found: dict, expected: dict) -> None:
    """The same documents with the same scores, to the four decimals of a run; ties in any order."""
    assert any(expected.values())
    for name, hits in expected.items():
        assert {d for d, _ in found[name]} == {d for d, _ in hits}
        scores = dict(found[name])
        for document, score in hits:
            assert scores[document] == pytest.approx(score, abs=6e-5), (name, document)


@pytest.mark.parametrize(
    ("search_as", "parameters"),
    [(None, ANSERINI), ("anserini", ANSERINI), ("lucene", (None, None)), ("0.5,1", (0.5, 1.0))],
)
def test_a_plain_searcher_ranks_as_ours(search_as, parameters, case, tmp_path) -> None:
    pruned = _prune(case, tmp_path, search_as)
    _same(_plain(pruned, *parameters), _ours(pruned, tmp_path))


def test_norms_hold_the_learned_parameters(case, tmp_path) -> None:
    """Exact lengths, the nearest norm; the same ranking as with the recorded ones, to rounding."""
    pruned = _prune(case, tmp_path)
    norms = extract_matrix(pruned, tmp_path / "M")
    held = HELD[0] * SCALE, HELD[1]
    point = case[1].at_reduction(0.3)
    foreseen = apply_values(extract_matrix(case[0], tmp_path / "S"), point.tdv, SCALE, held=held)
    average = norms.doc_len.sum() / norms.doc_count
    seen = ANSERINI[0] * (1 - ANSERINI[1] + ANSERINI[1] * read_norms(norms.norms) / average)
    simulated = held[0] * (1 - held[1] + held[1] * foreseen.doc_len / average)
    np.testing.assert_allclose(simulated, seen, rtol=1e-12)
    assert_baked(
        np.asarray(norms.norms), np.asarray(norms.doc_len), "default", Baking(held, ANSERINI)
    )
    recorded = tmp_path / "R"
    prune_index(case[0], case[1], recorded, reduction=0.3, search_as="recorded")
    with Index.open(recorded) as opened:
        parameters = recorded_parameters(opened).values()
        assert opened.record().baked is None
    assert parameters == pytest.approx({"k1": held[0], "b": held[1]})
    ours, told = _ours(pruned, tmp_path), _ours(recorded, tmp_path)
    for name, hits in told.items():
        scores = dict(ours[name])
        # BM25's (k1 + 1) is no part of Lucene's score, so the two are on one scale.
        assert all(scores[d] == pytest.approx(s, rel=0.08) for d, s in hits)


def test_a_norm_that_is_one_step_off_is_found(case, tmp_path) -> None:
    source, values, _ = case
    pruned = _prune(case, tmp_path)
    found = verify_pruned(source, pruned)
    assert found["equal"] and found["postings"] > 0
    with Index.open(pruned) as opened:
        (plan,), data = opened.plan.fields, opened.user_data
    assert plan.norms == Baking((HELD[0] * SCALE, HELD[1]), ANSERINI)
    norms = {}
    for name, held in {"right": plan.norms.held, "off": (HELD[0] * SCALE, 0.206)}.items():
        (tmp_path / name).mkdir()
        field = replace(plan, norms=replace(plan.norms, held=held))
        said = {k: v for k, v in data.items() if "average" not in k}
        rewriter.rewrite_index(source, tmp_path / name, [field], threads=1, user_data=said)
        shutil.copytree(pruned / FOLDER, tmp_path / name / FOLDER)
        norms[name] = np.asarray(extract_matrix(tmp_path / name, tmp_path / f"{name}-M").norms)
    steps = np.abs(norms["off"] - norms["right"])
    assert steps.max() == 1 and 0 < np.count_nonzero(steps) < len(steps) / 2
    assert verify_pruned(source, tmp_path / "right")["equal"]
    difference = verify_pruned(source, tmp_path / "off")["difference"]
    assert difference["what"] == "norm" and difference["expected"].startswith("one for K = ")
    assert difference["document"] == f"d{int(np.flatnonzero(steps)[0]):02}"


def test_what_no_norm_can_hold_is_told(case, tmp_path) -> None:
    """At a scale of 0.1 the length norm of short documents is below a searcher's least."""
    source, values, _ = case
    report = prune_index(source, values, tmp_path / "P", reduction=0, scale=0.1)
    assert report["norms"]["beyond"] > 0
    assert 0 < report["norms"]["mean_off"] <= report["norms"]["largest_off"]
    assert verify_pruned(source, tmp_path / "P")["equal"]
    values.save(tmp_path / "V")
    words = ["--index", source, "--tdv", tmp_path / "V", "--output", tmp_path / "Q"]
    shown = run_command("prune", *words, "--reduction", 0, "--scale", 0.1)
    assert "documents are too short or too long for exact norms" in shown.output


def test_a_baked_index_is_no_source(case, tmp_path) -> None:
    pruned = _prune(case, tmp_path)
    found = inspect_index(pruned)
    (field,) = (f for f in found["fields"] if f["name"] == "contents")
    assert field["norms"] == "baked" and found["why_not"].startswith("contents: it was pruned or")
    for values in (None, case[1]):
        with pytest.raises(TdvError, match="its norms hold k1 and b, not document lengths"):
            prune_index(pruned, values, tmp_path / "again")
    with pytest.raises(TdvError, match="its norms hold k1 and b, not document lengths"):
        tune_index(pruned, None, None, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_another_model_is_warned_of(case, tmp_path, caplog) -> None:
    pruned = _prune(case, tmp_path)
    search_index(pruned, QUERIES, tmp_path / "run", model="qld")
    assert any("hold BM25's k1 and b in place of document lengths" in m for m in caplog.messages)


@pytest.mark.parametrize("norms", ["none", "accurate"])
def test_other_kinds_of_norms(norms, make_index, tmp_path, case) -> None:
    source = make_index([_docs()], norms=norms)
    pruned = tmp_path / "P"
    prune_index(source, case[1], pruned, reduction=0.3)
    with Index.open(pruned) as opened:
        record = opened.record()
    assert (record.baked is None) == (norms == "none")
    assert record.parameters("bm25")["k1"] == (HELD[0] * SCALE if norms == "none" else 0.9)
    assert verify_pruned(source, pruned)["equal"]
    if norms == "none":
        with pytest.raises(TdvError, match="has no norms to write k1 and b into"):
            prune_index(source, case[1], tmp_path / "Q", reduction=0.3, search_as="lucene")
        for given in ((None, None), (QUERIES, {"q0": {"d10": 1}})):
            with pytest.raises(TdvError, match="has no norms"):
                tune_index(source, *given, tmp_path / "Q")


def test_query_likelihood_is_baked_by_its_scale(case, tmp_path) -> None:
    """mu 250 for searchers with 1,000: frequencies and lengths times 4; not by default."""
    source, values, _ = case
    about = {"model": "qld", "parameters": {"mu": 250.0}}
    values = replace(values, manifest={**values.manifest, **about})
    plain = prune_index(source, values, tmp_path / "P", reduction=0.3)
    assert plain["scale"] == SCALE and plain["search"]["mu"] == 750
    asked = prune_index(source, values, tmp_path / "Q", reduction=0.3, search_as="anserini")
    assert asked["scale"] == 4 and asked["search"]["mu"] == 1000
    assert asked["baked"] is None
    assert verify_pruned(source, tmp_path / "Q")["equal"]
    with pytest.raises(TdvError, match="does not fit these TDVs, learned for qld"):
        prune_index(source, values, tmp_path / "R", reduction=0.3, search_as="0.9,0.4")


def test_tuned_norms_alone(case, tmp_path) -> None:
    """Nothing else changes; by judged queries, or by the prior."""
    source, _, folder = case
    relevant = {name: f"d{10 + i}" for i, name in enumerate(QUERIES)}
    topics, qrels = write_judged(tmp_path, QUERIES, relevant)
    given = {"judged": ["--topics", topics, "--qrels", qrels], "prior": []}
    before = inspect_index(source)
    for name, options in given.items():
        output = tmp_path / name
        report = json_of("tune", "--index", source, "--output", output, *options)
        assert report["search"]["k1"] == 0.9 and set(report["baked"]) == {"k1", "b"}
        assert report["postings"] == report["postings_before"]
        fields = [{f["name"]: (f.get("tokens"), f.get("postings")) for f in found["fields"]}
                  for found in (before, inspect_index(output))]  # fmt: skip
        assert fields[0] == fields[1]
        assert verify_pruned(source, output)["equal"]
        _same(_plain(output, *ANSERINI), _ours(output, tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--topics", "T"], "topics and qrels, or neither"),
        (["--search-as", "recorded"], "would leave the index as it is"),
    ],
)
def test_tuning_says_what_it_needs(options, message, case, tmp_path) -> None:
    with pytest.raises(TdvError, match=message):
        run_command("tune", "--index", case[0], "--output", tmp_path / "P", *options)


TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "lazy dogs"}
QRELS = {"q1": {"d1": 1, "d0": 0}, "q2": {"d6": 1, "d4": 1}, "q3": {"d2": 1, "d0": 0}}


def test_qrels_of_another_collection_are_refused_before_tuning(
    tiny_index, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(searching_tune, "tune_parameters", lambda *_, **__: pytest.fail("tuned"))
    qrels = {"q1": {"other-1": 1}, "q2": {"other-2": 1}}
    with pytest.raises(TdvError, match="share no document"):
        tune_index(tiny_index, TOPICS, qrels, tmp_path / "tuned")
    assert not (tmp_path / "tuned").exists()


def _tried(monkeypatch, *tried: tuple[float, float, float]) -> None:
    table = [{"k1": k1, "b": b, "nDCG@5": found} for k1, b, found in tried]
    monkeypatch.setattr(searching_tune, "tune_parameters", lambda *_, **__: (None, table))


def test_the_best_that_norms_can_hold_is_taken_and_the_better_one_named(
    tiny_index, tmp_path, monkeypatch, caplog
) -> None:
    """For k1 .9 and b .4 no length norm is below .54: with k1 .5 nearly all were."""
    _tried(monkeypatch, (0.9, 0.4, 0.2), (0.5, 0.2, 0.5), (2.0, 0.4, 0.3), (0.5, 0.8, 0.4))
    made = tune_index(tiny_index, TOPICS, QRELS, tmp_path / "tuned")
    assert made["baked"] == {"k1": 2.0, "b": 0.4} and made["norms"]["beyond"] == 0
    assert "cannot hold k1 0.5, b 0.2" in caplog.text and "k1 2, b 0.4" in caplog.text
    caplog.clear()
    _tried(monkeypatch, (0.9, 0.4, 0.2), (2.0, 0.4, 0.3))
    tune_index(tiny_index, TOPICS, QRELS, tmp_path / "tuned", overwrite=True)
    assert "cannot hold" not in caplog.text


def test_where_norms_hold_none_it_is_refused(tiny_index: Path, tmp_path, monkeypatch) -> None:
    _tried(monkeypatch, (0.9, 0.4, 0.2), (2.0, 0.8, 0.3))
    for given in ((TOPICS, QRELS), (None, None)):
        with pytest.raises(TdvError, match="cannot hold"):
            tune_index(tiny_index, *given, tmp_path / "tuned", search_as="9,0.1")
    assert not (tmp_path / "tuned").exists()


def test_how_far_norms_are_off_is_what_the_index_says(tiny_index, tmp_path, monkeypatch) -> None:
    """Predicted from lengths, and counted when it is written."""
    monkeypatch.setattr(searching_tune, "_MOST_OFF", 1.0)
    _tried(monkeypatch, (0.5, 0.2, 0.5))
    norms = tune_index(tiny_index, TOPICS, QRELS, tmp_path / "tuned")["norms"]
    lengths = np.array([len(text.split()) for text in TINY_TEXTS])
    predicted = Baking((0.5, 0.2), (0.9, 0.4)).mean_off(lengths)
    assert norms["beyond"] == len(lengths)
    assert predicted == pytest.approx(norms["mean_off"], rel=1e-6)
