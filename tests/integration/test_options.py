"""Every option of every command has an effect: what comes out changes, or the option is refused.

``BASES`` are command lines; each option of the command is added to each of them, with every value
of a choice and with the samples of ``SAMPLES``. What changes nothing and is not refused must stand
in ``SAME`` with its reason. A new option is tried without a word here, or asks for a sample.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from commands import COMMANDS
from impact_documents import LAYOUT as IMPACT
from lucene_indexes import Doc, Layout, write_index

from tdv_lucene import TdvError, prune_index
from tdv_lucene.cli import _group, common
from tdv_lucene.comparison import compare
from tdv_lucene.learning import from_index
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.progress import ProgressBar
from tdv_lucene.ranking import PARAMETERS

pytestmark = pytest.mark.jvm

_JUDGED = "--topics {topics} --qrels {qrels}"
BASES = [
    "inspect --index {index}",
    "extract --index {index} --output {output}",
    "embed --index {index} --output {output}",
    "learn --index {index} --output {output} --no-judgements",
    "peers --index {index} --output {output} --name ridf",
    "prune --index {index} --output {output} --tdv {values}",
    "tune --index {index} --output {output}",
    "verify --index {index} --pruned {pruned}",
    "search --index {tiers} --topics {topics} --output {output}",
    "export --index {index} --output {output}",
    "explain --index {index} --pruned {tiers} --query 'index t1 t2'",
]
SLOW = [
    "extract --index {index} --output {output} --no-positions",
    "embed --index {index} --output {output} --vectors {words}",
    "learn --index {index} --output {output} --no-judgements --model qld",
    "peers --index {index} --output {output} --name random",
    "prune --index {index} --output {output} --tdv {values} --tf original",
    "search --index {tiers} --topics {topics} --output {output} --model qld",
    "search --index {tiers} --topics {topics} --output -",
    f"tune --index {{index}} --output {{output}} {_JUDGED}",
    "prune --index {index} --output {output}",
    "prune --index {index} --output {output} --tf original",
    "compare --index {index} --pruned {tiers} --output {output} --latency-budget 0.2 " + _JUDGED,
    f"learn --index {{index}} --output {{output}} {_JUDGED}",
    f"learn --index {{index}} --output {{output}} {_JUDGED} --no-values",
]
PASSED_ON = {
    "demo": "demo",
    "reproduce": "paper reproduce --collection other --index {index} --output {output} " + _JUDGED,
}
"""These take minutes: their options are seen to reach their functions."""
UNTRIED = {
    "update": "writes in place, or does not end; every option is tried in test_update.py",
    "index": "all but where to write are Anserini's own options",
    "env": "has no option but --json",
    "doctor": "has no option but --json",
}

SAMPLES: dict[str, tuple[str, ...]] = {
    **{name: (f"{each.grid[0]:g}",) for name, each in PARAMETERS.items()},
    "analyzer": ("org.apache.lucene.analysis.standard.StandardAnalyzer",),
    "b": ("0.9",), "depth": ("5",), "dimensions": ("3",), "fidelity": ("0.5",), "field": ("title",),
    "folds": ("3",), "hits": ("2",), "id_field": ("none",), "k1": ("3",), "language": ("de",),
    "latency_budget_seconds": ("0.3",),
    "margin": ("0.9",), "matrix": ("{matrix}",), "max_bytes": ("{size}",),
    "max_loss": ("0.01",), "measures": ("P@3",), "min_doc_freq": ("20",),
    "min_idf": ("1.5",), "models": ("tfidf",),
    "mu": ("70",), "neural": ("drmm",), "output": ("O",),
    "pool": ("70",), "pruned": ("{pruned}",), "qrels": ("{qrels}",),
    "queries": ("{log}",), "query": ("fox",), "query_terms": ("0.9",),
    "reduction": ("0.7",), "rerank_depth": ("7",), "scale": ("7",),
    "scheduler": ("tcp://127.0.0.1:1",), "search_as": ("recorded", "1.5,0.6"), "seed": ("1",),
    "stopwords": ("none",), "tag": ("x",), "threads": ("2",),
    "topic_reader": ("TsvInt",), "topics": ("{topics}",),
    "train_qrels": ("{qrels}",), "train_topics": ("{topics}",), "tune_qrels": ("{qrels}",),
    "tune_topics": ("{topics} --tune-qrels {qrels}",), "values": ("{values}",),
    "vectors": ("{words}",),
}  # fmt: skip
"""Values of options that are neither flags nor choices; ``{...}`` are files."""

SAME = {
    "overwrite": "replaces what is there, and nothing is: see test_outputs.py",
    "threads": "how fast, not what",
    "matrix": "saves the time of extracting",
    "latency_budget_seconds": "how long to measure",
    "compare seed": "matters where not all queries are timed, or signs are not all tried",
    "--no-values seed": "which queries share a fold: that changes no choice of these few",
    "search stopwords": "no topic has a stop word",
    "compare stopwords": "no topic has a stop word",
    "tune remove_query": "one document less changes no choice",
    "tune max_passage": "one document of another name changes no choice",
    "learn vectors": "judged learning moves no TDV on so few documents; on real ones it does",
    "inspect check": "small indexes are compared with their checksums in any case",
    "qld lead": "without judgements the prior changes nothing for query likelihood",
    "prune expect": "this collection is unlike the prior's: no more is dropped than details bear",
}
"""Options, of a command or beside another, that need not change anything -> why."""

OF_INPUTS = {
    "scheduler", "matrix", "language", "stemmer", "stopwords", "pretokenized", "analyzer",
    "field", "id_field", "topic_field", "topic_reader", "overwrite", "as_json",
}  # fmt: skip
"""What says how inputs are read and where results go. It is over before, or begins after, what
makes the bases of a command different: with the first of those that have the same files it is seen
for all of them."""

_REFUSED = re.compile(
    r"no effect with|exclude each other|go together|has no parameter|is for shards|have no rule|"
    r"goes with one|tuning needs|go into its norms|needs reductions that 'learn' has measured|"
    r"is for (bm25|an index in one folder)|was given: leave it out|another field names? |"
    r"ranks by weights|TopicReader cannot read|tiers are chosen by|has no hot field|has no norms|"
    r"impact index"
)
REFUSED = {"no norms": {"tune"}, "impact": {"tune", "learn", "search"}}
"""Commands that refuse a kind of index, or its ranking function."""
_TOLD = (
    "postings", "tokens", "terms", "scale", "search", "requested_reduction", "documents", "baked",
    "analysis", "chosen", "measure",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed must not depend on how busy the machine is."""
    monkeypatch.setattr(common, "ProgressBar", lambda: ProgressBar(delay_seconds=1e9))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter training, with fewer operating points, has the same options, as has no page."""
    few = functools.partial(
        Recipe, max_steps=20, check_every=10, folds=2, reductions=(0.0, 0.3, 0.45, 0.6)
    )
    monkeypatch.setattr(from_index, "Recipe", few)
    monkeypatch.setattr(compare, "render_page", lambda *_, **__: "")  # the page is report.json's


LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp", analysis=None)
KINDS = {
    "no norms": replace(LAYOUT, norms="none"),
    "exact norms": replace(LAYOUT, norms="accurate"),
    "no positions": Layout(),
    "impact": IMPACT,
}
"""Of other indexes than the one whose options are tried."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _make_files(tmp_path_factory.mktemp("options"), LAYOUT)


