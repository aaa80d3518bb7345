"""Formats of topics: all of a file is read, or the error names what is not understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.topic_formats import form_of, query_of
from tests.topic_files import FORMATS, write_topics

MARKED = [form for form in FORMATS if "<" in write_topics(form, [])] + [
    "Trec", "Trec of FIRE", "Trec of Core", "Microblog", "Cacm", "Qa"
]  # fmt: skip
# Words with what other formats would take for theirs; no tag and no label is whole.
WORDS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<>&"), min_size=1)
TITLES = st.lists(WORDS, min_size=1, max_size=6).filter(lambda words: ":" not in "".join(words[:3]))


def read(text: str, topic_field: str = "title") -> dict[str, str]:
    path = Path("file")
    return dict(
        query_of(topic, topic_field, where) for where, topic in form_of(text, path)(text, path)
    )


@pytest.mark.parametrize("form", [*MARKED, "TsvString"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(titles=st.lists(TITLES, min_size=1, max_size=4))
def test_titles_are_read_as_written(form, titles):
    ids = {f"{number:03}": " ".join(words) for number, words in enumerate(titles)}
    text = write_topics(form, [(qid, title, "about", "more") for qid, title in ids.items()])
    assert {qid.removeprefix("MB"): title for qid, title in read(text).items()} == ids


@pytest.mark.parametrize("form", MARKED)
@pytest.mark.parametrize(
    "written, title",
    [
        ("boundary <i>layer</i> flow", "boundary layer flow"),
        ("H<sub>2</sub>O and\n<b class='x'>a\nline</b>", "H2O and a line"),
        ("one<br/>two<br>three <p>four</p>", "one two three four"),
        ("<em>a <foo>b</foo></em> &lt;c&gt; AT&T &amp; &#228;", "a b <c> AT&T & ä"),
        ("if a < b > c and <unknown thing", "if a < b > c and <unknown thing"),
        ("uses <vector> of C++", "uses <vector> of C++"),
        ("cuts: a <!-- of\n 2011 --> view", "cuts: a view"),
        ("<![CDATA[a <b> & c]]> d", "a <b> & c d"),
    ],
)  # fmt: skip
def test_markup_in_titles(form, written, title):
    found = read(write_topics(form, [("041", written, "d", "n"), ("42", "last", "d", "n")]))
    assert [query for query in found.values()] == [title, "last"]


CLEF = """<top>
<num> C041 </num>
<DE-title> Pestizide in <i>Babykost</i> </DE-title>
<DE-desc> Berichte über Pestizide. </DE-desc>
<DE-narr> Relevante Dokumente. </DE-narr>
</top>
"""
CLEF_2008 = """<topics><topic lang="de"><identifier>10.2452/451-AH</identifier>
<title>Kurorte</title><description>Finde
 Orte</description><narrative>n</narrative></topic></topics>"""


def test_clef():
    assert read(CLEF) == {"C041": "Pestizide in Babykost"}
    assert read(CLEF, "desc") == {"C041": "Berichte über Pestizide."}
    assert read(CLEF_2008, "desc") == {"10.2452/451-AH": "Finde Orte"}
    with pytest.raises(TdvError, match="line 1: .*<title>"):
        read(CLEF.replace("<DE-desc>", "<EN-title>Pesticides</EN-title>\n<DE-desc>"))


@pytest.mark.parametrize("number", ["number=7 type=x", "lang='de' id = '7'", 'topic_id="7"'])
def test_ids_in_attributes(number):
    assert read(f"<topic {number}><title>a</title></topic>") == {"7": "a"}


def test_topics_in_few_words():
    lines = "201:raspberry pi\n202: uss carl: vinson \n"
    assert read(lines) == {"201": "raspberry pi", "202": "uss carl: vinson"}
    text = '<topics>\n<topic number="1">\nA man of <b>45</b> years.\n</topic>\n</topics>'
    assert read(text) == {"1": "A man of 45 years."}


TREC = "<top>\n<num>1\n<title>a\n</top>\n"


@pytest.mark.parametrize(
    "text, names",
    [
        (TREC + "lost words\n" + TREC, "line 6: 'lost words'"),
        (TREC + "lost words\n", "the end of file: 'lost words'"),
        ("lost words" + TREC.replace("<top>", " <top>"), "line 1: .*'lost words"),
        ("<top>\n<num>1</num> lost\n<title>a</title>\n</top>\n", "line 1: 'lost'"),
        (TREC + "<top>\n<num>2\n<title>lost\n" + TREC, "line 5: this <top> is not closed"),
        ("<top>\n<num>1\n<title>a\n<title>b\n</top>", "line 1: .*<title> twice"),
        ("<top>\n<title>a\n</top>", "line 1: no id .*title"),
        ("enwiki:a%20b\nc d\n", "line 2: .*'c d'"),
        ("1:one\n2 two\n", "line 2: .*'2 two'"),
        ('[{"id": 1, "title": "a"}, 3]', "topic 2"),
        ('[{"id": 1, "title": "a"}, {"id": 2}]', "topic 2: no text"),
        ('[{"id": 1, "turn": [{"number": 1, "title": "a"}, 3]}]', "topic 1"),
        ('[{"number": 1, "turn": [{"number": 1}]}]', "topic 1: no text"),
    ],
)
def test_what_is_not_understood_is_named(text, names):
    with pytest.raises(TdvError, match=names):
        read(text)


@pytest.mark.parametrize("query", ["the <top> tag", "<top> <num> 1 <title> x </top>", "<top>"])
def test_queries_that_speak_of_markup(query):
    assert read(f"1\t{query}\n2\tfox\n") == {"1": query, "2": "fox"}
    assert read(json.dumps({"id": "1", "title": query}) + "\n") == {"1": query}
    assert read(f"<top>\tx {query}\n") == {"<top>": f"x {query}"}
    assert read(f"1:{query}\n") == {"1": query}


CAST = [
    {"number": 31, "title": "cancer", "description": "d", "turn": [
        {"number": 1, "raw_utterance": "What is throat cancer?"},
        {"number": 2, "raw_utterance": "Is it treatable?"}]},
    {"number": 32, "turn": [{"number": 1, "raw_utterance": "Sharks?"}]},
]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
def test_conversations_of_cast(indent):
    assert read(json.dumps(CAST, indent=indent)) == {
        "31_1": "What is throat cancer?", "31_2": "Is it treatable?", "32_1": "Sharks?"
    }  # fmt: skip
