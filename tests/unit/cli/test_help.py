"""Help and completion: few options are shown, all are listed."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click
import pytest
from click.testing import CliRunner
from command_line import run_apart
from commands import COMMANDS

from tdv_lucene.cli import _COMMANDS, _group
from tdv_lucene.cli.common import SHOWN_AT_MOST
from tdv_lucene.ranking import PARAMETERS


def _help(words: Iterable[str], flag: str) -> str:
    shown = CliRunner().invoke(_group, [*words, flag], terminal_width=80)
    assert shown.exit_code == 0, shown.output
    return shown.output


def _flags(text: str) -> set[str]:
    """The flags that are listed, a line each or two."""
    return set(re.findall(r"^  (?:-\w+, )?(--[\w-]+)", text, re.MULTILINE))


@pytest.mark.parametrize(("words", "command"), [*COMMANDS.items()])
def test_few_options_are_shown_and_all_are_listed(words, command) -> None:
    few, same, every = (_help(words.split(), flag) for flag in ("-h", "--help", "--help-all"))
    assert few == same
    options = [each for each in command.params if isinstance(each, click.Option)]
    long = {next(flag for flag in each.opts if flag.startswith("--")) for each in options}
    assert _flags(every) == long | {"--help"}
    assert _flags(few) <= _flags(every) and len(_flags(few)) <= SHOWN_AT_MOST
    assert {max(each.opts, key=len) for each in options if each.required} <= _flags(few)
    assert few.endswith("\n\nMore options: --help-all\n") == (_flags(few) < _flags(every))
    assert max(map(len, every.splitlines())) <= 80


def test_other_options_stand_under_their_headings() -> None:
    every = _help(("search",), "--help-all")
    parts = dict(re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", every, re.MULTILINE))
    parameters = {f"--{name.replace('_', '-')}" for name in PARAMETERS}
    assert _flags(parts["Parameters of the ranking function"]) == parameters
    assert "--index" in parts["Options"] and "--k1" not in parts["Options"]
    assert "--k1" not in _help(("search",), "--help")


def test_h_takes_no_letter_of_anserinis_flags(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(
        "tdv_lucene.index.build.build_index", lambda output, flags, **_: given.append(flags) or {}
    )
    arguments = ["index", "-index", str(tmp_path / "new"), "-threads", "2", "-hits"]
    done = CliRunner().invoke(_group, arguments)
    assert done.exit_code == 0, done.output
    assert given == [("-threads", "2", "-hits")]


@pytest.mark.parametrize(
    "words, word, expected",
    [
        ("tdv-lucene ", 1, {f"plain,{name}" for name in _COMMANDS}),
        ("tdv-lucene compare --late", 2, {"plain,--latency-budget"}),
        ("tdv-lucene prune --index ", 3, {"file,"}),
    ],
)
def test_completions(words, word, expected):
    asked = {"_TDV_LUCENE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(word)}
    done = run_apart("-m", "tdv_lucene", **asked)
    assert done.stderr == "" and set(done.stdout.splitlines()) == expected
