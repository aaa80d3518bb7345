"""Two tiers in one index: the hot field finds, and the whole one ranks the first it finds."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import run_command, search, write_judged
from impact_documents import LAYOUT as WEIGHTS
from lucene_indexes import Doc, Layout, write_index
from lucene_reading import open_reader

import tdv_lucene as tdv
from tdv_lucene.analysis import DEFAULT, Analysis
from tdv_lucene.cli.prune import said_of_tiers
from tdv_lucene.evaluation.runs import read_run
from tdv_lucene.index.analysis import analysis_of
from tdv_lucene.index.parameters import recorded_parameters
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.analysis import make_analyzer
from tdv_lucene.jvm.searcher import (
    field_bytes,
    make_similarity,
    open_searched,
    shard_statistics,
)
from tdv_lucene.pruning.tiers import Found, Measured, faithful, fastest
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.ranking.parameters import Tiers

pytestmark = pytest.mark.jvm

LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
TOPICS = {
    **{f"q{i}": f"t{i} t{i + 1} t{2 * i + 9} t2" for i in range(1, 28)},
    "one": "t3", "long": " ".join(f"t{i}" for i in range(1, 50)), "twice": "t5 t5 t9",
}  # fmt: skip
DEPTH = 12


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``source``, and ``made`` of it in tiers; likewise ``weights``, and ``long`` (long lists)."""
    place, rng = tmp_path_factory.mktemp("tiers"), np.random.default_rng(5)
    docs = [
        Doc(f"d{number}", [f"t{i}" for i in np.minimum(rng.zipf(1.4, rng.integers(2, 60)), 90)])
        for number in rng.permutation(300)
    ]
    docs[17] = Doc("gone", ["t1", "t2"], deleted=True)
    for name, layout in (("source", LAYOUT), ("weights", WEIGHTS)):
        write_index(place / name, [docs[:90], docs[90:260], docs[260:]], layout)
    many = [Doc(f"d{n}", [f"t{i}" for i in rng.permutation(40)[:32]]) for n in range(2500)]
    write_index(place / "long", [many[:2000], many[2000:]], LAYOUT)
    how: dict[str, Any] = {"tiers": True, "reduction": 0.6, "depth": DEPTH, "margin": 0}
    tdv.prune_index(place / "source", None, place / "made", **how)
    tdv.prune_index(place / "weights", None, place / "made-weights", **how)
    # Of query "long" the hot field has more postings than are read at once, of others fewer.
    tdv.prune_index(place / "long", None, place / "made-long", **{**how, "reduction": 0.1})
    return place


def _search(index: Any, output: Path, topics: Any = TOPICS, **options: Any):
    return defaultdict(list, search(index, topics, output, **options))


@pytest.mark.parametrize(
    ("index", "model"),
    [("", "bm25"), ("", "qld"), ("", "tfidf"), ("-weights", "impact"), ("-long", "bm25")],
)
@pytest.mark.parametrize("hits", [3, 10, 40])
def test_the_whole_ranks_what_the_hot_field_finds(home, tmp_path, index, model, hits) -> None:
    index = home / f"made{index}"
    both = _search(index, tmp_path / "run", model=model, hits=hits)
    hot = _search(index, tmp_path / "run", model=model, hits=400, tier="hot")
    whole = _search(index, tmp_path / "run", model=model, hits=400, tier="whole")
    assert both.keys() == hot.keys() and len(hot) >= len(TOPICS) - 1
    for query, found in both.items():
        ranked, rest, scored = found[:DEPTH], found[DEPTH:], dict(whole[query])
        assert dict(ranked) == pytest.approx({d: scored[d] for d, _ in ranked}, abs=1e-4)
        # Equal scores at the depth's end may be cut otherwise: by documents, not by ids.
        last = hot[query][:DEPTH][-1][1]
        sure = {document for document, score in hot[query] if score > last + 1e-3}
        assert {d for d, _ in ranked} <= {d for d, score in hot[query] if score > last - 1e-3}
        left = [scored[document] for document in sure - {d for d, _ in ranked}]
        assert all(score <= ranked[-1][1] + 1e-4 for score in left)
        assert len(found) == min(hits, len(hot[query]))
        of_hot = [d for d, _ in hot[query] if d not in {d for d, _ in ranked}]
        assert {d for d, _ in rest} <= {*of_hot} and (hits > DEPTH or not rest)
        scores = [s for _, s in found]
        assert scores == sorted(scores, reverse=True)


