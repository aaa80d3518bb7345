"""Text and queries are analysed as an index was made, whatever the language; else it is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import write_judged
from index_facts import analysis_of
from lucene_indexes import change, write_texts
from pruning_inputs import read_user_data

import tdv_lucene as tdv
from tdv_lucene.analysis import DEFAULT, LANGUAGES, Analysis, read_stop_words
from tdv_lucene.index import analysis as indexes_analysis
from tdv_lucene.index.analysis import FieldAnalysis, as_user_data
from tdv_lucene.index.build import analysis_of_flags
from tdv_lucene.jvm.analysis import (
    analyze,
    anserini_analyses,
    as_record,
    from_record,
    identity_of,
    make_analyzer,
)
from tdv_lucene.jvm.index import add_user_data
from tdv_lucene.learning.prior import prior_values_of_index

pytestmark = pytest.mark.jvm

GERMAN = Analysis("de")
DECLARATION = {
    Analysis(name) if name in LANGUAGES else Analysis(analyzer=name): text
    for name, text in json.loads(
        (Path(__file__).parents[1] / "resources" / "declaration.json").read_text(encoding="utf-8")
    ).items()
}
"""The beginning of the Universal Declaration of Human Rights in each language, by the analysis that
is made for it; nobody has a copyright in it."""


def _is_thai_missing() -> bool:
    try:
        make_analyzer(Analysis("th"))
    except tdv.TdvError:
        return True
    return False


def _texts(language: str) -> list[str]:
    return [*DECLARATION[Analysis(language)]]


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As plain Anserini makes it: nothing is recorded."""
    return write_texts(tmp_path_factory.mktemp("german") / "index", _texts("de"), GERMAN)


@pytest.fixture(scope="module")
def german_terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without stored text."""
    folder = tmp_path_factory.mktemp("german") / "terms"
    return write_texts(folder, _texts("de"), GERMAN, raw=False)


def test_every_analysis_is_found_from_stored_text(tmp_path: Path) -> None:
    """Of its own language; where that does not tell two apart, it is said."""
    greek = Analysis(analyzer="org.apache.lucene.analysis.el.GreekAnalyzer")
    for number, made in enumerate((*anserini_analyses(), greek)):
        if made.language == "th" and _is_thai_missing():
            continue
        texts = [*DECLARATION[greek]] if made == greek else _texts(made.language)
        found = analysis_of(write_texts(tmp_path / str(number), texts, made))
        assert identity_of(made) in [identity_of(one) for one in (found.analysis, *found.others)]
        assert found.is_certain == (not found.others)
        assert found.is_certain or made.language == "en", (made, found)


def test_without_text_nothing_is_guessed(german_terms: Path) -> None:
    found = analysis_of(german_terms)
    assert (found.analysis, found.is_certain, found.others) == (DEFAULT, False, ())
    assert found.evidence == "it stores no text of the field"


def test_what_stored_text_does_not_tell_is_told(tmp_path: Path, caplog, monkeypatch) -> None:
    """Both are named, with their flags, where the queries would find other terms; nothing is said
    where they would not."""
    made = Analysis(stemmer="none")
    index = write_texts(tmp_path / "index", _texts("fi"), made, raw=False)
    either = FieldAnalysis(DEFAULT, "stored text", False, (made,))
    monkeypatch.setattr(indexes_analysis, "detect", lambda *_: either)
    tdv.search_index(index, {"q": "ihmiset"}, tmp_path / "other")
    assert "--stemmer" not in caplog.text
    topics, qrels = write_judged(tmp_path, {"q": " ".join(_texts("fi"))}, {"q": "d1"})
    for run in (
        lambda: tdv.search_index(index, topics, tmp_path / "run"),
        lambda: tdv.tune_index(index, topics, qrels, tmp_path / "tuned"),
        lambda: tdv.explain_query(index, index, " ".join(_texts("fi"))),
    ):
        caplog.clear()
        run()
        assert "English (" in caplog.text and "--stemmer" in caplog.text


def test_a_new_users_way(german: Path, tmp_path: Path) -> None:
    """No command has a flag, and all say what was found."""
    (said,) = tdv.inspect_index(german)["analyses"].values()
    assert said["described"] == "German (detected from stored text)" and said["certain"]
    found = tdv.search_index(german, {"q": "Freiheiten"}, tmp_path / "run")
    assert found["hits"] > 0 and found["analysis"] == "German (detected from stored text)"
    tdv.prune_index(german, None, tmp_path / "pruned", reduction=0.2)
    assert json.loads(read_user_data(tmp_path / "pruned")["analysis.contents"])["language"] == "de"
    assert analysis_of(tmp_path / "pruned").describe() == "German (recorded in the index)"
    again = tdv.explain_query(german, tmp_path / "pruned", "die Freiheiten")
    assert [term["term"] for term in again["terms"]] == analyze(["Freiheiten"], "contents", GERMAN)[
        0
    ]


def test_what_an_index_records_holds(german: Path, tmp_path: Path) -> None:
    """In the words of Anserini's flags; with the class, for Anserini 2 has another for Korean."""
    assert from_record({"language": "ko", "class": "x.Korean"}) == Analysis(analyzer="x.Korean")
    index = write_texts(tmp_path / "index", _texts("de"), GERMAN)
    add_user_data(index, {**as_user_data(Analysis("fr")), **as_user_data(GERMAN, "title")})
    assert analysis_of(index).analysis == Analysis("fr")
    assert analysis_of(index, "title").analysis == GERMAN
    with pytest.raises(tdv.TdvError, match="French.* --language de"):
        analysis_of(index, asked=GERMAN)
    assert analysis_of(german, asked=Analysis("fr")).describe() == "French (as given)"