def _make_files(home: Path, layout: Layout) -> dict[str, Any]:
    """What the command lines name."""
    rng = np.random.default_rng(1)
    subjects = ["index", "prune", "rank", "weight", "learn", "retriev"]
    docs = [
        Doc(
            {0: "q0", 89: "d89#1"}.get(i, f"d{i}"),  # a query itself, a passage
            [f"t{t}" for t in rng.integers(0, 30, rng.integers(30, 60))] + [subjects[i % 6]] * 2,
            title=[subjects[i % 6], f"n{i % 30}", f"t{i % 7}"],
        )
        for i in range(90)
    ]
    index = write_index(home / "index", [docs[:50], docs[50:]], layout)
    values = prior_values_of_index(index)
    values.save(home / "values")
    prune_index(index, home / "values", home / "pruned", reduction=0.3)
    prune_index(index, home / "values", home / "tiers", reduction=0.6, tiers=True, depth=2)
    words = ["indexes", "Pruned", "ranking", "weights", "learning", "retrieval"]
    topics = [
        {"id": f"q{n}", "title": f"{word} t{n}", "desc": f"{word} t{n + 9} t{n + 2}",
         "narr": f"{word} t{n + 3} t{n + 12} t{n + 20}"}
        for n, word in enumerate(words)
    ]  # fmt: skip
    (home / "topics.jsonl").write_text("".join(f"{json.dumps(topic)}\n" for topic in topics))
    log = [f"{topic['id']}-{n}\t{topic['title']} t{n}\n" for topic in topics for n in range(3)]
    (home / "log.tsv").write_text("".join(log))
    judged = [(n, d) for n in range(6) for d in range(n, 40, 5)]
    (home / "qrels.txt").write_text("".join(f"q{n} 0 d{d} {int(d % 6 == n)}\n" for n, d in judged))
    (home / "words.vec").write_text("3 2\nindex 0.1 0.2\nt1 0.3 0.1\nt2 0.2 0.2\n")
    _run("extract --index {index} --output {matrix}", {"index": index, "matrix": home / "matrix"})
    (home / "work").mkdir()
    size = sum(file.stat().st_size for file in (home / "pruned").iterdir())
    return {
        "index": index, "values": home / "values", "pruned": home / "pruned",
        "tiers": home / "tiers",
        "topics": home / "topics.jsonl", "log": home / "log.tsv", "qrels": home / "qrels.txt",
        "words": home / "words.vec", "matrix": home / "matrix",
        "size": size - 400, "work": home / "work",
    }  # fmt: skip