def test_scores_are_those_of_lucenes_own_rescorer(home: Path, tmp_path: Path) -> None:
    """``rescore`` and ``rerank`` of other programs do the same: score the first hits again."""
    with open_reader(home / "made") as reader:
        lucene = "org.apache.lucene.search."
        searcher = java_class(lucene + "IndexSearcher")(reader.getContext())
        searcher.setSimilarity(make_similarity(SearchParameters("bm25", k1=0.9, b=0.4)))
        generator = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        both = _search(home / "made", tmp_path / "run", hits=DEPTH)
        stored = reader.storedFields()
        for qid, text in TOPICS.items():
            hot, whole = (
                generator.buildQuery(field, make_analyzer(DEFAULT), text)
                for field in ("contents_hot", "contents")
            )
            first = searcher.search(hot, 10 * DEPTH)  # equal scores may be cut otherwise
            before = {hit.doc: hit.score for hit in first.scoreDocs}
            rescored = java_class(lucene + "QueryRescorer").rescore(
                searcher, first, whole, 1.0, 10 * DEPTH
            )
            expected = {
                stored.document(hit.doc).get("id"): hit.score - before[hit.doc]
                for hit in rescored.scoreDocs
            }
            ranked = dict(both[qid])
            assert ranked == pytest.approx({d: expected[d] for d in ranked}, abs=2e-4)


@pytest.mark.pyserini
def test_pyserinis_searcher_finds_in_both(home: Path, tmp_path: Path) -> None:
    for tier in ("both", "hot", "whole"):
        run = _search(home / "made", tmp_path / "run", hits=20, tier=tier)
        searcher = tdv.open_searcher(home / "made", tier=tier)
        for qid in ("q1", "one", "long"):
            found = [(hit.docid, hit.score) for hit in searcher.search(TOPICS[qid], 20)]
            assert [document for document, _ in found] == [document for document, _ in run[qid]]
            assert dict(found) == pytest.approx(dict(run[qid]), abs=1e-3)


def test_where_more_is_asked_for_the_whole_can_answer(home: Path, tmp_path: Path) -> None:
    filled = _search(home / "made", tmp_path / "run", hits=40, fill=True)
    assert filled == _search(home / "made", tmp_path / "run", hits=40, tier="whole")
    few = _search(home / "made", tmp_path / "run", hits=5, fill=True)
    assert few == _search(home / "made", tmp_path / "run", hits=5)


def test_both_fields_are_proved_and_the_hot_one_has_its_own_files(home: Path) -> None:
    for source, made in (("source", "made"), ("weights", "made-weights")):
        assert tdv.verify_pruned(home / source, home / made)["equal"]
    hot = field_bytes(home / "made", "contents_hot")
    whole = field_bytes(home / "made", "contents")
    assert 0 < hot < sum(file.stat().st_size for file in (home / "source").glob("*.*"))
    assert whole == -1  # the ids are there, too
    report = json.loads((home / "made" / "tdv-manifest.json").read_text())
    before, after = report["postings"], report["fields"]["contents_hot"]["postings"]
    assert after == pytest.approx(0.4 * before, rel=0.05)
    assert report["postings"] == report["postings_before"]


def test_kept_frequencies_keep_positions_of_the_whole(home: Path, tmp_path: Path) -> None:
    tdv.prune_index(
        home / "source", None, tmp_path / "made", tiers=True, reduction=0.5, tf="original"
    )
    tdv.prune_index(home / "source", None, tmp_path / "kept", reduction=0, tf="original")
    whole = _search(tmp_path / "made", tmp_path / "run", tier="whole")
    assert whole == _search(tmp_path / "kept", tmp_path / "run")
    with open_reader(tmp_path / "made") as reader:
        infos = java_class("org.apache.lucene.index.FieldInfos").getMergedFieldInfos(reader)
        assert "POSITIONS" in infos.fieldInfo("contents").getIndexOptions().toString()


