"""Every command and everything it may be told to write to: nothing that was there is touched.

``WRITERS`` is a table that a new command joins with one row a place it can write to; a command in
neither ``WRITERS`` nor ``READERS`` fails a test that says what to add. What else is not replaced:
see tests/unit/test_output.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_fuzz import Fuzz
from click.testing import CliRunner, Result
from command_line import write_judged
from commands import COMMANDS
from lucene_indexes import write_index
from snapshots import snapshot
from tiny_collection import tiny_segments

from tdv_lucene import TdvError, extract_matrix, make_peer_values, prune_index
from tdv_lucene.cli import _group

pytestmark = pytest.mark.jvm

INPUTS = ("index", "pruned", "topics", "qrels", "matrix", "values", "vectors", "documents")
_JUDGED = "--topics {topics} --qrels {qrels}"
_MADE = "--matrix {matrix} --vectors {vectors}"
QUICK = [
    "extract --index {index} --output {output}",
    f"embed --index {{index}} {_MADE} --output {{output}}",
    "peers --index {index} --matrix {matrix} --name ridf --output {output}",
    "learn --index {index} --matrix {matrix} --no-judgements --output {output}",
    "prune --index {index} --tdv {values} --output {output}",
    "tune --index {index} --output {output}",
    "search --index {index} --topics {topics} --output {output}",
    "export --index {index} --matrix {matrix} --output {output}",
]
"""What takes a second or so, and is run to its end as well."""
WRITERS = [
    *QUICK,
    "index -collection JsonCollection -input {documents} -threads 1 "
    "-generator DefaultLuceneDocumentGenerator -index {output}",
    "extract --index {index} --index {pruned} --output {output}",
    f"learn --index {{index}} {_JUDGED} {_MADE} --output {{output}}",
    f"compare --index {{index}} --pruned {{pruned}} {_JUDGED} "
    "--tune-topics {topics} --tune-qrels {qrels} --output {output}",
    f"paper reproduce --collection wiki165k --index {{index}} {_JUDGED} --output {{output}}",
    "demo --output {output}",
]
"""Commands as typed: ``{output}`` is the place that is tried, all other names are ``INPUTS``."""
READERS = {
    "inspect": "inspect --index {index}",
    "verify": "verify --index {index} --pruned {pruned}",
    "update": "update --index {index} --pruned {pruned}",  # nothing is new there
    "explain": "explain --index {index} --pruned {pruned} --query index",
    "doctor": "doctor",
    "env": "env",
}
_TO_JOIN = (
    "say in tests/integration/test_outputs.py what it writes: in WRITERS the command for each place"
    " (with {output} there, and its inputs by the names in INPUTS), or in READERS, if it writes "
    "nothing"
)
_REFUSAL = "overlaps the input|exists: choose|would be deleted|lies in the Lucene index"


def _name(command: str) -> str:
    """The words before its options."""
    return command.partition(" -")[0]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> dict[str, Path]:
    """Each in a folder of its own; all that reads them leaves them as they are."""
    home = tmp_path_factory.mktemp("inputs")
    places = {name: home / name / name for name in INPUTS}
    for place in places.values():
        place.parent.mkdir()
    write_index(places["index"], tiny_segments())
    extract_matrix(places["index"], places["matrix"])
    make_peer_values(places["index"], places["values"], "ridf", matrix=places["matrix"])
    prune_index(places["index"], places["values"], places["pruned"])
    asked = {"1": "quick fox", "2": "inverted index", "3": "term weights"}
    for made in write_judged(home, asked, {"1": "d0", "2": "d4", "3": "d3"}):
        made.rename(places[made.stem])
    places["vectors"] = places["vectors"].with_suffix(".vec")
    places["vectors"].write_text("3 2\nquick 0.1 0.2\nindex 0.3 0.1\nterm 0.2 0.2\n")
    places["documents"].mkdir()
    (places["documents"] / "d.jsonl").write_text('{"id": "d0", "contents": "quick fox"}\n')
    return places


def _invoke(command: str, places: dict[str, Path], *more: str) -> Result:
    words = shlex.split(command.format(**{name: shlex.quote(str(p)) for name, p in places.items()}))
    return CliRunner().invoke(_group, [*words, *more])


def _taken(command: str, inputs: dict[str, Path], tmp: Path) -> dict[str, Path]:
    """Places that overlap an input, or hold what somebody else made."""
    (tmp / "thesis").write_text("years of work")
    (tmp / "home").mkdir()
    (tmp / "home" / "thesis.tex").write_text("years of work")
    found = {"a file": tmp / "thesis", "a folder": tmp / "home"}
    for name in (name for name in INPUTS if f"{{{name}}}" in command):
        given, link = inputs[name], tmp / f"link-to-{name}"
        link.symlink_to(given)
        found |= {f"the {name}": given, f"what holds the {name}": given.parent}
        found[f"a link to the {name}"] = link
        if given.is_dir():
            found[f"a place in the {name}"] = given / "new"
    return found


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["plain", "overwrite"])
@pytest.mark.parametrize("command", WRITERS)
def test_nothing_that_is_there_is_touched(command, overwrite, inputs, tmp_path) -> None:
    home = inputs["index"].parent.parent
    for what, output in _taken(command, inputs, tmp_path).items():
        before = snapshot(tmp_path, home)
        error = _invoke(command, {**inputs, "output": output}, *overwrite).exception
        assert snapshot(tmp_path, home) == before, f"{what} was changed"
        assert isinstance(error, TdvError) and re.search(_REFUSAL, str(error)), (what, error)
        assert output.name in str(error), what


@pytest.mark.parametrize("command", QUICK)
def test_a_result_of_the_same_kind_is_replaced(command, inputs, tmp_path) -> None:
    home, places = inputs["index"].parent.parent, {**inputs, "output": tmp_path / "output"}
    before = snapshot(home)
    assert _invoke(command, places).exit_code == 0
    first = snapshot(tmp_path)
    again = _invoke(command, places)
    assert isinstance(again.exception, TdvError) and "exists" in str(again.exception)
    assert snapshot(tmp_path) == first
    replaced = _invoke(command, places, "--overwrite")
    assert replaced.exit_code == 0, replaced.exception
    assert snapshot(tmp_path).keys() == first.keys()
    assert snapshot(home) == before


@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_what_reads_writes_nothing(command, inputs, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = inputs["index"].parent.parent
    before = snapshot(home)
    said = _invoke(command, inputs)
    assert said.exit_code == 0, said.exception
    assert snapshot(home) == before and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_a_table(name) -> None:
    rows = [command for command in WRITERS if _name(command) == name]
    assert bool(rows) != (name in READERS), f"'{name}' is a command: {_TO_JOIN}"
    tried = {flag for row in rows for flag in re.findall(r"-(\w+) \{output\}", row)}
    for option in COMMANDS[name].params:
        flags = {flag.lstrip("-") for flag in option.opts}
        if isinstance(option, click.Option) and {option.name, *flags} & _WRITTEN:
            assert flags & tried, f"'{name}' writes to {option.opts[0]}: {_TO_JOIN}"


_WRITTEN = {"output", "report", "export", "save", "log"}
"""Names that options which are written to have; one that has another name belongs here."""


CASES = 60
BLOCKS = 4


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzz]:
    made = Fuzz(tmp_path_factory.mktemp("fuzz"))
    yield made
    made.stop()


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_command_lines(block: int, fuzz: Fuzz) -> None:
    size = CASES // BLOCKS
    wrong = [fuzz.run(seed) for seed in range(block * size, (block + 1) * size)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.slow
def test_some_went_well_and_some_were_refused(fuzz: Fuzz) -> None:
    ended = [outcome.split()[1] for outcome in fuzz.outcomes.elements()]
    assert len(ended) == CASES
    assert fuzz.outcomes["prune 0"] > 0
    assert ended.count("0") >= CASES / 5 and ended.count("2") >= CASES / 5