def _run(line: str, files: dict[str, Any]) -> Any:
    return CliRunner().invoke(
        _group, [word.format(**files) for word in shlex.split(line)], standalone_mode=True
    )


def _outcome(line: str, files: dict[str, Any]) -> dict[str, Any] | str:
    """What comes out of a command line, without what differs from run to run; or the refusal."""
    work: Path = files["work"]
    shutil.rmtree(work)
    work.mkdir()
    said = _run(line, {**files, "output": work / "output", "new": work / "new"})
    error = said.exception
    if error is not None and not (isinstance(error, SystemExit) and error.code in (0, 1)):
        told = str(error) if isinstance(error, TdvError) else said.output
        assert _REFUSED.search(told), (line, error, said.output)
        return told
    found: dict[str, Any] = {"begins": said.stdout[:1] + said.stderr[:1]}
    for path in sorted(work.rglob("*")):
        if path.suffix in (".doc", ".pos"):  # segments are numbered as they are finished
            found[path.suffix] = found.get(path.suffix, 0) + path.stat().st_size
        elif path.is_file():
            found |= _content(path, work)
    if not any(work.iterdir()):
        found["printed"] = re.sub(r"[\d.]+ GB free", "", said.stdout)
    return found


def _content(path: Path, work: Path) -> dict[str, Any]:
    """What of a file is the same in every run."""
    name = path.relative_to(work).as_posix()
    if path.name == "latency_ns.npy":
        return {name: np.load(path).shape}
    if path.suffix == ".npy" or path.name.endswith(".run") or name == "output":
        return {name: hashlib.sha256(path.read_bytes()).hexdigest()}
    if path.name == "report.json":
        told = json.loads(path.read_text())
        kept = ("indexes", "measures", "parameters", "tuning", "terms", "trade_off", "query_sets")
        return {name: {key: told[key] for key in kept}}
    if path.name in ("manifest.json", "tdv-manifest.json"):
        told = json.loads(path.read_text())
        points = [{**point, "scales": ()} for point in told.get("points", ())]
        keys = (*_TOLD, "parameters", "lead", "field", "origin")
        id_field = (told.get("source") or {}).get("id_field")
        return {name: [points, [told.get(key) for key in keys], id_field]}
    return {} if path.suffix == ".html" else {name: None}


def _name(base: str) -> str:
    """The words of a command before its options."""
    return re.split(" -", base)[0]


