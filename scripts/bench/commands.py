"""`tdv-lucene` commands as a user types them, each in a process of its own and timed as a whole."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Commands:
    """Runs commands and remembers each with its wall time.

    ``collections`` and ``work`` are the folders given; what is remembered names paths from there,
    so that no machine's layout is published.
    """

    collections: Path
    work: Path
    done: list[dict[str, Any]] = field(default_factory=list)

    def run(self, command: str, *arguments: str | Path) -> dict[str, Any]:
        """Run `tdv-lucene COMMAND --json`; return its JSON with the wall seconds beside it."""
        words = [command, *map(str, arguments), *([] if command == "index" else ["--json"])]
        started = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, "-m", "tdv_lucene", *words], stdout=subprocess.PIPE, text=True
        )
        seconds = time.perf_counter() - started
        shown = shlex.join(["tdv-lucene", *(self._shorten(w) for w in words)])
        print(f"{seconds:7.1f} s  {shown}", file=sys.stderr, flush=True)
        if ran.returncode:
            sys.exit(f"failed with status {ran.returncode}: {shown}")
        self.done.append({"command": shown, "seconds": round(seconds, 2)})
        return {"seconds": seconds, **(json.loads(ran.stdout) if command != "index" else {})}

    def _shorten(self, word: str) -> str:
        for folder, name in ((self.work, "work"), (self.collections, "collections")):
            word = word.replace(str(folder), name)
        return word

    def listing(self) -> str:
        """All commands so far in order, a line each, as a Markdown block."""
        lines = "\n".join(f"{one['seconds']:8.1f} s  {one['command']}" for one in self.done)
        return f"```\n{lines}\n```"


def folder_parser(text: str | None) -> argparse.ArgumentParser:
    """Return a parser with ``text`` as its help and the folders that such a script needs."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--collections", type=Path, required=True, help="folder of collections")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is made")
    parser.add_argument("--output", type=Path, required=True, help="folder for the summary")
    return parser
