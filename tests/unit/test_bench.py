"""The benchmarks' scripts start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = ["rivals.py", "engines.py",
           "sparse.py", "tiers.py", "prior.py", "log_bound.py", "known.py", "paper.py"]  # fmt: skip
READING = ["picture.py", "paper_vectors.py"]
"""Scripts that read figures or documents, and need no folder to work in."""


HELP = """
import contextlib, io, json, os.path, runpy, sys, traceback
sys.path.insert(0, os.path.dirname(sys.argv[1]))
for script in sys.argv[1:]:
    sys.argv, told, code = [script, "--help"], io.StringIO(), None
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            code = end.code
        except Exception:
            traceback.print_exc()
    print(json.dumps([code, told.getvalue()]))
"""


@pytest.mark.slow
def test_scripts_tell_their_flags() -> None:
    """In one process, which imports once."""
    scripts = [*SCRIPTS, *READING]
    command = [sys.executable, "-c", HELP, *(str(BENCH / script) for script in scripts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for script, line in zip(scripts, done.stdout.splitlines(), strict=True):
        code, said = json.loads(line)
        assert code == 0, said
        assert "--output" in said
        assert ("--work" in said) == (script in SCRIPTS)


def test_every_executable_script_is_tried() -> None:
    executable = {path.name for path in BENCH.glob("*.py") if path.stat().st_mode & 0o100}
    assert executable == {*SCRIPTS, *READING}
