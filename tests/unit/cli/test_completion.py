"""What click's shell completion says of our commands."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tdv_lucene.cli import _COMMANDS
from tdv_lucene.ranking import MODELS


def asked(**variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tdv_lucene"], capture_output=True, text=True, check=False,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell):
    script = asked(_TDV_LUCENE_COMPLETE=f"{shell}_source")
    assert "tdv-lucene" in script and f"_TDV_LUCENE_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    "words, word, expected",
    [
        ("tdv-lucene ", 1, {f"plain,{name}" for name in _COMMANDS}),
        ("tdv-lucene compare --late", 2, {"plain,--latency-budget"}),
        ("tdv-lucene learn --model ", 3, {f"plain,{name}" for name in MODELS}),
        ("tdv-lucene prune --index ", 3, {"file,"}),
        ("tdv-lucene compare --pruned some", 3, {"file,some"}),
    ],
)
def test_completions(words, word, expected):
    told = asked(_TDV_LUCENE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(word))
    assert set(told.splitlines()) == expected
