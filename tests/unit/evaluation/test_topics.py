"""Reading topics and qrels."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import run_apart

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.topics import check_overlap, judged_queries, read_qrels, read_topics

TREC_1 = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus
 Subsidies

<desc> Description:
Document will discuss government assistance
to Airbus.
<narr> Narrative:
Relevant is <what> counts.
</top>
"""
ROBUST = """<top>
<num> Number: 301
<title>
International Organized Crime

<desc> Description:
Identify organizations.
</top>
"""


def write(folder: Path, content: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_tsv_keeps_order_and_its_third_column_is_no_query(tmp_path, caplog):
    path = write(tmp_path, "\ufeffb\tsecond  query\r\n\r\na\tfirst\tquery\r\n")
    assert list(read_topics(path).items()) == [("b", "second  query"), ("a", "first")]
    assert f"{path} has them in 1 lines" in caplog.text
    assert read_topics(write(tmp_path, "{1}\ttext\n")) == {"{1}": "text"}, "no JSON"
    of_a_mac = write(tmp_path, "b\tsecond  query\ra\tfirst\r")
    assert read_topics(of_a_mac) == {"b": "second  query", "a": "first"}


def test_whether_a_file_is_gzipped_its_content_says(tmp_path):
    """A download that was unpacked, or packed, under its old name."""
    packed = write(tmp_path, gzip.compress("1\tnaïve query\n".encode()), "topics.tsv")
    plain = write(tmp_path, "1 0 d1 1\n", "plain.qrels.gz")
    assert read_topics(packed) == {"1": "naïve query"} and read_qrels(plain) == {"1": {"d1": 1}}
    packed.write_bytes(gzip.compress(b"1\tquery\n" * 99)[:-9])
    with pytest.raises(TdvError, match=f"{packed}"):
        read_topics(packed)


@pytest.mark.parametrize(
    "text, field, expected",
    [
        (TREC_1 + ROBUST, "title",
         {"051": "Airbus Subsidies", "301": "International Organized Crime"}),
        (TREC_1, "desc", {"051": "Document will discuss government assistance to Airbus."}),
        (TREC_1, "narr", {"051": "Relevant is <what> counts."}),
    ],
)  # fmt: skip
def test_trec_formats(tmp_path, text, field, expected):
    assert read_topics(write(tmp_path, text), field) == expected


FIRST_LINE = '{"id": "0", "title": "x"}\n'


@pytest.mark.parametrize(
    "text, named",
    [
        ("", "no topic"),
        ("1\tfine\nno tab here\n", "line 2: .*'no tab here'"),
        ("1\tfine\n2\t \tthird\n", "line 2: no text"),
        ("1\tone\n1\tanother\n", "line 2: .*'1'"),
        ("query 1\ttext\n", "line 1: .*'query 1'"),
        (
            ROBUST + TREC_1.replace("<title> Topic:  Airbus\n Subsidies", ""),
            "line 9: .*topic_field title",
        ),
        (FIRST_LINE + '{"id": "1"}', "line 2: no text .*has id"),
        (FIRST_LINE + '{"title": "x"}', "line 2: no id .*has title"),
        (FIRST_LINE + '["1", "x"]', "line 2: expected objects"),
        (FIRST_LINE + '{"id": "1", ', "line 2: not JSON"),
    ],
)
def test_bad_topics(tmp_path, text, named):
    with pytest.raises(TdvError, match=named):
        read_topics(write(tmp_path, text))


def test_a_field_that_is_not_there(tmp_path):
    for text, field, named in (
        ("1\ttext\n", "desc", "line 1: .*topic_field desc"),
        (TREC_1.replace("<narr>", "<smry>"), "narr", "line 1: .*topic_field narr.* smry"),
        (TREC_1, "body", "'body': choose one of title, desc, narr"),
    ):
        with pytest.raises(TdvError, match=named):
            read_topics(write(tmp_path, text), field)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"1": "one", "02": "two"}', {"1": "one", "02": "two"}),
        ('{"1": {"title": "one", "desc": "d"},\n "2": {"title": "two"}}', {"1": "one", "2": "two"}),
        ('{"1": {"a": 2, "##b": 1}, "2": {}}', {"1": "a a ##b", "2": ""}),
        ('{"id": "1", "title": "one"}', {"1": "one"}),
    ],
)
def test_json_by_id_as_python_dumps_it(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    """Pyserini's ``get_topics``, ranx's and BEIR's queries, query vectors."""
    assert read_topics(write(tmp_path, text, "topics.json")) == found
    assert read_topics(write(tmp_path, text)) == found


def test_qrels_as_python_dumps_them(tmp_path: Path) -> None:
    judged = {"q1": {"d1": 1, "d#2": 0}, "q2": {}}
    assert read_qrels(write(tmp_path, json.dumps(judged, indent=1))) == judged
    for wrong, named in (
        ('{"q1": {"d1": 1.5}}', "'q1'.*1.5"), ('{"q1": ["d1"]}', "JSON"), ('{"q1": {}}', "no judg"),
        ('{"q1": {"d1": 1}', "JSON"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=named):
            read_qrels(write(tmp_path, wrong))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", "BEIR's qrels"),
        (b"q1 0 d1 1\n", "qrels"),
        (b"q1 Q0 d1 1 2.5 tag\n", "run"),
        (bz2.compress(b"1\tone\n"), "unpack"),
        (lzma.compress(b"1\tone\n"), "unpack"),
        ("1\tone\n".encode("utf-16"), "convert"),
    ],
)
def test_what_topics_are_not_is_named(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "topics.txt"
    path.write_bytes(content)
    with pytest.raises(TdvError, match=named):
        read_topics(path)


def test_json_lines(tmp_path):
    lines = ['{"id": "q1", "title": "one", "description": "of one"}',
             '{"_id": 7, "text": "seven\\tand", "desc": "of seven"}',
             '{"qid": "8", "query": "eight", "description": "of eight"}']  # fmt: skip
    path = write(tmp_path, "\n".join(lines) + "\n", "topics.jsonl")
    assert read_topics(path) == {"q1": "one", "7": "seven\tand", "8": "eight"}
    assert list(read_topics(path, "desc").values()) == ["of one", "of seven", "of eight"]


@pytest.mark.parametrize("stdin", [None, io.TextIOWrapper(io.BytesIO(b"\xff"))])
def test_a_standard_input_that_has_none_is_named(stdin, monkeypatch):
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(TdvError, match="standard input"):
        read_topics("-")


@pytest.mark.parametrize("read", [read_topics, read_qrels])
def test_files_that_are_not_there_or_no_text(tmp_path, read):
    for path in (
        Path("/nowhere/file.tsv"),
        write(tmp_path, "1 0 d1 1\n".encode("utf-16")),
        write(tmp_path, b"1\t\xff\xfe\n", "latin"),
    ):
        with pytest.raises(TdvError, match=f"{path}"):
            read(path)


@pytest.mark.parametrize(
    "text",
    [
        "1 0 d1 2\n1 0 d2 0\r\n\n2\t0\td1\t-1\n1 0 d1 2\n",
        "# TREC qrels of today\n1 0 d1 2.0\n1 0 d2 0.00\n#\n#with no blank\n2 0 d1 -1.\n",
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\td1\t-1\n",
        "1 0 d1 2\r1 0 d2 0\r2 0 d1 -1\r",
    ],
)
def test_qrels(tmp_path, text):
    assert read_qrels(write(tmp_path, text)) == {"1": {"d1": 2, "d2": 0}, "2": {"d1": -1}}


@pytest.mark.parametrize(
    "text, named",
    [
        ("", "no judgement"),
        ("1 0 d1 1\n1 0 d2\n", "line 2: 3 columns, expected 4"),
        ("query-id corpus-id score\n1 0 d1 1\n", "line 2: 4 columns, expected 3"),
        ("1 Q0 d1 1 12.5 bm25\n", "line 1: 6 columns, .*a run"),
        (f"1 0 d1 -{2**31}\n", "line 1: grade '-2147"),
        ("#1 0 d1 1.5\n", "line 1: grade '1.5'"),
        ("1 0 d1 1\n1 0 d1 2\n", "line 2: .*'d1' .*'1' .*2, and 1"),
    ],
)
def test_bad_qrels(tmp_path, text, named):
    with pytest.raises(TdvError, match=named):
        read_qrels(write(tmp_path, text))


@pytest.mark.parametrize("asked, judged", [("041", "41"), ("41", "041"), ("000", "0")])
def test_ids_that_differ_in_leading_zeros_are_told(asked, judged):
    """Otherwise TREC's topics 51 to 99 would be left out beside 100 to 150."""
    topics, qrels = {asked: "a", "100": "b"}, {judged: {"d": 1}, "100": {"d": 1}}
    with pytest.raises(TdvError, match=f"'{asked}' .*'{judged}' .*topic_reader"):
        judged_queries(topics, qrels)
    assert judged_queries(topics, qrels | {asked: {"d": 1}}) == [asked, "100"]


def test_judged_queries_are_those_asked_with_a_relevant_document():
    topics = {"3": "c", "1": "a", "2": "b", "9": "unjudged"}
    qrels = {"1": {"d": 1}, "2": {"d": 0, "e": -1}, "3": {"e": 2}, "4": {"d": 1}}
    assert judged_queries(topics, qrels) == ["3", "1"]
    for topics, qrels in (({"q1": "a"}, {"1": {"d": 1}}), ({"1": "a"}, {"1": {"d": 0}})):
        with pytest.raises(TdvError):
            judged_queries(topics, qrels)


def test_overlap_with_the_index():
    topics, qrels = {"1": "a", "2": "b"}, {"1": {"dé": 1}, "2": {"e": 0}, "3": {"f": 1}}

    def known_of(index: str) -> Callable[..., list[str]]:
        def known(ids: list[str], passages: bool = False) -> list[str]:
            here = [i.split("#")[0] for i in index.split()] if passages else index.split()
            return [each for each in ids if each in here]

        return known

    assert check_overlap(topics, qrels, known_of("dé x")) == (0, 1)
    with pytest.raises(TdvError, match="'dé'.*id_field"):
        check_overlap(topics, qrels, known_of("e f"))  # e is not relevant, f to no topic asked
    with pytest.raises(TdvError, match="'dé'.*max_passage"):
        check_overlap(topics, qrels, known_of("dé#0 dé#1"))


NAMED = """
from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.topics import read_qrels, read_topics
print(read_topics("robust04"))
print(read_qrels("robust04"))
for name in ("core17", "robust044"):
    for read in (read_topics, read_qrels):
        try:
            read(name)
        except TdvError as error:
            print(error)
"""


@pytest.mark.jvm
@pytest.mark.pyserini
def test_names_pyserini_knows(tmp_path):
    """A stored set is read; one that must be downloaded and cannot be says so; so do unknown ones.

    In a process of its own, because the JVM must not reach the network or the user's cache.
    """
    write(tmp_path, ROBUST, "topics.robust04.txt")
    stored = tmp_path / ".cache" / "pyserini" / "topics-and-qrels"
    stored.mkdir(parents=True)
    write(stored, "301 0 FBIS3-10082 1\n", "qrels.robust04.txt")
    offline = f"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9 -Duser.home={tmp_path}"
    done = run_apart("-c", NAMED, cwd=tmp_path, JAVA_TOOL_OPTIONS=offline)
    assert done.returncode == 0, done.stderr
    topics, qrels, *errors = done.stdout.splitlines()  # no log lines
    assert topics == "{'301': 'International Organized Crime'}"
    assert qrels == "{'301': {'FBIS3-10082': 1}}"
    assert ["'core17' are not stored" in error for error in errors] == [True, True, False, False]
    assert all("'robust044' is neither a file nor a name" in error for error in errors[2:])
    assert "did you mean robust04" in errors[2]


def test_queries_of_a_log_need_no_ids(tmp_path):
    """A log is what people typed: lines, or JSON of a web server; queries may come twice."""

    def read(content: str, name: str) -> dict[str, str]:
        return read_topics(write(tmp_path, content, name), is_log=True)

    assert read("red shoes\n\nblue, small shoes\nred shoes\n", "log.txt") == {
        "1": "red shoes", "2": "blue, small shoes", "3": "red shoes"
    }  # fmt: skip
    assert read("q7\tred shoes\n", "log.tsv") == {"q7": "red shoes"}
    assert read('{"query": "red shoes"}\n{"query": "blue"}\n', "log.jsonl") == {
        "1": "red shoes", "2": "blue"
    }  # fmt: skip
    for other in ("id,query\n1,red shoes\n", "q1 0 d3 1\nq1 0 d4 0\n", "q1 Q0 d3 1 9.5 x\n"):
        with pytest.raises(TdvError, match="looks like CSV, qrels or a run, and no log: write"):
            read(other, "log")
    with pytest.raises(TdvError, match="no id and query in 'red shoes'"):
        read_topics(write(tmp_path, "red shoes\n"))
    with pytest.raises(TdvError, match=r"no id and query in '1,red shoes' \(CSV is not read\)"):
        read_topics(write(tmp_path, "1,red shoes\n"))


def test_json_lines_without_a_query_are_no_queries_by_id(tmp_path):
    lines = '{"time": "10:01", "user": "a", "q": "red"}\n{"time": "10:02", "user": "b", "q": "x"}\n'
    with pytest.raises(TdvError, match=r"line 1: no text .*; this topic has time, user, q"):
        read_topics(write(tmp_path, lines, "log.jsonl"), is_log=True)
    assert read_topics(write(tmp_path, '{"a": "red"}\n{"b": "blue"}\n', "by-id.jsonl")) == {
        "a": "red", "b": "blue"
    }  # fmt: skip
