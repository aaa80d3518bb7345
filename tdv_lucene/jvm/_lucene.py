"""The Lucene that a jar holds, and the build of our Java hooks that goes with it."""

from __future__ import annotations

import logging
import re
import struct
import zipfile
import zlib
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

from ..errors import TdvError

LINES = (9, 10)
"""Lucene's major versions the hooks are built for, oldest first."""

RESOURCES = Path(__file__).resolve().parent / "resources"
_VERSION_CLASS = b"org/apache/lucene/util/Version.class"
_LISTED = struct.Struct("<4s6xH8xI18xI")
"""An entry in a zip's list, before its name: signature, method, packed bytes, place."""
_LOCAL = struct.Struct("<26xHH")
"""A file in a zip, before its content: bytes of the name and of the extra field that follow."""
_CONSTANT = re.compile(rb"LUCENE_(\d+)_(\d+)_(\d+)")

_log = logging.getLogger(__name__)


@cache
def lucene_version(jar: Path) -> tuple[int, int, int]:
    """The version of the Lucene inside ``jar``, read without a JVM.

    Lucene's class ``Version`` has a constant for each release up to its own.

    Raises :class:`TdvError` when ``jar`` is no jar, or holds no Lucene.
    """
    try:
        constants = _CONSTANT.findall(_read(jar, _VERSION_CLASS))
        return max((int(a), int(b), int(c)) for a, b, c in constants)
    except (OSError, ValueError, KeyError, struct.error, zlib.error) as error:
        raise TdvError(f"{jar} is not a jar with Lucene in it: reinstall pyserini") from error


def _read(jar: Path, name: bytes) -> bytes:
    """One file of a jar, found by its name from the end, where the list of files is.

    zipfile reads the whole list first. Anserini's has 27,000 entries: a quarter of a second in
    every command.
    """
    with jar.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        place = len(content)
        signature = b""
        while signature != b"PK\x01\x02":  # another file's name may end alike
            place = content.rfind(name, 0, place)
            if place < _LISTED.size:
                raise KeyError(name)
            signature, method, size, local = _LISTED.unpack_from(content, place - _LISTED.size)
        start = local + _LOCAL.size + sum(_LOCAL.unpack_from(content, local))
        packed = content[start : start + size]
    return zlib.decompress(packed, -zlib.MAX_WBITS) if method == zipfile.ZIP_DEFLATED else packed


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
    return RESOURCES / f"tdv-lucene-hooks-lucene{line}.jar"
