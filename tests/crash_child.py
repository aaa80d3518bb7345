"""Stages to be killed at, each in a process of its own: says READY, waits for a line, does one.

Usage: python tests/crash_child.py prune|overwrite|update SOURCE VALUES OUTPUT
"""

from __future__ import annotations

import sys

from tdv_lucene import inspect_index, prune_index, update_index

STAGES = {
    "prune": lambda source, *to: prune_index(source, *to, reduction=0.3),
    "overwrite": lambda source, *to: prune_index(source, *to, reduction=0.3, overwrite=True),
    "update": lambda source, values, output: update_index(output),
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