def test_flags_of_anserini_name_an_analysis() -> None:
    assert analysis_of_flags(["-stemmer", "krovetz", "-keepStopwords"]) == Analysis(
        stemmer="krovetz", stopwords=()
    )
    assert analysis_of_flags(["-pretokenized"]) == Analysis(pretokenized=True)
    assert analysis_of_flags(["-analyzeWithHuggingFaceTokenizer", "bert"]) is None


def test_queries_that_the_index_lacks_stop_it(german_terms: Path, tmp_path: Path, caplog) -> None:
    """Where it would have their terms by another analysis: before any work."""
    topics = {f"q{i}": text for i, text in enumerate(_texts("de"))}
    match = "English.*100%.*German.*--language de"
    with pytest.raises(tdv.TdvError, match=match):
        tdv.search_index(german_terms, topics, tmp_path / "run")
    pair = write_judged(tmp_path, topics, dict.fromkeys(topics, "d1"))
    with pytest.raises(tdv.TdvError, match=match):
        tdv.learn_from_index(german_terms, *pair, tmp_path / "values")
    with pytest.raises(tdv.TdvError, match=match):
        tdv.compare_indexes(german_terms, german_terms, *pair, tmp_path / "report")
    assert tdv.search_index(german_terms, topics, tmp_path / "run", language="de")["hits"] > 0
    # Where the index says how it was analysed, the advice would be wrong.
    recorded = write_texts(tmp_path / "recorded", _texts("de"), GERMAN, raw=False)
    add_user_data(recorded, as_user_data(DEFAULT))
    assert tdv.search_index(recorded, topics, tmp_path / "run", overwrite=True)["hits"] > 0
    assert "give --language" not in caplog.text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"language": "xx"}, "language must be one of"),
        ({"stemmer": "snowball"}, "stemmer must be one of"),
        ({"language": "de", "stemmer": "krovetz"}, "language and stemmer do not go together: Ger"),
        ({"language": "de", "pretokenized": True}, "language and pretokenized do not go together"),
        ({"analyzer": "x.Y", "stopwords": ()}, "stopwords and analyzer do not go together"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(wrong: dict, message: str) -> None:
    with pytest.raises(tdv.TdvError, match=message):
        Analysis(**wrong)


def test_an_analyzer_is_named_by_its_class(tmp_path: Path) -> None:
    """Also Anserini's for tweets, which no flag names: by text it is not taken for another."""
    greek = Analysis(analyzer="org.apache.lucene.analysis.el.GreekAnalyzer")
    assert analyze(["Οι άνθρωποι"], analysis=greek) == [["ανθρωπ"]]
    for name in ("no.Such", "java.lang.String", "org.apache.lucene.analysis.core.StopAnalyzer"):
        with pytest.raises(tdv.TdvError, match=name):
            make_analyzer(Analysis(analyzer=name))
    tweets = Analysis(analyzer="io.anserini.analysis.TweetAnalyzer")
    texts = [f"See, #{word}s of @{word}y! (http://x.org/{word})" for word in "abc def ghi".split()]
    index = write_texts(tmp_path / "index", texts, tweets)
    assert not analysis_of(index).is_certain
    found = tdv.search_index(index, {"q": "@abcy"}, tmp_path / "run", analyzer=tweets.analyzer)
    assert found["hits"] == 1 and found["analysis"] == f"{tweets.analyzer} (as given)"
    tdv.prune_index(index, None, tmp_path / "pruned", reduction=0, analyzer=tweets.analyzer)
    assert tdv.search_index(tmp_path / "pruned", {"q": "@abcy"}, tmp_path / "other")["hits"] == 1


def test_a_guess_stays_what_it_was_and_a_guess(tmp_path: Path, monkeypatch) -> None:
    """Pruned, pruned again, tuned, and updated: what is dropped may be what it was made from."""
    index = write_texts(tmp_path / "index", _texts("fr"), Analysis("fr"))
    guess = FieldAnalysis(Analysis("fr"), "stored text", False, (GERMAN,), "two agree")
    with monkeypatch.context() as patch:
        patch.setattr(indexes_analysis, "detect", lambda *_: guess)
        tdv.prune_index(index, None, tmp_path / "pruned", reduction=0.8, search_as="recorded")
        tdv.tune_index(index, None, None, tmp_path / "tuned")
    tdv.prune_index(tmp_path / "pruned", None, tmp_path / "again", reduction=0.5)
    change(index, deleted=["d0"])
    assert tdv.update_index(tmp_path / "pruned")["updated"]
    for name in ("pruned", "again", "tuned"):
        assert analysis_of(tmp_path / name) == guess, name
    assert analysis_of(tmp_path / "pruned", asked=Analysis("it")).analysis == Analysis("it")
    corrected = tmp_path / "corrected"
    tdv.prune_index(tmp_path / "pruned", None, corrected, reduction=0, language="it")
    assert analysis_of(corrected).describe() == "Italian (recorded in the index)"


def test_stop_words_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("foxes\nquick\n")
    words = read_stop_words(tmp_path / "words")
    own = Analysis(stopwords=words)
    assert analyze(["the quick foxes"], analysis=own) == [["the"]]
    assert read_stop_words("none") == ()
    assert own.describe() == "English (Porter stemmer, 2 stop words)"
    with pytest.raises(tdv.TdvError, match=str(tmp_path / "none")):
        read_stop_words(tmp_path / "none")


def test_an_analyzer_that_cannot_be_made_is_refused_before_it_is_recorded(tiny_index, tmp_path):
    with pytest.raises(tdv.TdvError, match="StandardAnalyzer is no Lucene analyzer"):
        tdv.prune_index(tiny_index, None, tmp_path / "pruned", analyzer="StandardAnalyzer")
    assert not list(tmp_path.iterdir())


def test_thai_names_the_java_it_needs() -> None:
    if _is_thai_missing():
        with pytest.raises(tdv.TdvError, match="Thai .*JAVA_HOME"):
            analyze(["สวัสดี"], analysis=Analysis("th"))
    else:
        assert len(analyze(["มนุษย์ทั้งหลายเกิดมา"], analysis=Analysis("th"))[0]) > 1


SET_LANGUAGE = ["ar", "bn", "da", "de", "es", "fa", "fi", "fr", "hi", "hu", "id", "it", "ja", "ko",
                "nl", "no", "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh"]  # fmt: skip


@pytest.mark.pyserini
@pytest.mark.parametrize(
    "made",
    [*map(Analysis, SET_LANGUAGE), Analysis(stemmer="krovetz"), Analysis(stemmer="none"),
     Analysis(stopwords=()), Analysis(pretokenized=True)],
    ids=str,
)  # fmt: skip
def test_runs_are_those_of_pyserini(made: Analysis, tmp_path: Path) -> None:
    """200 hits of 20 queries that hold a whole text, documents and scores, in 600 pieces of it that
    overlap; the index says nothing of its language."""
    if made.language == "th" and _is_thai_missing():
        pytest.skip("this Java has no word boundaries of Thai")
    text = " ".join(_texts(made.language))
    starts = np.random.default_rng(0).integers(0, len(text) - 60, 600)
    pieces = [text[start : start + 60 + start % 90].strip() for start in starts.tolist()]
    index = write_texts(tmp_path / "index", pieces, made)
    cuts = np.linspace(0, len(text), 21).astype(int).tolist()
    topics = {f"q{i}": text[a:b] for i, (a, b) in enumerate(zip(cuts, cuts[1:]))}
    from pyserini.analysis import JWhiteSpaceAnalyzer, get_lucene_analyzer
    from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(str(index))
    if made.language != "en":
        searcher.set_language(made.language)
    elif made.pretokenized:
        searcher.set_analyzer(JWhiteSpaceAnalyzer())
    else:
        stems = {"stemming": made.stemmer != "none", "stemmer": made.stemmer}
        analyzer = get_lucene_analyzer(**stems, stopwords=made.stopwords is None)
        searcher.set_analyzer(analyzer)
    found = tdv.search_index(index, topics, tmp_path / "run", tag="x", hits=200)
    expected = [
        f"{qid} Q0 {hit.docid} {rank} {hit.score:.6f} x"
        for qid, text in topics.items()
        for rank, hit in enumerate(searcher.search(text, 200), 1)
    ]
    assert (tmp_path / "run").read_text().splitlines() == expected and found["hits"] > 2_000


def test_tdvs_say_how_an_index_was_analysed_where_nothing_else_does(german_terms, tmp_path) -> None:
    """Learned with a flag, or from an index with stored text; the pruned index records it."""
    values = prior_values_of_index(german_terms)
    values.manifest["analysis"] = as_record(GERMAN)
    report = tdv.prune_index(german_terms, values, tmp_path / "pruned", reduction=0.2)
    assert report["analysis"] == "German (recorded in the TDVs)"
    assert analysis_of(tmp_path / "pruned").describe() == "German (recorded in the index)"


def test_text_put_to_tokens_made_elsewhere_is_told(tmp_path: Path, caplog) -> None:
    made = Analysis(pretokenized=True)
    index = write_texts(tmp_path / "index", ["tok ##ens and ir", "##is ##es"], made, raw=False)
    tdv.search_index(index, {"q": "Tokens, irises"}, tmp_path / "run", pretokenized=True)
    told = "has none of their 2 terms ('Tokens,', 'irises'), analysed as pretokenized"
    assert told in caplog.text
