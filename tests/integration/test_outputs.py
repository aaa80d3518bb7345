"""Every command and everything it may be told to write to: nothing that was there is touched.

``WRITERS`` is a table that a new command joins with one row a place it can write to; a command in
neither ``WRITERS`` nor ``READERS`` fails a test that says what to add.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from lucene_indexes import write_index
from snapshots import snapshot
from tiny_collection import tiny_segments

from tdv_lucene import TdvError, extract_matrix, make_peer_values, prune_index
from tdv_lucene.cli import _group
from tdv_lucene.cli.common import leaves

pytestmark = pytest.mark.jvm


@dataclass(frozen=True)
class Writer:
    """A command and one place that it writes to.

    Attributes
    ----------
    command
        As typed. ``{output}`` is the place that is tried; ``{new}`` one that does not exist yet,
        for what else must be written; all other names are inputs, made by ``_make_inputs``.
    kind
        What the manifest calls the result; None for one that is never replaced.
    suffix
        None for a folder; for a file the ending that its name must have.
    quick
        Whether it takes a second or so, and is run to its end as well.
    """

    command: str
    kind: str | None
    suffix: str | None = None
    quick: bool = False

    @property
    def name(self) -> str:
        """The words before its options."""
        return re.split(r" -", self.command)[0]

    @property
    def inputs(self) -> list[str]:
        return [name for name in INPUTS if f"{{{name}}}" in self.command]


COMMANDS = {" ".join(words): command for words, command in leaves(_group)}

INPUTS = (
    "index",
    "pruned",
    "topics",
    "qrels",
    "matrix",
    "values",
    "vectors",
    "documents",
)

_JUDGED = "--topics {topics} --qrels {qrels}"
_MADE = "--matrix {matrix} --vectors {vectors}"
WRITERS = [
    Writer("index -collection JsonCollection -input {documents} -threads 1 "
           "-generator DefaultLuceneDocumentGenerator -index {output}", None),
    Writer("extract --index {index} --output {output}", "matrix", quick=True),
    Writer("extract --index {index} --index {pruned} --output {output}", "matrix"),
    Writer(f"embed --index {{index}} {_MADE} --output {{output}}", "term-vectors", quick=True),
    Writer(f"learn --index {{index}} {_JUDGED} {_MADE} --output {{output}}", "term-values"),
    Writer("peers --index {index} --matrix {matrix} --name ridf --output {output}",
           "term-values", quick=True),
    Writer("learn --index {index} --matrix {matrix} --no-judgements --output {output}",
           "term-values", quick=True),
    Writer("prune --index {index} --tdv {values} --output {output}", "pruned-index", quick=True),
    Writer("tune --index {index} --output {output}", "pruned-index", quick=True),
    Writer("search --index {index} --topics {topics} --output {output}",
           "run", suffix="", quick=True),
    Writer(f"compare --index {{index}} --pruned {{pruned}} {_JUDGED} "
           "--tune-topics {topics} --tune-qrels {qrels} --output {output}", "comparison"),
    Writer(f"paper reproduce --collection wiki165k --index {{index}} {_JUDGED} --output {{output}}",
           "reproduction"),
    Writer("export --index {index} --matrix {matrix} --output {output}",
           "ciff", suffix="", quick=True),
    Writer("demo --output {output}", "demonstration"),
]  # fmt: skip

READERS = {
    "inspect": "inspect --index {index}",
    "verify": "verify --index {index} --pruned {pruned}",
    "update": "update --index {index} --pruned {pruned}",  # nothing is new there
    "explain": "explain --index {index} --pruned {pruned} --query index",
    "doctor": "doctor",
    "env": "env",
}

_TO_JOIN = (
    "say in tests/integration/test_outputs.py what it writes: in WRITERS one Writer for each place "
    "(the command with {output} there, and its inputs by the names in INPUTS; the kind in its "
    "manifest), or in READERS, if it writes nothing"
)
_REFUSAL = "overlaps the input|exists: choose|would be deleted|lies in the Lucene index"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each in a folder of its own; all that reads them leaves them as they are."""
    home = tmp_path_factory.mktemp("inputs")
    places = {name: home / name / name for name in INPUTS}
    for place in places.values():
        place.parent.mkdir()
    write_index(places["index"], tiny_segments())
    extract_matrix(places["index"], places["matrix"])
    make_peer_values(places["index"], places["values"], "ridf", matrix=places["matrix"])
    prune_index(places["index"], places["values"], places["pruned"])
    places["topics"].write_text("1\tquick fox\n2\tinverted index\n3\tterm weights\n")
    places["qrels"].write_text("1 0 d0 1\n2 0 d4 1\n3 0 d3 1\n")
    places["vectors"] = places["vectors"].with_suffix(".vec")
    places["vectors"].write_text("3 2\nquick 0.1 0.2\nindex 0.3 0.1\nterm 0.2 0.2\n")
    places["documents"].mkdir()
    (places["documents"] / "d.jsonl").write_text('{"id": "d0", "contents": "quick fox"}\n')
    return places


