"""What ``scripts/test`` asks of pytest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "test"
QUICK = ["-m", "not slow"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], QUICK),
        (["--all"], []),
        (["-x", "--all"], ["-x"]),
        (["-k", "some words"], [*QUICK, "-k", "some words"]),
        (["-m", "slow"], ["-m", "slow"]),
        (["tests/unit/core"], ["tests/unit/core"]),
    ],
)
def test_the_quick_set_unless_more_is_named(
    given: list[str], asked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "test").write_text(SCRIPT.read_text())
    (tmp_path / "_environment.sh").write_text(f"checkout={tmp_path} venv={tmp_path}\n")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    python.chmod(0o755)
    done = subprocess.run(
        ["bash", tmp_path / "test", *given], capture_output=True, text=True, check=True
    )
    words = done.stdout.splitlines()
    assert words[:2] == ["-m", "pytest"]
    assert words[words.index("--no-loadscope-reorder") + 1 :] == asked
