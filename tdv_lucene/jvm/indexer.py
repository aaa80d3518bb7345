"""Anserini's IndexCollection, in a Java process of its own.

It reports most failures only in its log, ends with status 0 all the same, cannot be interrupted,
and may leave an index that lacks documents. A process apart can be watched and stopped.
"""

from __future__ import annotations

import logging
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import TdvError
from ..interruption import waiting
from ..progress import Progress
from ._start import crash_options, find_java, heap_size, pyserini_jar, utf8_paths

_MAIN = "io.anserini.index.IndexCollection"
_FAILURE = re.compile(r" ERROR \[|^Error: |^Exception in thread|OutOfMemoryError")
_COUNTER = re.compile(r" - (indexed|unindexable|empty|skipped|errors): +([\d,]+)$")
_SO_FAR = re.compile(r" - ([\d,]+) documents indexed$")
_SHOWN_FAILURES = 3

_log = logging.getLogger(__name__)


def run_index_collection(flags: Sequence[str], folder: Path, progress: Progress) -> dict[str, int]:
    """Index into ``folder`` with Anserini's ``flags`` and return its counters.

    Raises :class:`TdvError` when Anserini refuses the flags or logs an error, in its words.
    """
    java = find_java().home / "bin" / "java"
    command = [str(java), f"-Xmx{heap_size()}", *crash_options(), "-cp", str(pyserini_jar())]
    command += [_MAIN, *flags, "-index", str(folder)]
    with utf8_paths():
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches us alone, and we stop it
        )
    try:
        with waiting():
            counters, failures = _follow(process.stdout or (), progress)
            status = process.wait()
    finally:
        process.kill()
        process.wait()
    if failures or status != 0 or not list(folder.glob("segments_*")):
        reason = "\n".join(failures[:_SHOWN_FAILURES]) or f"it ended with status {status}"
        raise TdvError(f"Anserini's IndexCollection failed; nothing was written:\n{reason}")
    return counters


def _follow(output: Iterable[str], progress: Progress) -> tuple[dict[str, int], list[str]]:
    counters: dict[str, int] = {}
    failures: list[str] = []
    progress("indexing", 0, 0)
    for line in output:
        line = line.rstrip()
        _log.info("%s", line)
        if counter := _COUNTER.search(line):
            counters[counter[1]] = int(counter[2].replace(",", ""))
        elif so_far := _SO_FAR.search(line):
            progress("indexing", int(so_far[1].replace(",", "")), 0)
        elif _FAILURE.search(line):
            failures.append(line)
    return counters, failures