def _invoke(command: str, places: dict[str, Path], *more: str) -> Result:
    words = shlex.split(command.format(**{name: shlex.quote(str(p)) for name, p in places.items()}))
    return CliRunner().invoke(_group, [*words, *more])


def _overlapping(writer: Writer, inputs: dict[str, Path], tmp: Path) -> Iterator[tuple[str, Path]]:
    """More ways to overlap in tests/unit/test_output.py."""
    suffix = writer.suffix or ""
    for name in writer.inputs:
        given = inputs[name]
        yield f"the {name}", given
        yield f"what holds the {name}", given.parent
        link = tmp / f"link-to-{name}{suffix}"
        link.symlink_to(given)
        yield f"a link to the {name}", link
        if given.is_dir():
            yield f"a place in the {name}", given / f"new{suffix}"


def _foreign(writer: Writer, _: dict[str, Path], tmp: Path) -> Iterator[tuple[str, Path]]:
    """More that is not replaced in tests/unit/test_output.py."""
    suffix = writer.suffix or ""
    yield "a file", _file(tmp / f"thesis{suffix}")
    yield "a folder", _file(tmp / f"home{suffix}" / "thesis.tex").parent


def _file(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("years of work")
    return path


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["plain", "overwrite"])
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: f"{writer.name}-{writer.kind}")
def test_nothing_that_is_there_is_touched(
    writer: Writer, overwrite: list[str], inputs: dict[str, Path], tmp_path: Path
) -> None:
    home = next(iter(inputs.values())).parent.parent
    wrong = []
    for make in (_overlapping, _foreign):
        for what, output in make(writer, inputs, tmp_path):
            before = snapshot(tmp_path, home)
            new = tmp_path / "never-made"
            said = _invoke(writer.command, {**inputs, "new": new, "output": output}, *overwrite)
            if snapshot(tmp_path, home) != before:
                wrong.append(f"{what}: was changed")
            if not (isinstance(said.exception, TdvError) and _refused(said.exception, output)):
                wrong.append(f"{what}: {said.exception!r} {said.output}")
    assert not wrong, "\n".join(wrong)


def _refused(error: TdvError, output: Path) -> bool:
    """Whether the place is what was refused, and named."""
    return re.search(_REFUSAL, str(error)) is not None and output.name in str(error)


@pytest.mark.parametrize(
    "writer", [w for w in WRITERS if w.quick], ids=lambda writer: f"{writer.name}-{writer.kind}"
)
def test_a_result_of_the_same_kind_is_replaced(
    writer: Writer, inputs: dict[str, Path], tmp_path: Path
) -> None:
    home = next(iter(inputs.values())).parent.parent
    before = snapshot(home)
    output = tmp_path / f"output{writer.suffix or ''}"
    places = {**inputs, "output": output, "new": tmp_path / "new"}
    assert _invoke(writer.command, places).exit_code == 0
    first = snapshot(tmp_path)
    again = _invoke(writer.command, {**places, "new": tmp_path / "another"})
    assert isinstance(again.exception, TdvError) and "exists" in str(again.exception)
    assert snapshot(tmp_path) == first
    replaced = _invoke(writer.command, places, "--overwrite")
    assert replaced.exit_code == 0, replaced.exception
    assert snapshot(tmp_path).keys() == first.keys()
    assert snapshot(home) == before


@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_what_reads_writes_nothing(
    command: str, inputs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = next(iter(inputs.values())).parent.parent
    before = snapshot(home)
    said = _invoke(command, inputs)
    assert said.exit_code == 0, said.exception
    assert snapshot(home) == before and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_a_table(name: str) -> None:
    rows = [writer for writer in WRITERS if writer.name == name]
    assert bool(rows) != (name in READERS), f"'{name}' is a command: {_TO_JOIN}"
    tried = {flag for row in rows for flag in re.findall(r"-(\w+) \{output\}", row.command)}
    for option in COMMANDS[name].params:
        flags = {flag.lstrip("-") for flag in option.opts}
        if isinstance(option, click.Option) and {option.name, *flags} & _WRITTEN:
            assert flags & tried, f"'{name}' writes to {option.opts[0]}: {_TO_JOIN}"


_WRITTEN = {"output", "report", "export", "save", "log"}
"""Names that options which are written to have; one that has another name belongs here."""
