"""The examples in docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import tdv_lucene

PACKAGE = Path(tdv_lucene.__file__).parent
WITH_EXAMPLES = [
    ".".join(["tdv_lucene", *path.relative_to(PACKAGE).with_suffix("").parts])
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_print_what_they_say(module: str) -> None:
    tried = doctest.testmod(import_module(module))
    assert tried.attempted and not tried.failed
