"""What the documents show can be typed, and what they link to is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from commands import COMMANDS as ALL

import tdv_lucene
from tdv_lucene.cli import _group
from tdv_lucene.demo.words import NEXT_STEPS

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tdv_lucene").rglob("*.md"))),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "scripts").rglob("README.md"))),
]


def _code(document: str) -> str:
    text = (ROOT / document).read_text(encoding="utf-8")
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    return "\n".join(lines).replace("\\\n", " ")


CODE = {document: _code(document) for document in DOCUMENTS}
CODE["what the demonstration says"] = NEXT_STEPS.replace("\\\n", " ").replace("    ", "")
COMMANDS = {
    document: [
        shlex.split(line, comments=True)
        for line in code.splitlines()
        if line.startswith("tdv-lucene ")
    ]
    for document, code in CODE.items()
}
ALL_COMMANDS = [
    (document, words)
    for document, commands in COMMANDS.items()
    if "/runs/" not in document  # which tell what was typed then
    for words in commands
]


def test_the_readme_says_how_to_try_and_to_test_a_checkout() -> None:
    """CI runs what it tells newcomers to type."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    typed = {line.split()[0] for line in lines if line.startswith("    scripts/")}
    assert typed == {"scripts/demo", "scripts/test"}
    assert "\nscripts/test " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def _named(words: list[str]) -> click.Command:
    """The command that the first of these words name."""
    found: click.Command | None = _group
    for word in words:
        if isinstance(found, click.Group):
            found = found.get_command(click.Context(found), word)
    assert found is not None, words
    return found


def test_commands_and_their_flags_exist() -> None:
    for document, words in ALL_COMMANDS:
        shown = f"{document}: {' '.join(words)}"
        command = _named(words[1:])
        if command.context_settings.get("ignore_unknown_options"):
            continue  # its flags are Anserini's
        known = {flag for parameter in command.params for flag in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, shown


def test_python_names_are_public() -> None:
    names = set(re.findall(r"\btdv\.(\w+)", "\n".join(CODE.values())))
    assert names <= set(tdv_lucene.__all__)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_files_named_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = set(re.findall(r"\b(?:scripts|java_hooks|tests|tdv_lucene)/[\w./-]*\w", text))
    assert [path for path in sorted(paths) if not any(ROOT.glob(path + "*"))] == []


def _anchor(heading: str) -> str:
    """As GitHub makes them: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / document).parent / path if path else ROOT / document
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(_anchor, headings), link


def test_the_reference_names_options_that_there_are() -> None:
    """Also those in its sentences; what is Anserini's starts with one dash there."""
    text = (ROOT / "tdv_lucene/cli/README.md").read_text(encoding="utf-8")
    sentences = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", sentences))
    commands = [_group, *ALL.values()]
    options = {flag for command in commands for param in command.params for flag in param.opts}
    negated = {flag for command in commands for param in command.params
               for flag in param.secondary_opts}  # fmt: skip
    assert named - options - negated - {"--help", "--help-all"} == set()
    assert len(named) > 30
