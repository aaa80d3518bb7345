#!/usr/bin/env python3
"""Writes what commands print into the README, between its marks ``<!-- output: NAME -->``.

    scripts/readme_output.py [--check]

Runs the demonstration and ``prune`` on its index. A test holds the README to the same commands.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
_BLOCK = re.compile(r"<!-- output: (\w+) -->\n```text\n(.*?)\n?```", re.DOTALL)
_TABLES = {
    "compare": ("Effectiveness",),
    "query": ("Ranked better", "Ranked worse"),
    "catalogue": ("A catalogue",),
}
_SHOWN = re.compile(r"reduction |postings|bytes")
_DEMO = ("demo", "--output", "demo-output")
PRUNE = ("prune", "--index", "demo-output/index", "--output", "pruned")


def printed_blocks(folder: Path) -> dict[str, str]:
    """Run the commands in ``folder``, and return what they print, by the README's marks."""
    demo, prune = (run_in(folder, *words) for words in (_DEMO, PRUNE))
    return {"prune": prune_block(prune), **demo_blocks(demo)}


def prune_block(stdout: str) -> str:
    """The counts and the sentences that the README shows."""
    lines = stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Whether"))
    end = next(at for at, line in enumerate(lines) if line.startswith("To find"))
    return "\n".join([*filter(_SHOWN.match, lines[:start]), *lines[start : end + 1]])


def demo_blocks(stdout: str) -> dict[str, str]:
    """The tables of the demonstration that the README shows."""
    return {
        name: "\n\n".join(_table(stdout, title) for title in titles)
        for name, titles in _TABLES.items()
    }


def shown_blocks() -> dict[str, str]:
    """What the README shows."""
    return dict(_BLOCK.findall(README.read_text(encoding="utf-8")))


def with_blocks(text: str, blocks: Mapping[str, str]) -> str:
    """The README's text with these blocks in place of those it has."""

    def replaced(found: re.Match[str]) -> str:
        return f"<!-- output: {found[1]} -->\n```text\n{blocks[found[1]]}\n```"

    return _BLOCK.sub(replaced, text)


def differences(shown: Mapping[str, str], printed: Mapping[str, str]) -> list[str]:
    """The lines that say something else: other words, or a number that is off by more than 3 %.

    Learned numbers differ a little from machine to machine.
    """
    found = []
    for name in shown:
        ours, theirs = shown[name].splitlines(), printed[name].splitlines()
        if len(ours) != len(theirs):
            found.append(f"{name}: {len(ours)} lines, printed are {len(theirs)}")
        found += [
            f"{name}: {one!r} is printed as {other!r}"
            for one, other in zip(ours, theirs) if not _alike(one, other)
        ]  # fmt: skip
    return found


def _alike(one: str, other: str) -> bool:
    number = r"-?\d[\d,]*(?:\.\d+)?"
    if re.sub(number, "#", one).split() != re.sub(number, "#", other).split():
        return False
    pairs = zip(*(re.findall(number, line) for line in (one, other)))
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= 0.03 * max(abs(a), abs(b)) + 0.005 for a, b in values)


def _table(stdout: str, title: str) -> str:
    """The table of this title, to the title of the next."""
    lines = stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(title))
    rule = next(at for at in range(start, len(lines)) if set(lines[at].strip()) == {"─"})
    width = re.compile(r"\S.*  +\S|\* ")
    end = rule + 1
    while end < len(lines) and width.search(lines[end]):
        end += 1
    return "\n".join(line.rstrip() for line in lines[start:end])


def run_in(folder: Path, *words: str) -> str:
    """What a command prints in ``folder``, which the README calls /home/you."""
    command = [sys.executable, "-m", "tdv_lucene", *words]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.replace(str(folder), "/home/you")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="Write nothing; fail if it differs.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        blocks = printed_blocks(Path(folder).resolve())
    if args.check:
        sys.exit("\n".join(differences(shown_blocks(), blocks)) or None)
    text = README.read_text(encoding="utf-8")
    README.write_text(with_blocks(text, blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