def test_a_log_chooses_and_the_report_tells_what_it_returns(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{q}\t{text}\n" for q, text in TOPICS.items()))
    report = tdv.prune_index(
        home / "source", None, tmp_path / "made", tiers=True, queries=log, fidelity=0.6
    )
    tiers = report["tiers"]
    assert tiers is not None and tiers["queries"] == len(TOPICS)
    low, high = tiers["fidelity_ci95"]
    assert 0.6 <= tiers["fidelity"] and low <= tiers["fidelity"] <= high
    both = _search(tmp_path / "made", tmp_path / "run", hits=10)
    whole = _search(tmp_path / "made", tmp_path / "run", hits=10, tier="whole")
    shares = [
        len({d for d, _ in whole[q]} & {d for d, _ in both[q]}) / len(whole[q]) for q in whole
    ]
    assert tiers["fidelity"] == pytest.approx(np.mean(shares))
    with tdv.Index.open(tmp_path / "made") as index:
        chosen = tiers["margin"], tiers["query_terms"]
        assert index.record().tiers == ("contents", "contents_hot", 200, *chosen)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def _measured(reduction: float, margin: float, fidelity: float, error: float = 0) -> Measured:
    tiers = Tiers("contents", "hot", 200, margin)
    return Measured(reduction, tiers, fidelity, (fidelity - error, 1.0), 0.1, 50.0, 30)


def test_the_largest_margin_that_is_faithful_enough_is_tried() -> None:
    tried = [_measured(0.5, 0.7, 0.99), _measured(0.8, 0.5, 0.98), _measured(0.8, 0.7, 0.975),
             _measured(0.8, 0.9, 0.9)]  # fmt: skip
    found = {one.reduction: one.tiers.margin for one in faithful(tried, None)}
    assert found == {0.5: 0.7, 0.8: 0.7}
    assert [one.reduction for one in faithful(tried, 0.985)] == [0.5]
    unsure = [_measured(0.8, 0.6, 0.99, 1.96 * 0.02), _measured(0.8, 0.4, 0.98, 1.96 * 0.005)]
    assert [one.tiers.margin for one in faithful(unsure, 0.972)] == [0.4]
    with pytest.raises(tdv.TdvError, match=r"0\.990.*reduction 0\.5, margin 0\.7"):
        faithful(tried, 0.995)


@pytest.mark.parametrize("at", [0, 1])
def test_of_those_about_as_fast_the_most_faithful_is_taken(at: int) -> None:
    """Whether more documents are found or more are ranked takes longer; a query by itself, too."""
    stops = {0.5: 34_000, 0.6: 32_700, 0.7: 30_000, 0.8: 30_900}
    tried = [_measured(0.5, 0.8, 0.99), _measured(0.6, 0.7, 0.976), _measured(0.7, 0.6, 0.971),
             _measured(0.8, 0.5, 0.974)]  # fmt: skip
    visits = {one.tiers.margin: np.eye(2)[at] * stops[one.reduction] for one in tried}
    search: Any = SimpleNamespace(
        in_tiers=lambda tiers: SimpleNamespace(visits=lambda topics, hits: visits[tiers.margin])
    )
    chosen, stopped, cost = fastest(search, tried, {"a": "x", "b": "y"})
    assert (chosen.reduction, stopped) == (0.6, 32_700 / 2)
    assert cost > (1, 4)[at] * stopped


@contextmanager
def _tiered(index: Path) -> Iterator[tuple[Any, SearchParameters, Analysis]]:
    """``find(tiers, topics, hits)``, what the index is searched with, and how it was analysed."""
    with tdv.Index.open(index) as opened:
        analysis, parameters = analysis_of(opened, "contents").analysis, recorded_parameters(opened)
        ranks = make_similarity(parameters)
        with open_searched(opened, ranks, "contents", analysis=analysis, threads=2) as searched:

            def find(tiers: Tiers, topics: dict[str, str], hits: int) -> list[Found]:
                return Found.of(searched.in_tiers(tiers)(topics, hits))

            yield find, parameters, analysis


@pytest.mark.parametrize("index", ["made", "made-weights"])
@pytest.mark.parametrize("margin", [0.3, 0.8, 0.95])
def test_a_margin_leaves_out_what_is_far_behind(home: Path, index: str, margin: float) -> None:
    with _tiered(home / index) as (find, *_):
        hot = find(Tiers("contents", "contents_hot", 0), TOPICS, 60)
        tiers = Tiers("contents", "contents_hot", 60, margin)
        every = find(tiers._replace(margin=0), TOPICS, 60)
        for hits in (3, 10):
            shorter = 0
            for of_hot, best, ranked in zip(hot, find(tiers, TOPICS, hits), every):
                left = {*of_hot.documents[: tiers.candidates(of_hot.scores, hits)]}
                shorter += len(left) < len(of_hot.documents)
                assert best.documents == [d for d in ranked.documents if d in left][:hits]
            assert shorter or margin < 0.5


def _adds(index: Path, analysis: Analysis, parameters: SearchParameters) -> dict[str, float]:
    """What each term adds to the score of a document of one token that has it as often as usual,
    times its idf."""
    terms = {"all": " ".join(f"t{i}" for i in range(100))}
    known = shard_statistics(index, "contents", terms, analysis)[0]
    adds, (_, documents, tokens, _) = {}, known.counts
    for term, (doc_freq, total_term_freq) in known.terms.items():
        usual = total_term_freq / doc_freq
        if parameters.model == "bm25":
            idf = np.log1p((documents - doc_freq + 0.5) / (doc_freq + 0.5))
            length = 1 - parameters.b + parameters.b * documents / tokens
            usual = idf * usual / (usual + parameters.k1 * length)
        adds[term] = usual * np.log(documents / doc_freq)
    return adds


ASKED = {
    "made": {0.4: [1, 1, 1], 0.6: [2, 1, 1], 0.8: [2, 1, 2], 1.0: [4, 3, 2]},
    "made-weights": {0.4: [2, 1, 1], 0.6: [2, 2, 2], 0.8: [3, 2, 2], 1.0: [4, 3, 2]},
}
"""By share, of how many terms each query asks."""


@pytest.mark.parametrize("index", ["made", "made-weights"])
@pytest.mark.parametrize("share", [0.4, 0.6, 0.8, 1.0])
def test_the_hot_field_is_asked_for_the_heaviest_terms(
    home: Path, index: str, share: float
) -> None:
    topics = {
        "a": "t1 " * 5 + "t2 " * 3 + "t3 t4",
        "b": "t2 t5 t16",
        "c": "t7 " * 4 + "t60 unknown",
    }
    with _tiered(home / index) as (find, parameters, analysis):
        adds = _adds(home / index, analysis, parameters)
        heaviest = {}
        for name, text in topics.items():
            words = [word for word in text.split() if word in adds]
            ranked = sorted({*words}, key=lambda word: -adds[word] * words.count(word))
            weights = np.array([adds[word] * words.count(word) for word in ranked])
            asked = ranked[: 1 + int(np.sum(np.cumsum(weights) < share * weights.sum() - 1e-9))]
            heaviest[name] = " ".join(word for word in words if word in asked)
        asked = [len({*text.split()}) for text in heaviest.values()]
        assert asked == ASKED[index][share]
        tiers = Tiers("contents", "contents_hot", 0, 0, share)
        by_hand = find(tiers._replace(query_terms=1), heaviest, 400)
        for one, other in zip(find(tiers, topics, 400), by_hand, strict=True):
            assert one.documents == other.documents != []
            np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6)


