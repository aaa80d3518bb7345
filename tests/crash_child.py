"""Stages to be killed at, each in a process of its own: says READY, waits for a line, does one.

Usage: python tests/crash_child.py prune|overwrite|update SOURCE VALUES OUTPUT
       python tests/crash_child.py lock SOURCE
"""

from __future__ import annotations

import sys
from pathlib import Path

from tdv_lucene import inspect_index, prune_index, update_index


def _prune(source: str, values: str, output: str) -> None:
    prune_index(source, values, output, reduction=0.3)


def _overwrite(source: str, values: str, output: str) -> None:
    prune_index(source, values, output, reduction=0.3, overwrite=True)


def _update(_: str, values: str, output: str) -> None:
    update_index(output)


def _lock(source: str) -> None:
    """Hold the write lock until told to end."""
    from lucene_indexes import open_writer

    writer = open_writer(Path(source))
    print("LOCKED", flush=True)
    sys.stdin.readline()
    writer.close()


STAGES = {"prune": _prune, "overwrite": _overwrite, "update": _update, "lock": _lock}


def main() -> None:
    stage, source, *arguments = sys.argv[1:]
    inspect_index(source)  # the JVM runs and has its classes
    print("READY", flush=True)
    sys.stdin.readline()
    STAGES[stage](source, *arguments)
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
