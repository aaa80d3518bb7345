"""From an index and files to term values: embed and learn with the analyzer on the JVM; pruning
without a judgement; and the whole way from documents to a report."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import json_of, run_command, write_judged
from gensim.models import KeyedVectors
from lucene_indexes import Doc, Layout, write_index
from pruning_inputs import read_user_data
from tiny_collection import TINY_TEXTS

import tdv_lucene as tdv
from tdv_lucene import TdvError, TermValues, embed_terms, learn_from_index, prune_index
from tdv_lucene.cli import learn as learn_command
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.prior import Prior, settings_for
from tdv_lucene.learning.selection import BEST, recommend
from tdv_lucene.matrix.extract import extract_matrix, open_matrix
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.searching.tune import tune_index

pytestmark = pytest.mark.jvm

SHORT = Recipe(max_steps=4, check_every=2, folds=2, reductions=(0, 0.3))


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Documents in two segments with stored text; topics in words that the analyzer stems."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("learn")
    subjects = ["index", "prune", "rank", "weight", "learn", "retriev"]
    docs = [
        Doc(f"d{i}", [subjects[i % 6]] * 2 + [f"t{t}" for t in rng.integers(0, 30, 20)])
        for i in range(90)
    ]
    write_index(folder / "index", [docs[:50], docs[50:]])
    words = ["indexes", "Pruned", "ranking", "weights", "learning", "retrieval"]
    topics, qrels = folder / "topics.tsv", folder / "qrels.txt"
    topics.write_text("".join(f"q{n}\tthe {word} t{n} t{n + 5}\n" for n, word in enumerate(words)))
    qrels.write_text(
        "".join(f"q{n} 0 d{d} {int(d % 6 == n)}\n" for n in range(6) for d in range(n, 90, 2))
    )
    return SimpleNamespace(index=folder / "index", topics=topics, qrels=qrels)


def learn(case, output, **options) -> TermValues:
    return learn_from_index(
        case.index, case.topics, case.qrels, output, **{"recipe": SHORT, **options}
    )


@pytest.fixture(scope="module")
def learned(case, tmp_path_factory) -> TermValues:
    """As nobody asks otherwise."""
    return learn(case, tmp_path_factory.mktemp("learned") / "V")


def test_where_a_loss_cannot_be_excluded_nothing_is_to_be_dropped(learned, capsys):
    unsure, worse = ({"mean": m, "ci95": [m - 0.1, m + 0.1]} for m in (0.0, -0.2))
    for difference, said in ((unsure, "drop nothing, which ranks best"), (worse, "R@1000")):
        points = [
            {**p, "difference": dict.fromkeys(p["difference"], difference)} for p in learned.points
        ]
        reduction, because = recommend(points)
        told = {"recommended_reduction": reduction, "recommended_because": because}
        rest = {"points": points, **told}
        learn_command.print_points(replace(learned, manifest={**learned.manifest, **rest}))
        shown = " ".join(capsys.readouterr().out.split())
        assert "0% *" in shown and said in shown.split("recommended: ")[1]
        assert ("Held back by nDCG@5 (more than 2% may be lost)" in shown) is (because == BEST)
        assert "Learned without positions. Index with -storePositions" in shown


def test_topics_go_through_the_analyzer_and_the_result_prunes(case, tmp_path):
    values = learn(case, tmp_path / "V", seed=3)
    assert values.manifest["queries"] == 6
    assert values.points[0]["full"]["nDCG@5"] > 0.9  # only if "Pruned" met the term "prune"
    assert values.manifest["seed"] == 3
    report = prune_index(case.index, tmp_path / "V", tmp_path / "P", reduction=0.3)
    assert report["unit"] == "posting"
    # Thirty words in documents of one length: many postings are worth exactly the same.
    assert 0.2 < report["reduction"] <= 0.3


@pytest.fixture(scope="module")
def few_judged(case, tmp_path_factory):
    """The same topics with four judged documents each: the others leave room for a pool."""
    path = tmp_path_factory.mktemp("few") / "qrels.txt"
    lines = [line.split() for line in case.qrels.read_text().splitlines()]
    by_query = {f"q{n}": [line for line in lines if line[0] == f"q{n}"] for n in range(6)}
    kept = (line for of in by_query.values() for line in of[:4])
    path.write_text("".join(" ".join(line) + "\n" for line in kept))
    return SimpleNamespace(index=case.index, topics=case.topics, qrels=path)


@pytest.mark.parametrize("model", ["bm25", "qld"])
def test_a_pool_holds_what_lucene_finds(few_judged, tmp_path, capsys, model):
    values = learn(few_judged, tmp_path / "V", pool=60, model=model)
    about = values.manifest["pool"]
    assert (about["documents"], about["of"]) == (60, 90) and 0 < about["drawn"] < 60
    assert np.isfinite(values.weights).all()
    learn_command.print_points(values)
    assert "Measured in a pool of 60 of 90 documents" in " ".join(capsys.readouterr().out.split())
    report = prune_index(few_judged.index, tmp_path / "V", tmp_path / "P", reduction=0.3)
    assert 0.2 < report["reduction"] <= 0.3 + 1e-9


def test_judgements_of_another_collection_are_asked_about(case, tmp_path, caplog):
    """Topics and qrels that the index meets by chance only; also where it is tuned on them."""
    asked = {f"q{n}": "pruned" for n in range(36)}  # documents 1, 7, 13, ...
    relevant = {f"q{n}": f"d{6 * (n % 15)}" for n in range(36)}
    topics, qrels = write_judged(tmp_path, asked, relevant)
    learn(SimpleNamespace(index=case.index, topics=topics, qrels=qrels), tmp_path / "V")
    assert f"{qrels} for {topics}" in caplog.text and "no better than chance" in caplog.text
    with qrels.open("a") as file:
        file.write("q0 0 elsewhere 1\n")
    tune_index(case.index, topics, qrels, tmp_path / "T")
    missing, chance = caplog.messages[-2:]
    assert "1 of the 16 relevant documents" in missing and str(case.index) in missing
    assert f"{qrels} for {topics}" in chance and "no better than" in chance


def test_relevant_documents_that_the_index_lacks_are_told(case, tmp_path, caplog):
    qrels = tmp_path / "more.qrels"
    elsewhere = "".join(f"q{n} 0 elsewhere{n} 1\n" for n in range(3))
    qrels.write_text(case.qrels.read_text() + elsewhere)
    learn(SimpleNamespace(index=case.index, topics=case.topics, qrels=qrels), tmp_path / "V")
    assert f"3 of the 93 relevant documents of the qrels are not in {case.index}" in caplog.text
    caplog.clear()
    learn(case, tmp_path / "W")
    assert "are not in" not in caplog.text


def test_vectors_from_the_matrix_and_from_stored_text_serve_learning(case, tmp_path):
    for name in ("lsa", "train"):
        made = embed_terms(case.index, tmp_path / name, vectors=name, dimensions=4)
        assert made.vectors.shape[1] == 4 and len(made.terms)
        values = learn(case, tmp_path / f"V-{name}", vectors=tmp_path / name)
        assert values.manifest["vectors"]["method"] in ("lsa", "fasttext")


def test_words_of_a_file_meet_stems_through_the_analyzer(case, tmp_path):
    keyed = KeyedVectors(vector_size=2)
    words = ["pruning", "pruned", "Indexing", "unrelated"]
    keyed.add_vectors(words, np.array([[1, 0], [0, 1], [5, 5], [9, 9]], np.float32))
    keyed.save_word2vec_format(str(tmp_path / "words.vec"))
    made = embed_terms(case.index, tmp_path / "E", vectors=tmp_path / "words.vec")
    matrix = extract_matrix(case.index, tmp_path / "S")
    terms = [matrix.vocabulary.terms[t] for t in made.terms]
    assert dict(zip(terms, made.vectors.tolist())) == {b"prune": [0.5, 0.5], b"index": [5.0, 5.0]}
    values = learn(case, tmp_path / "V", vectors=tmp_path / "words.vec")
    assert values.manifest["vectors"]["file"] == "words.vec"


def test_a_matrix_of_another_index_is_refused(case, tmp_path):
    write_index(tmp_path / "other", [[Doc("d0", ["index"])]])
    extract_matrix(tmp_path / "other", tmp_path / "S")
    with pytest.raises(TdvError, match="another state of the index"):
        learn(case, tmp_path / "V", matrix=tmp_path / "S")
    assert not (tmp_path / "V").exists()


def test_training_is_refused_where_no_text_is_stored(tmp_path):
    index = write_index(tmp_path / "bare", [[Doc("d0", ["index"])]], Layout(raw=False))
    with pytest.raises(TdvError, match="stores no text"):
        embed_terms(index, tmp_path / "E", vectors="train")
    assert not (tmp_path / "E").exists()


POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"


def _docs() -> list[Doc]:
    rng = random.Random(5)
    words = [f"w{i}" for i in range(200)]
    weights = [1 / (i + 1) for i in range(200)]
    return [
        Doc(f"d{i}", rng.choices(words, weights, k=rng.randint(20, 90)), deleted=i % 9 == 4)
        for i in range(60)
    ]


@pytest.fixture
def zipfian(make_index) -> Path:
    return make_index([_docs()[:35], _docs()[35:]], options=POSITIONS)


def test_what_cannot_be_pruned_is_refused_before_anything_else(make_index, tmp_path, caplog):
    """Nothing else is said of it, such as how unlike other collections it is."""
    index = make_index([_docs()], options="DOCS")
    for words in (["prune"], ["learn", "--no-judgements"]):
        with pytest.raises(TdvError, match="'contents'"):
            run_command(*words, "--index", index, "--output", tmp_path / "P")
    assert not caplog.records


@pytest.mark.parametrize("options", [POSITIONS, "DOCS_AND_FREQS"])
def test_the_command_alone_prunes_and_the_result_is_proved(options, make_index, tmp_path) -> None:
    zipfian, pruned = make_index([_docs()[:35], _docs()[35:]], options=options), tmp_path / "P"
    report = json_of("prune", "--index", zipfian, "--output", pruned)
    name, sha256 = Prior.load().describe().values()
    with open_matrix(zipfian) as matrix:
        settings = settings_for(Prior.load(), matrix, "bm25", positions=options == POSITIONS)[0]
    assert report["requested_reduction"] == (settings.reduction or 0.0)
    assert report["reduction"] == pytest.approx(report["requested_reduction"], abs=0.05)
    assert report["learned_from"] == f"prior {name} ({sha256[:12]}), no judgements"
    record = read_user_data(pruned)
    assert ("tdv.lead.boost" in record) == (options == POSITIONS)
    assert json_of("verify", "--index", zipfian, "--pruned", pruned)["equal"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rng, path = random.Random(6), tmp_path / "log.tsv"
    asked = [f"w{rng.randrange(40)} w{rng.randrange(200)}" for _ in range(20)]
    path.write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(asked)), encoding="utf-8")
    return path


def test_a_query_log_chooses_the_reduction(zipfian: Path, log: Path, tmp_path: Path) -> None:
    words = ["--index", zipfian, "--topics", log, "--output", tmp_path / "V"]
    shown = " ".join(run_command("learn", *words).output.split())
    assert "for 20 queries without judgements" in shown and "* recommended: the largest" in shown
    assert shown.endswith(f"--index INDEX --tdv {tmp_path / 'V'} --output PRUNED")
    values = TermValues.load(tmp_path / "V")
    words = ["--index", zipfian, "--queries", log, "--output", tmp_path / "P"]
    shown = " ".join(run_command("prune", *words).output.split())
    assert "By 20 queries of the log that have answers, against the same weights" in shown
    report = json.loads((tmp_path / "P" / "tdv-manifest.json").read_text(encoding="utf-8"))
    assert report["chosen"]["reduction"] == values.recommended_reduction
    assert report["chosen"]["log"]["queries"] == 20
    assert verify_pruned(zipfian, tmp_path / "P")["equal"]
    most = prune_index(zipfian, None, tmp_path / "Q", queries=log, max_loss=0.99)
    assert most["chosen"]["reduction"] == 0.8 and most["chosen"]["max_loss"] == 0.99
    given = prune_index(zipfian, None, tmp_path / "R", queries=log, reduction=0.3)
    assert given["chosen"] is None and given["requested_reduction"] == 0.3


def test_what_prior_and_log_cannot_say_is_refused(zipfian: Path, log: Path, tmp_path: Path) -> None:
    for options, named in (
        ({"max_loss": 0.01}, "max_loss .*queries"), ({"field": "nothing"}, "'nothing'"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=named):
            prune_index(zipfian, None, tmp_path / "Q", **options)
    for options, named in (({"k1": 1.2}, "k1 .*qrels"), ({}, "queries")):
        queries, judged = (log, None) if options else (None, log)
        with pytest.raises(TdvError, match=named):
            learn_from_index(zipfian, queries, judged, tmp_path / "W", **options)
    for text in ("", "1\tnowhere\n"):
        log.write_text(text, encoding="utf-8")
        with pytest.raises(TdvError, match="topic|queries"):
            prune_index(zipfian, None, tmp_path / "Q", queries=log)
    assert not (tmp_path / "Q").exists() and not (tmp_path / "W").exists()


def test_from_documents_to_a_report(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    lines = [json.dumps({"id": f"d{i}", "contents": text}) for i, text in enumerate(TINY_TEXTS)]
    (documents / "documents.jsonl").write_text("\n".join(lines))
    index, matrix, values, pruned = (tmp_path / name for name in ("I", "M", "V", "P"))
    flags = ["-collection", "JsonCollection", "-input", str(documents), "-threads", "1",
             "-generator", "DefaultLuceneDocumentGenerator", "-storePositions"]  # fmt: skip
    assert tdv.build_index(index, flags)["indexed"] == len(TINY_TEXTS)
    postings = tdv.extract_matrix(index, matrix).postings
    topics = {"q1": "quick foxes", "q2": "pruning an index", "q3": "terms"}
    judged = write_judged(tmp_path, topics, {"q1": "d0 d1", "q2": "d4 d8", "q3": "d3 d6"})
    recipe = Recipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.3))
    tdv.learn_from_index(index, *judged, values, matrix=matrix, recipe=recipe)
    report = tdv.prune_index(index, values, pruned, reduction=0.3)
    assert report["postings"] == pytest.approx(0.7 * postings, abs=2)
    assert tdv.verify_pruned(index, pruned)["equal"]
    tdv.search_index(pruned, topics, tmp_path / "run")
    found = tdv.evaluate_run(tmp_path / "run", topics, tdv.read_qrels(judged[1]))
    told = tdv.compare_indexes(index, pruned, *judged, tmp_path / "R", latency_budget_seconds=0.1)
    assert told["measures"]["MAP"]["means"]["pruned"] == pytest.approx(found.means()["MAP"])
    assert told["indexes"]["pruned"]["postings"] == report["postings"]
    assert tdv.read_report(tmp_path / "R") == told
