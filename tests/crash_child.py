"""Stages to be killed at, each in a process of its own: says READY, waits for a line, does one.

Usage: python tests/crash_child.py prune|overwrite|update SOURCE VALUES OUTPUT
       python tests/crash_child.py lock SOURCE
"""

from __future__ import annotations

import sys
from pathlib import Path

from lucene_indexes import open_writer

from tdv_lucene import inspect_index, prune_index, update_index


def _lock(source: str) -> None:
    """Hold the write lock until told to end."""
    writer = open_writer(Path(source))
    print("LOCKED", flush=True)
    sys.stdin.readline()
    writer.close()


STAGES = {
    "prune": lambda source, *to: prune_index(source, *to, reduction=0.3),
    "overwrite": lambda source, *to: prune_index(source, *to, reduction=0.3, overwrite=True),
    "update": lambda source, values, output: update_index(output),
    "lock": _lock,
}


def main() -> None:
    stage, source, *arguments = sys.argv[1:]
    inspect_index(source)  # the JVM runs and has its classes
    print("READY", flush=True)
    sys.stdin.readline()
    STAGES[stage](source, *arguments)
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
