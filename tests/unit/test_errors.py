"""Errors name what the user wrote: Python's argument, or the command line's option."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tdv_lucene
from tdv_lucene.errors import TdvError, argument

PACKAGE = Path(tdv_lucene.__file__).parent
LIBRARY = [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] != "cli"]


@pytest.mark.parametrize(
    "marked, expected",
    [
        (argument("max_loss"), "max_loss"),
        (argument("max_loss", 0.01), "max_loss=0.01"),
        (argument("tf", "original"), "tf='original'"),
        (argument("hits", "page=1"), "hits='page=1'"),
    ],
)
def test_python_reads_arguments(marked, expected):
    assert str(TdvError(f"pass {marked}, or go")) == f"pass {expected}, or go"


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["search", "--hits", "0"], "--hits must be from 1 to 1,000,000, got 0"),
        (["search", "--field", ""], "'--field': it is empty"),
        (["compare", "--tune-qrels", " "], "'--tune-qrels': it is empty"),
        (["prune", "--max-loss", ".1", "--reduction", ".2"], "--reduction and --max-loss"),
        (["learn"], "(--topics) and their judgements (--qrels); pass --topics alone"),
        (["embed", "--dimensions", "0"], "--dimensions must be at least 1, got 0"),
        (["compare", "--latency-budget", "0"], "--latency-budget must be above 0 seconds"),
        (["verify", "--threads", "0"], "--threads must be from 1 to 1,024"),
        (["--heap", "much", "search"], "--heap 'much'"),
        (["index", "here"], "here exists: choose another --index, or pass --overwrite"),
        (["embed", "here"], "here exists: choose another --output, or pass --overwrite"),
        (["search", "here"], "here is a folder: choose a file name as --output"),
        (["extract", "--output", ""], "'--output': it is empty"),
    ],
)
def test_the_command_line_reads_options(arguments, said, tmp_path, monkeypatch, capsys):
    """Nothing else need be right: these are looked at before any file."""
    from tdv_lucene.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "i").mkdir()
    (tmp_path / "t.tsv").write_text("q1\ttext\n")
    output = "new"
    if arguments[-1] == "here":
        arguments, output = arguments[:-1], "here"
    required = {
        "search": ["--index", "i", "--topics", "t.tsv", "--output", output],
        "prune": ["--index", "i", "--tdv", "v", "--output", output],
        "learn": ["--index", "i", "--output", output],
        "embed": ["--index", "i", "--output", output],
        "compare": ["--index", "i", "--pruned", "p", "--topics", "t.tsv", "--qrels", "q.txt",
                    "--output", output],
        "extract": ["--index", "i"],
        "verify": ["--index", "i", "--pruned", "p"],
        "index": ["--index", output, "-collection", "x"],
    }  # fmt: skip
    command = next(word for word in arguments if word in required)
    monkeypatch.setattr("sys.argv", ["tdv-lucene", *arguments, *required[command]])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"here", "i", "t.tsv"}


def test_a_remedy_in_another_command_is_an_option_too():
    from tdv_lucene.cli import _group
    from tdv_lucene.cli._groups import leaves, name_flags

    error = TdvError(f"learn with {argument('lead', False)} or {argument('tf', 'scaled')}")
    name_flags(error, [command for _, command in leaves(_group)])
    assert str(error) == "learn with --no-lead or --tf scaled"


def _messages(path: Path) -> list[tuple[int, str]]:
    """The text in each ``raise TdvError(...)`` of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (part.lineno, part.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "TdvError"
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def test_messages_of_the_library_name_no_option_themselves():
    """Options are written by :func:`argument`, so that each user reads their own name of it. Those
    of a quoted command, ours or Dask's, have but one name."""
    named = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in LIBRARY
        for line, text in _messages(path)
        if re.search(r"(?<![\w-])--[a-z]", re.sub(r"'(tdv-lucene|dask|[a-z]+ --)[^']*'?", "", text))
    ]
    assert not named, named
