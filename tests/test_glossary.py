"""Help texts and public docstrings use the glossary's words (CONTRIBUTING.md), not older ones."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from click.testing import CliRunner

import tdv_lucene
from tdv_lucene.cli import _group
from tdv_lucene.cli._groups import leaves

INSTEAD = {
    r"\bg(i|a)v(e|es|en|ing) up\b": "drop",
    r"\b(posting|term)s? (that )?(go|goes|gone|lost)\b": "drop",
    r"\bremov\w* [^.,;:]{0,25}postings\b|\bpostings [^.,;:]{0,15}removed\b": "drop",
    r"\blead\b": "first-position boost",
    r"\bplaces? (that )?counts?\b|\bterm's place\b": "first-position boost",
    r"\b(term|learned|unlearned) values?\b": "TDV",
    r"\bdiscrimination values?\b(?! \(TDVs\))": "TDV",
    r"\b(un)?learned weights?\b": "TDV",
    r"\bhonest": "out-of-fold",
    r"\bforese(e|en|es)\b|\bforesaw\b": "predict",
}
"""Older word -> the word to use."""


def _helps() -> Iterator[tuple[str, str]]:
    groups = [((), "--help"), (("paper",), "--help")]
    for words, flag in (*groups, *((words, "--help-all") for words, _ in leaves(_group))):
        shown = CliRunner().invoke(_group, [*words, flag])
        assert shown.exit_code == 0, shown.output
        yield " ".join(["tdv-lucene", *words]), shown.output


def _docstrings() -> Iterator[tuple[str, str]]:
    for name in tdv_lucene.__all__:
        thing = getattr(tdv_lucene, name)
        if not callable(thing):
            continue
        yield name, inspect.getdoc(thing) or ""
        for part, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not part.startswith("_") and (text := inspect.getdoc(value)):
                yield f"{name}.{part}", text


def _prose(text: str) -> str:
    """The text without names of options, arguments, entries and choices."""
    text = re.sub(r"``[^`]*``|:\w+:`[^`]*`|--[\w-]+|\[default:\s[^]]*\]", " - ", text)
    lines = text.splitlines()
    # The names above the entries of a section stand alone on their line, or before a type.
    return " ".join(line for line in lines if not re.fullmatch(r"\s*\w+(, \w+)*( : .*)?", line))


def test_older_words_stay_away() -> None:
    for where, text in (*_helps(), *_docstrings()):
        prose = " ".join(_prose(text).split())
        for pattern, word in INSTEAD.items():
            found = re.search(pattern, prose, re.IGNORECASE)
            assert found is None, f"{where} says '{found[0]}': write '{word}' (see CONTRIBUTING.md)"


def test_names_are_no_prose() -> None:
    assert _prose("lead\n    Use ``lead`` with --no-lead.").split() == "Use - with - .".split()
