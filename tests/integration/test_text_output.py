"""Every command that takes an index, on every kind of index, in text: it succeeds and names what it
should, or is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import run_command, write_judged
from impact_documents import LAYOUT as IMPACT
from impact_documents import impact_documents
from lucene_indexes import Doc, Layout, write_index
from tiny_collection import TINY_TEXTS
from tiny_shards import two_workers

from tdv_lucene.cli import _group
from tdv_lucene.errors import TdvError
from tdv_lucene.values.peers import make_peer_values

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"
LAYOUTS = {
    "two fields": Layout(options=POSITIONS),
    "no norms": Layout(options=POSITIONS, norms="none"),
    "no positions": Layout(),
    "shards": Layout(options=POSITIONS),
    "impact": IMPACT,
    "exact norms": Layout(options=POSITIONS, norms="accurate"),
}
TOPICS = {
    "q1": "quick fox", "q2": "index postings", "q3": "retrieval of dogs", "q4": "documents ranking"
}  # fmt: skip
WEIGHTED_TOPICS = {"q1": "a a ##b", "q2": "c e e", "q3": "a c", "q4": "##b e"}


COMMANDS = {
    "inspect": ("--index {index}", ("can be pruned", "contents")),
    "extract": ("--index {index} --output {home}/matrix", ("postings", "matrix")),
    "peers": ("--index {index} --name ridf --output {home}/peers", ("ridf", "peers")),
    "learn": (
        "--index {index} {judged} --output {home}/learned",
        ("recommended", "full-tuned", "nDCG@5", "MB:"),
    ),
    "prune": ("--index {index} --output {home}/by-prior", ("by-prior", "contents", "reduction")),
    "verify": ("--index {index} --pruned {pruned}", ("equals", "postings")),
    "tune": ("--index {index} --output {home}/by-prior-k1", ("tuned k1", "tuned b")),
    "tune judged": ("--index {index} {judged} --output {home}/tuned", ("4 judged queries",)),
    "search": ("--index {pruned} --topics {topics} --output {home}/run", ("hits", "queries")),
    "compare": (
        "--index {index} --pruned {pruned} {judged} --output {home}/report --latency-budget .2",
        ("nDCG@5", "report.html"),
    ),
    "explain": ("--index {index} --pruned {pruned} --query {query}", ("Terms", "Best documents")),
    "export": ("--index {pruned} --output {home}/ciff", ("ciff", "postings")),
    "update": ("--pruned {pruned}", ("no, the source has no new commit",)),
}  # fmt: skip
"""The words of each command, and what it must name."""

REFUSED = {
    **{(name, "shards"): "no such index" for name in ("inspect", "peers", "explain", "export")},
    **{(name, "no norms"): "has no norms" for name in ("tune", "tune judged")},
    **{(name, "impact"): "is of an impact index" for name in ("tune", "tune judged")},
}


@pytest.fixture(scope="module", params=[*LAYOUTS])
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict]:
    """What a command line may name: an index, pruned, and judged queries."""
    home = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    with two_workers(home) if request.param == "shards" else nullcontext() as scheduler:
        yield _case(request.param, home, scheduler)


def _case(kind: str, home: Path, scheduler: str | None) -> dict:
    docs = [Doc(f"d{i}", text.split()) for i, text in enumerate(TINY_TEXTS)]
    if kind == "two fields":
        docs = [replace(doc, title=doc.tokens[-3:]) for doc in docs]
    if kind == "impact":
        docs = impact_documents()
    segments = [docs[:4], docs[4:8], docs[8:]]
    inside = ""
    if kind == "shards":
        (home / "index").mkdir()
        for name, segment in zip("abc", segments):
            write_index(home / "index" / name, [segment], LAYOUTS[kind])
        inside = "/*"
    else:
        write_index(home / "index", segments, LAYOUTS[kind])
    topics = WEIGHTED_TOPICS if kind == "impact" else TOPICS
    odd = " ".join(f"d{i}" for i in range(1, len(TINY_TEXTS), 2))
    files = write_judged(home, topics, dict.fromkeys(topics, odd))
    index, values = f"{home}/index{inside}", ""
    if kind == "two fields":
        for field in ("contents", "title"):
            make_peer_values(index, home / field, "ridf", field=field)
        values = f"--tdv {home}/contents --tdv title={home}/title"
    far = ["--scheduler", scheduler] * (scheduler is not None)
    words = ["prune", "--index", index, "--output", f"{home}/pruned", "--reduction", ".2"]
    written = run_command(*words, *values.split(), *far).output
    return {
        "far": far, "kind": kind, "home": home, "index": index, "written": written,
        "pruned": f"{home}/pruned{inside}", "query": [*topics.values()][0].split()[0],
        "topics": files[0], "judged": "--topics {} --qrels {}".format(*files),
    }  # fmt: skip


def test_every_field_that_was_pruned_is_named(case: dict) -> None:
    shown = [line.split() for line in case["written"].splitlines()]
    fields = [words[1] for words in shown if words[:1] == ["field"]]
    reductions = [words for words in shown if words[:1] == ["reduction"]]
    assert fields == ["contents", *["title"] * (case["kind"] == "two fields")]
    assert len(reductions) == len(fields)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_what_it_should_or_is_refused(command: str, case: dict) -> None:
    line, named = COMMANDS[command]
    before = sorted(case["home"].iterdir())
    words = [command.split()[0], *line.format(**case).split()]
    takes = {param.name for param in _group.get_command(None, words[0]).params}
    words += case["far"] * ("scheduler" in takes)
    reason = REFUSED.get((command, case["kind"]))
    if reason is None:
        shown = run_command(*words).output
        assert not [name for name in named if name not in shown], shown
        return
    with pytest.raises(TdvError, match=reason):
        run_command(*words)
    assert sorted(case["home"].iterdir()) == before, "nothing is written"
