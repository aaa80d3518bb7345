"""No text of a user's is interpreted: by a screen, a browser, Markdown, LaTeX, or a reader of runs.

Commands run on a collection whose ids, terms, queries and paths are full of markup.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import open_in_browser
from click.testing import CliRunner
from lucene_indexes import Doc, write_index

import tdv_lucene.report
from tdv_lucene import compare_indexes, make_peer_values, prune_index
from tdv_lucene.cli import _group, main
from tdv_lucene.jvm import searcher
from tdv_lucene.report.wording import visible

pytestmark = pytest.mark.jvm

ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
WORDS = [
    "page[a]", "[/b]", "[red]x[/red]", "<script>alert(1)</script>", "\x1b[31mred\x1b[0m",
    "gpj.\u202eexe", "$x$", "a|b", ":smile:", "\\input{x}&%#_^~", "'\"`*", "{{1+1}}", "שלום",
]  # fmt: skip
"""Without white space, so that they can be ids."""
TERMS = [*WORDS, b"new\nline", b"tab\tbed"]
NAME = "in[b]dex \x1b[31m$x$\n<b>|\u202e"
"""Of the folders of the indexes."""
TEMPLATES = Path(tdv_lucene.report.__file__).parent / "templates"


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> SimpleNamespace:
    """A collection of strange ids and terms, its values, and a pruned index."""
    folder = tmp_path_factory.mktemp("strange")
    rng = np.random.default_rng(2)
    ids = [*WORDS, *(f"d{i}" for i in range(60))]
    docs = [
        Doc(name, [f"t{t}" for t in np.minimum(rng.zipf(1.5, 30), 40)] + [TERMS[i % len(TERMS)]])
        for i, name in enumerate(ids)
    ]
    index = write_index(folder / NAME, [docs[:40], docs[40:]])
    topics, qrels = folder / "top[i]cs\x1b.tsv", folder / "qr[e]ls.txt"
    texts = {qid: f"t{i + 1} t{i + 2} {qid}" for i, qid in enumerate(WORDS)}
    topics.write_text("".join(f"{qid}\t{text}\n" for qid, text in texts.items()), encoding="utf-8")
    qrels.write_text(
        "".join(f"{qid} 0 {name} {rng.integers(0, 2)}\n" for qid in WORDS for name in ids),
        encoding="utf-8",
    )
    made = SimpleNamespace(
        folder=folder, index=str(index), topics=str(topics), qrels=str(qrels),
        values=str(folder / "val[u]es"), pruned=str(folder / "pr[u]ned"),
    )  # fmt: skip
    make_peer_values(index, made.values, "ridf")
    prune_index(index, made.values, made.pruned, reduction=0.4)
    return made


COMMANDS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "inspect": ((), ["{index}"]),
    "prune": (("--tdv", "{values}", "--reduction", "0.4", "--output", "{output}"), ["{output}"]),
    "verify": (("--pruned", "{pruned}"), []),
    "search": (("--topics", "{topics}", "--output", "{output}"), ["{output}"]),
    "compare": (
        ("--pruned", "{pruned}", "--topics", "{topics}", "--qrels", "{qrels}",
         "--latency-budget", "0.2", "--output", "{output}"), ["{output}"]),
    "explain": (
        ("--pruned", "{pruned}", "--query", "t1 t2 page[a] \x1b[31m", "--hits", "80"),
        [word.replace("{", "{{").replace("}", "}}") for word in WORDS]),
}  # fmt: skip
"""Options beside --index, and texts that stand in what is printed."""


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_acts_on_the_screen(command, case):
    output = str(case.folder / f"{command}[b] \x1b[31m\u202e<i>$x$")
    names, (options, shown) = {**vars(case), "output": output}, COMMANDS[command]
    words = ["--index", case.index, *(word.format(**names) for word in options)]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(_group, [command, *words])
    assert done.exit_code == 0, done.exception
    assert not ACTING.search(done.output), ACTING.search(done.output)
    together = re.sub(r"\s", "", done.output)
    for text in shown:
        assert re.sub(r"\s", "", visible(text.format(**names))) in together, text


def test_nothing_acts_in_an_error(case, monkeypatch, capsys):
    """What a user names wrongly is named to them, and does nothing either."""
    missing = str(case.folder / "absent" / "[/b]\x1b[31m\u202e")
    monkeypatch.setattr("sys.argv", ["tdv-lucene", "inspect", "--index", missing])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "[/b]\\x1b[31m\\u202e" in error and not ACTING.search(error)


@pytest.fixture(scope="module")
def compared(case) -> Path:
    output = case.folder / "comp[a]red"
    compare_indexes(
        case.index, case.pruned, case.topics, case.qrels, output,
        latency_budget_seconds=0.2, further_queries=[(case.topics, case.qrels)],
    )  # fmt: skip
    return output


def test_the_page_is_text(compared):
    page = (compared / "report.html").read_text(encoding="utf-8")
    assert not ACTING.search(page)
    tags = {tag.lower() for tag in re.findall(r"<(\w+)", page)}
    assert not tags & {"b", "i", "img", "iframe", "object"}
    assert not re.search(r"<[^>]* on\w+=", page)
    data, ours = re.findall(r"<script.*?>(.*?)</script>", page, re.DOTALL)
    assert ours.strip() == (TEMPLATES / "report.js").read_text(encoding="utf-8").strip()
    assert not re.search("[<>&]", data)
    assert visible("<script>alert(1)</script>") in str(json.loads(data))
    text = unescape(re.sub("<.*?>", "", page))
    for shown in ("page[a]", visible("\x1b[31mred\x1b[0m"), visible(NAME)):
        assert shown in text


@pytest.mark.slow
def test_what_the_pages_script_shows_is_text(compared, tmp_path):
    opened = open_in_browser((compared / "report.html").as_uri(), tmp_path / "net.json", width=1280)
    assert "CONSOLE" not in opened.console
    rows = opened.dom[opened.dom.index('id="query-rows"') :]
    assert "&lt;script&gt;alert" in rows and not ACTING.search(rows)


def test_every_term_comes_as_its_bytes(tmp_path):
    terms = [b"\xff\xfe", b"new\nline", b"tab\tbed", b"nul\x00", "\U0001f98a".encode(), b"\xc3("]
    for name, of_all in (("full", terms), ("half", terms[::2])):
        docs = [Doc(f"d{i}", [f"t{i % 9}", *of_all]) for i in range(40)]
        write_index(tmp_path / name, [docs[:20], docs[20:]])
    with searcher.every_pair(tmp_path / "full", tmp_path / "half", "contents") as (found, counts):
        found = list(found)
    assert found == sorted(found) and {*terms} <= {*found} and len(found) == len(terms) + 9
    only_in_full = {term for term, row in zip(found, counts) if row[0] and not row[2]}
    assert only_in_full == {*terms[1::2]}
    asked = {"new\nline": (40, 40), "tab\tbed": (40, 40), "absent\n": (0, 0), "": (0, 0)}
    assert searcher.count_terms(tmp_path / "full", "contents", list(asked)) == asked
