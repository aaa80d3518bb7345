"""What the README and CONTRIBUTING show can be typed: names, commands and flags exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

import tdv_lucene
from tdv_lucene.cli import _group

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
_CODE = "\n".join(line[4:] for line in TEXT.splitlines() if line.startswith("    "))
COMMANDS = [
    shlex.split(line, comments=True)
    for line in _CODE.replace("\\\n", " ").splitlines()
    if line.startswith("tdv-lucene ")
]


def test_there_are_commands_to_check() -> None:
    assert {words[1] for words in COMMANDS} >= {"inspect", "learn", "prune", "compare"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_and_their_flags_exist(words: list[str]) -> None:
    command = _group.get_command(click.Context(_group), words[1])
    assert command is not None
    if command.context_settings.get("ignore_unknown_options"):
        return  # its flags are Anserini's
    known = {flag for parameter in command.params for flag in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("command", ["index", "learn", "prune"])
def test_required_flags_are_shown(command: str) -> None:
    shown = next(words for words in COMMANDS if words[1] == command)
    parameters = _group.get_command(click.Context(_group), command).params
    required = [p for p in parameters if p.required and isinstance(p, click.Option)]
    assert all(set(parameter.opts) & set(shown) for parameter in required)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\btdv\.(\w+)", _CODE))))
def test_python_names_are_public(name: str) -> None:
    assert name in tdv_lucene.__all__


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_files_named_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = set(re.findall(r"\b(?:scripts|java_hooks|tests|tdv_lucene)/[\w./-]*\w", text))
    assert [path for path in sorted(paths) if not any(ROOT.glob(path + "*"))] == []
