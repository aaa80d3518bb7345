"""Which Lucene a jar holds, and which build of our Java hooks goes with it."""

from __future__ import annotations

import logging
import re
import zipfile
from functools import cache
from pathlib import Path

from ..errors import TdvError

LINES = (9, 10)
"""Lucene's major versions the hooks are built for, oldest first."""

_RESOURCES = Path(__file__).resolve().parent / "resources"
_VERSION_CLASS = "org/apache/lucene/util/Version.class"
_CONSTANT = re.compile(rb"LUCENE_(\d+)_(\d+)_(\d+)")

_log = logging.getLogger(__name__)


@cache
def lucene_version(jar: Path) -> tuple[int, int, int]:
    """The version of the Lucene inside ``jar``, read without a JVM.

    Lucene's class ``Version`` has a constant for each release up to its own.

    Raises :class:`TdvError` when ``jar`` is no jar, or holds no Lucene.
    """
    try:
        with zipfile.ZipFile(jar) as archive:
            constants = _CONSTANT.findall(archive.read(_VERSION_CLASS))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise TdvError(f"{jar} is not a jar with Lucene in it: reinstall pyserini") from error
    return max((int(a), int(b), int(c)) for a, b, c in constants)


def hooks_jar(version: tuple[int, int, int]) -> Path:
    """Our jar for a Lucene version; for a line newer than all we know, the newest, with a warning.

    Raises :class:`TdvError` when the line is older than those the hooks are built for.
    """
    line = version[0]
    name = ".".join(map(str, version))
    if line < LINES[0]:
        raise TdvError(
            f"the installed Pyserini holds Lucene {name}. That is too old: "
            "pip install 'pyserini>=1.6,<3'"
        )
    if line > LINES[-1]:
        _log.warning(
            "the installed Pyserini holds Lucene %s, newer than tdv-lucene knows (%s): going on "
            "with what was built for Lucene %d; if Java errors follow, "
            "pip install 'pyserini>=1.6,<3'",
            name, " and ".join(map(str, LINES)), LINES[-1],
        )  # fmt: skip
        line = LINES[-1]
    return _RESOURCES / f"tdv-lucene-hooks-lucene{line}.jar"
