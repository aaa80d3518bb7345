"""The page with rankings side by side: what it tells, who may ask, and how a browser shows it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

import pytest
from browsing import open_in_browser
from lucene_indexes import Doc, Layout, write_index

from tdv_lucene.comparison import served_answer, serving
from tdv_lucene.comparison.explain import explain_query
from tdv_lucene.comparison.side_by_side import SideBySide
from tdv_lucene.errors import TdvError
from tdv_lucene.report import serve_page

pytestmark = pytest.mark.jvm

MARKUP = "<script>document.title='taken'</script>"
TEXTS = [
    f"fox dog dog {MARKUP} <b>bold</b> & 😀 foxes",
    "fox cat",
    "dog cat cat",
    "cat",
]
AFTER = ["dog dog", "cat", "cat cat", "cat"]  # without "fox", and "dog" only in the first


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    for name, texts in (("full", TEXTS), ("pruned", AFTER)):
        docs = [Doc(f"d<i>{i}", text.split()) for i, text in enumerate(texts)]
        write_index(folder / name, [docs])
    return {"full": folder / "full", "pruned": folder / "pruned"}


@pytest.fixture
def answered(pair):
    def ask(query, hits=10, indexes=None):
        with SideBySide(indexes or pair) as session:
            return served_answer.answer(session, query, hits)

    return ask


def test_terms_and_rankings(answered):
    found = answered("The fox, a dog, a dog and zebra", hits=2)
    assert found["terms"] == [
        {"term": "fox", "in_query": 1, "df": {"full": 2, "pruned": 0}, "tdv": {"pruned": 0.0}},
        {"term": "dog", "in_query": 2, "df": {"full": 2, "pruned": 1},
         "tdv": {"pruned": pytest.approx(2 / 3)}},
        {"term": "zebra", "in_query": 1, "df": {"full": 0, "pruned": 0}, "tdv": {"pruned": None}},
    ]  # fmt: skip
    full, pruned = found["indexes"].values()
    assert [hit["document"] for hit in full["hits"]] == ["d<i>0", "d<i>2"]
    assert [hit["ranks"]["pruned"] for hit in full["hits"]] == [1, None]
    (only,) = pruned["hits"]
    assert (only["document"], only["rank"], only["first_rank"]) == ("d<i>0", 1, 1)
    assert only["lost"] == ["fox"]
    assert pruned["gone"] == [{"document": "d<i>2", "first_rank": 2, "rank": None}]
    assert (full["matching"], pruned["matching"], full["gone"]) == (3, 1, [])
    assert full["ms"] > 0 and pruned["ms"] > 0


def test_scores_are_those_of_explain(pair, answered):
    found, told = answered("fox cat"), explain_query(*pair.values(), "fox cat")
    for name, when in zip(pair, ("before", "after")):
        shown = [(h["document"], h["score"]) for h in found["indexes"][name]["hits"]]
        assert shown == [(h["document"], h["score"]) for h in told["hits"][when]]


def test_ranks_are_known_deeper_than_what_is_shown(answered):
    found = answered("fox dog cat", hits=1)
    gone = found["indexes"]["pruned"]["gone"]
    (shown,) = found["indexes"]["pruned"]["hits"]
    assert shown["first_rank"] is not None
    assert all(hit["rank"] > 1 for hit in gone)


def test_words_are_marked_where_they_stand(answered):
    full, pruned = answered("foxes dog")["indexes"].values()
    (first,) = [h for h in full["hits"] if h["document"] == "d<i>0"]
    assert "".join(p["text"] for p in first["whole"]) == TEXTS[0]
    marked = [(p["text"], p["term"]) for p in first["whole"] if p["term"]]
    assert marked == [("fox", "fox"), ("dog", "dog"), ("dog", "dog"), ("foxes", "fox")]
    assert not any(p["lost"] for p in first["whole"])
    after = pruned["hits"][0]["whole"]
    assert "".join(p["text"] for p in after) == AFTER[0]


def test_three_indexes_and_none_with_text(make_index, answered):
    docs = [[Doc("a", ["fox"]), Doc("b", ["dog"])]]
    indexes = {name: make_index(docs, name, raw=False) for name in ("one", "two", "three")}
    found = answered("fox", indexes=indexes)
    assert [*found["indexes"]] == [*indexes]
    assert found["terms"][0]["tdv"] == {"two": 1.0, "three": 1.0}
    for name, index in found["indexes"].items():
        (hit,) = index["hits"]
        assert hit["excerpt"] is None and hit["ranks"] == dict.fromkeys(indexes.keys() - {name}, 1)
    about = {"folder": "x", "bytes": 1, "parameters": {"model": "bm25"}, "tdv_kind": "ratio"}
    shown = {"indexes": dict.fromkeys(indexes, about), "analysis": "German", "language": "de"}
    page = serve_page.render(shown, "fox", found, "")
    assert page.count("no text is stored") == 3, "once an index, not once a document"
    assert "No text" not in page


def test_another_field(tmp_path, pair):
    docs = [[Doc("a", ["fox"])]]
    path = write_index(tmp_path / "other", docs, Layout(field="body"))
    with SideBySide({"x": path, "y": path}, field="body") as session:
        assert served_answer.answer(session, "fox", 10)["indexes"]["x"]["matching"] == 1


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"indexes": {"full": "x"}}, "one index cannot be compared"),
        ({"indexes": {"full": "/nowhere", "b": "/nowhere"}}, "no such index"),
        ({"field": "title"}, "no field 'title'"),
        ({"model": "lm"}, "model must be one of bm25, .*, got 'lm'"),
        ({"hits": 0}, "hits must be from 1 to 50, got 0"),
        ({"hits": 51}, "hits must be from 1 to 50, got 51"),
        ({"values": {"pruned": "/nowhere"}}, "/nowhere"),
        ({"port": 99_999}, "^port must be from 0 to 65,535, got 99,999$"),
        ({"port": -1}, "^port must be from 0 to 65,535, got -1$"),
    ],
)
def test_refusals(pair, changes, message):
    with pytest.raises(TdvError, match=message):
        serving.serve_indexes(**{"indexes": pair, **changes})


def test_a_port_in_use_is_named(pair):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            TdvError,
            match=rf"port {port} of 127.0.0.1 \(Address already in use\): choose another port, or",
        ):
            serving.serve_indexes(pair, port=port)


@pytest.fixture
def client():
    """A client of the application, with an answer that is not asked of any index."""

    def ask(query, hits):
        if query.startswith("the"):
            raise TdvError("nothing is left of 'the'")
        return {"query": query, "hits": hits}

    index = {"folder": "x", "bytes": 1, "parameters": {"model": "bm25"}, "tdv_kind": "ratio"}
    about = {"indexes": {"full": index, "pruned": index}, "field": "contents",
             "analysis": "German", "language": "de"}  # fmt: skip
    app = serving.make_app(about, ask, "secret")
    app.config["HOSTS"] = frozenset({"127.0.0.1:8000"})
    return app.test_client()


HERE = "http://127.0.0.1:8000"


@pytest.mark.parametrize("path", ["/", "/secre/", "/secrets/", "/other/search.json?q=fox",
                                  "/other/serve.js", "/é/", "/favicon.ico"])  # fmt: skip
def test_every_address_needs_the_token(client, path):
    answer = client.get(path, base_url=HERE)
    assert answer.status_code == 403
    assert "secret" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8001", "127.0.0.1", "evil.example:8000", "0:8000"])
def test_only_this_host_is_answered(client, host):
    for path in ("/secret/", "/secret/search.json?q=fox", "/secret/serve.css"):
        assert client.get(path, base_url=f"http://{host}").status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"])
def test_a_browser_leaves_out_port_80(client, host):
    client.application.config["HOSTS"] = serving.hosts_of(80)
    assert client.get("/secret/", base_url=f"http://{host}").status_code == 200
    assert client.get("/secret/", base_url="http://localhost:8000").status_code == 403


def test_a_long_query_is_shortened_in_the_title(client):
    page = client.get("/secret/?q=" + "the+" * 3000 + "end", base_url=HERE)
    assert len(_Texts(page.text).title) < 150


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch", "options"])
def test_nothing_can_be_sent(client, method):
    assert getattr(client, method)("/secret/", base_url=HERE).status_code == 405


def test_headers_and_statuses(client):
    for path, status in (
        ("/secret/serve.css", 200), ("/secret/serve.js", 200), ("/secret/serve.html", 404),
        ("/secret/../setup.cfg", 404), ("/secret/search.json?q=fox", 200),
        ("/secret/search.json", 400), ("/secret/search.json?q=the", 400), ("/secret/?q=the", 400),
        ("/secret/search.json?q=fox&hits=many", 400), ("/secret/", 200), ("/", 403),
    ):  # fmt: skip
        answer = client.get(path, base_url=HERE)
        assert answer.status_code == status, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in answer.headers
    told = client.get("/secret/search.json?q=the", base_url=HERE).get_json()
    assert told == {"error": "nothing is left of 'the'"}
    asked = client.get("/secret/search.json?q=+fox+&hits=3", base_url=HERE).get_json()
    assert asked == {"query": "fox", "hits": 3}


def snapshot(pair):
    """What lies in the indexes' folders, and since when."""
    files = [path for folder in pair.values() for path in folder.parent.rglob("*")]
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def served(pair):
    """The command as a process, and its address."""
    words = [f"--index={name}={path}" for name, path in pair.items()]
    # Without what a JVM would say of the options that it picked up.
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", "serve", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**environment, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    address = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), process.communicate()[1]
    yield process, address
    process.kill()
    process.communicate()