def _options_of(base: str) -> list[click.Option]:
    return [param for param in COMMANDS[_name(base)].params if isinstance(param, click.Option)]


def _trials(option: click.Option, base: str) -> Iterator[str]:
    """The option with each of its other values, as typed."""
    flag = max(option.opts, key=len)
    if option.is_flag:
        both = (*option.opts, *option.secondary_opts)
        yield from (words for words in both if words not in base.split())
        return
    if f"{flag} " in base and (option.name in ("output", "query") or option.name not in SAMPLES):
        return  # what it reads and writes
    if isinstance(option.type, click.Choice):
        values = [value for value in option.type.choices if value != option.default]
    else:
        assert option.name in SAMPLES, f"{flag} is new: give a value of it in SAMPLES"
        values = list(SAMPLES[option.name])
    for value in values:
        if f"{flag} {value}" not in base:
            yield f"{flag} {value}"


def _check(base: str, files: dict[str, Any]) -> list[str]:
    """What the options of a command line do not do."""
    wrong = []
    first = _outcome(base, files)
    assert not isinstance(first, str), first
    assert _outcome(base, files) == first, f"{base}: does not give the same twice"
    for option in _options_of(base):
        if option.name in OF_INPUTS and not _is_first(base):
            continue
        flag = max(option.opts, key=len)
        same = []
        for words in _trials(option, base):
            line = base if option.multiple else re.sub(rf" {flag} \S+", "", base)
            found = _outcome(f"{line} {words}", files)
            if found == first:
                same.append(words)
        beside = ("", _name(base), base.split()[-1])
        known = {f"{each} {option.name}".strip() for each in beside} & SAME.keys()
        if len(same) > _has_default(option, base) and not known:
            wrong.append(f"{base}: {', '.join(same)} changes nothing")
    return wrong


def _is_first(base: str) -> bool:
    """Whether no base before has the same command and files."""

    def named(line: str) -> tuple[str, list[str]]:
        return _name(line), re.findall(r"\{\w+\}", line)

    return base == next(line for line in (*BASES, *SLOW) if named(line) == named(base))


def _has_default(option: click.Option, base: str) -> bool:
    """Whether one of the values tried is what the command does anyway: a switch that is on, or off,
    and one of the choices where the default depends on the index."""
    if option.is_flag:
        return bool(option.secondary_opts) and not {*option.opts, *option.secondary_opts} & {
            *base.split()
        }
    return isinstance(option.type, click.Choice) and option.default not in option.type.choices


@pytest.mark.parametrize(
    "base", [*BASES, *(pytest.param(base, marks=pytest.mark.slow) for base in SLOW)]
)
def test_an_option_has_an_effect_or_is_refused(base: str, files: dict[str, Any]) -> None:
    wrong = _check(base, files)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_serves_every_kind_of_index_or_refuses_it(kind: str, tmp_path: Path) -> None:
    files = _make_files(tmp_path, KINDS[kind])
    told = {base: _outcome(base, files) for base in (*BASES, *SLOW)}
    refused = {_name(base) for base in told if isinstance(told[base], str)}
    assert refused == REFUSED.get(kind, set()), told


class _Reached(Exception):
    """A stage was called with these arguments."""


@pytest.mark.parametrize("base", PASSED_ON.values(), ids=PASSED_ON)
def test_an_option_of_what_takes_minutes_reaches_its_function(base, files, monkeypatch) -> None:
    def reach(stage: object, *args: Any, **kwargs: Any) -> None:
        raise _Reached(repr((args, kwargs)))

    monkeypatch.setattr(common, "run", reach)

    def reached(line: str) -> str:
        error = _run(line, {**files, "output": files["work"] / "O", "new": "N"}).exception
        assert isinstance(error, _Reached), (line, error)
        return str(error)

    first = reached(base)
    for option in _options_of(base):
        for words in _trials(option, base):
            assert option.name == "as_json" or reached(f"{base} {words}") != first, words


def test_every_command_is_tried() -> None:
    tried = {_name(base) for base in (*BASES, *SLOW, *PASSED_ON.values())}
    assert tried | UNTRIED.keys() == COMMANDS.keys(), "add a command line to BASES"
    assert not tried & UNTRIED.keys()
