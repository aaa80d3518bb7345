"""The tests' own Java: writes an index described in JSON, tells all an index holds, copies one.

It is not on the JVM's class path, which is the product's; it is loaded beside it, and reads and
writes with Lucene alone.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tdv_lucene.jvm import java_class

JAR = Path(__file__).parent / "resources" / "tdv-lucene-testing.jar"


def write_described(path: Path, described: dict[str, Any]) -> None:
    """Write the index ``described`` (see :mod:`fuzz_cases`) into the folder ``path``."""
    _call("Written", "write", str(path), json.dumps(described))


def change_described(path: Path, changes: dict[str, Any]) -> None:
    """Go on with an index: add and change documents, merge segments, and commit."""
    _call("Written", "goOn", str(path), json.dumps(changes))


def dump_index(path: Path) -> dict[str, Any]:
    """All the index at ``path`` holds of live documents, read through Lucene's readers."""
    return json.loads(_call("Dumped", "dump", str(path)))


def copy_index(path: Path, output: Path, threads: int) -> None:
    """Copy the index as Lucene merges it, into the empty folder ``output``."""
    _call("Copied", "copy", str(path), str(output), str(threads))


def _call(name: str, method: str, *arguments: str) -> Any:
    return _handle(name, method).invokeWithArguments(*arguments)


@cache
def _handle(name: str, method: str) -> Any:
    """By name alone: of reflection, pyjnius knows little, and that partly wrong."""
    loaded = _loader().loadClass(f"tdvtesting.{name}")
    found = next(each for each in loaded.getMethods() if each.getName() == method)
    return java_class("java.lang.invoke.MethodHandles").publicLookup().unreflect(found)


@cache
def _loader() -> Any:
    urls = [java_class("java.io.File")(str(JAR)).toURI().toURL()]
    return java_class("java.net.URLClassLoader")(urls)