class _Texts(HTMLParser):
    """What stands in each element of some classes, and which elements there are."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.marked: list[str] = []
        self.title = ""
        self.texts: list[str] = []
        self.query: str | None = None
        self.feed(dom)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        if tag == "mark":
            self.marked.append("")
        if attributes.get("id") == "q":
            self.query = attributes["value"]

    def handle_data(self, data):
        self.texts.append(data)
        if self.lasttag == "mark" and self.marked and not self.marked[-1]:
            self.marked[-1] = data
        if self.lasttag == "title":
            self.title += data


@pytest.mark.slow
def test_a_browser_shows_markup_as_text_and_asks_nobody_else(served, tmp_path):
    process, address = served
    query = "fox dog \"><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    opened = open_in_browser(
        address + "?q=" + urllib.parse.quote(query), tmp_path / "net.json", width=1280
    )
    assert "CONSOLE" not in opened.console
    page = _Texts(opened.dom)
    assert page.query == query and page.title.startswith(query)
    assert page.tags.count("script") == 1 and "img" not in page.tags and "b" not in page.tags
    shown = " ".join("".join(page.texts).split())
    assert MARKUP in shown and "<b>bold</b> & 😀" in shown
    assert {"fox", "foxes", "dog"} <= set(page.marked)
    assert "tf ratio" in shown and "TDV" not in shown, "no values were given"
    assert "d<i>0" in shown and "dropped" in shown and "No longer among the best 10" in shown
    assert opened.urls and all(url.startswith(address) for url in opened.urls)


def test_the_process_answers_its_own_address_only_and_stops_on_ctrl_c(served, pair):
    process, address = served
    before = snapshot(pair)
    with urllib.request.urlopen(address + "search.json?q=fox") as answer:
        found = json.load(answer)
    assert [*found["indexes"]] == ["full", "pruned"], "in the order given"
    with urllib.request.urlopen(address) as answer:
        assert "Type a query" in answer.read().decode()
    port = urllib.parse.urlsplit(address).port
    for wrong in (f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port}/{'x' * 32}/"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(wrong)
    named = urllib.request.Request(address, headers={"Host": f"evil.example:{port}"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(named)
    assert snapshot(pair) == before
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert (told.splitlines()[-1], said) == ("Stopped.", "")


def test_the_command_refuses_names_it_cannot_use(pair, monkeypatch, capsys):
    from tdv_lucene.cli import main

    full = f"full={pair['full']}"
    for words in (
        [f"--index={pair['full']}"],
        [f"--index={full}", f"--index={full}"],
        [f"--index={full}", f"--index=pruned={pair['pruned']}", "--tdv=other=x"],
        [f"--index={full}"],
    ):
        monkeypatch.setattr("sys.argv", ["tdv-lucene", "serve", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert exit_.value.code == 2
    assert "one index cannot be compared" in capsys.readouterr().err