def test_a_term_of_all_documents_is_one_of_all_terms(tmp_path: Path) -> None:
    docs = [Doc(f"d{n}", ["t0"] * (1 + n % 5) + [f"t{1 + n % 7}"]) for n in range(70)]
    write_index(tmp_path / "source", [docs[:30], docs[30:]], LAYOUT)
    tdv.prune_index(tmp_path / "source", None, tmp_path / "made", tiers=True, reduction=0.1)
    topics = {"both": "t0 t1", "common": "t0", "rare": "t1"}
    found = _search(tmp_path / "made", tmp_path / "run", topics, tier="hot")
    both, common, rare = ({document for document, _ in found[name]} for name in topics)
    assert both == common | rare and common - rare


def _with_log(place: Path, queries: int) -> Path:
    log = place / "log.tsv"
    log.write_text("".join(f"q{i}\tt{i + 1}\n" for i in range(queries)))
    return log


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "queries"),
        ({"depth": 5}, "queries"),
        ({"fidelity": 0.9, "reduction": 0.5}, "fidelity"),
        ({"reduction": 0.5, "max_bytes": "1MB"}, "max_bytes"),
        ({"queries": 3}, "too few"),
        ({"queries": 30, "fidelity": 0.999999}, "fidelity"),
        ({"reduction": 0.5, "depth": 0}, "depth"),
        ({"reduction": 0.5, "margin": 1.5}, "margin"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_nothing_written(
    home, tmp_path, options, named
) -> None:
    if "queries" in options:
        options = {**options, "queries": _with_log(tmp_path, options["queries"])}
    with pytest.raises(tdv.TdvError, match=named):
        tdv.prune_index(home / "source", None, tmp_path / "made", tiers=True, **options)
    assert {path.name for path in tmp_path.iterdir()} <= {"log.tsv"}


def test_other_indexes_have_one_tier(home: Path, tmp_path: Path) -> None:
    for options in ({"tier": "hot"}, {"depth": 5}):
        with pytest.raises(tdv.TdvError, match="no hot field"):
            tdv.search_index(home / "source", TOPICS, tmp_path / "run", **options)
    with pytest.raises(tdv.TdvError, match="depth"):
        tdv.search_index(home / "made", TOPICS, tmp_path / "run", tier="whole", depth=5)
    with pytest.raises(tdv.TdvError, match="tier must be both, hot or whole, got 'cold'"):
        tdv.open_searcher(home / "made", tier="cold")
    with pytest.raises(tdv.TdvError, match="depth must be from 1 to 1,000,000, got -1"):
        tdv.open_searcher(home / "made", depth=-1)
    with pytest.raises(tdv.TdvError, match="asks the field 'contents': leave out field"):
        tdv.open_searcher(home / "made", field="title")
    how: dict[str, Any] = {"tiers": True, "reduction": 0.5, "search_as": "recorded"}
    tdv.prune_index(home / "source", None, tmp_path / "recorded", **how)
    with pytest.raises(tdv.TdvError, match="contents_hot"):
        tdv.prune_index(tmp_path / "recorded", None, tmp_path / "again", **how)
    values = tdv.make_peer_values(home / "source", tmp_path / "ridf", name="ridf")
    with pytest.raises(tdv.TdvError, match="tiers"):
        tdv.prune_index(home / "source", values, tmp_path / "x", queries=_with_log(tmp_path, 30))


def test_commands_tell_of_two_tiers(home: Path, tmp_path: Path) -> None:
    asked = {f"q{i}": f"t{i + 1}" for i in range(40)}
    log, qrels = write_judged(tmp_path, asked, {f"q{i}": f"d{3 * i}" for i in range(40)})
    out, source = tmp_path / "made", ("--index", home / "source")

    def run(*words: object) -> str:
        return run_command(*words).output

    told = run("prune", *source, "--tiers", "--queries", log, "--output", out, "--fidelity", 0.5)
    assert "contents_hot" in told and "ten best" in told and "recommended" not in told
    report = json.loads((out / "tdv-manifest.json").read_text())["tiers"]
    assert report["visits_whole"] < 600 and "there is too little to save here" in told
    for saved, end in ((0.5, "alone at 70."), (0.1, "hardly be faster than that field alone.")):
        assert said_of_tiers({**report, "saved": saved}).endswith(end)
    told = run("search", "--index", out, "--topics", log, "--output", tmp_path / "run")
    assert "contents_hot" in told
    told = run("compare", *source, "--pruned", out, "--topics", log, "--qrels", qrels,
               "--output", tmp_path / "compared", "--latency-budget", 1)  # fmt: skip
    assert "Two tiers" in told and "pruned-whole" in told and "pruned-hot" in told
    report = json.loads((tmp_path / "compared" / "report.json").read_text())
    assert 0.5 <= report["tiers"]["pruned"]["fidelity"] <= 1
    assert report["tiers"]["pruned"]["hot_bytes"] == field_bytes(out, "contents_hot")
    assert "t3" in run("explain", *source, "--pruned", out, "--tier", "hot", "--query", "t2 t3")


def test_measures_of_ten_are_those_of_a_search_for_ten(home: Path, tmp_path: Path) -> None:
    """It ranks fewer documents than a search for a thousand, and asks for fewer terms."""
    files = write_judged(tmp_path, TOPICS, {query: "d3" for query in TOPICS})
    how: dict[str, Any] = {"tiers": True, "queries": files[0], "fidelity": 0.5}
    tdv.prune_index(home / "source", None, tmp_path / "made", **how)
    tdv.compare_indexes(home / "source", tmp_path / "made", *files, tmp_path / "report")
    run = read_run(tmp_path / "report" / "runs" / "pruned.run")
    ten, thousand = (_search(tmp_path / "made", tmp_path / "run", hits=n) for n in (10, 1000))
    changed = 0
    for query, rows in run.groupby("query"):
        first, found = [d for d, _ in ten[query]], [d for d, _ in thousand[query]]
        changed += first != found[:10]
        assert [*rows["docid"]] == [*first, *(d for d in found if d not in first)]
        assert rows["score"].is_monotonic_decreasing
    assert changed
