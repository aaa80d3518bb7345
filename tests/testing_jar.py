"""The tests' own Java: writes an index described in JSON, and tells all that an index holds.

It is not on the JVM's class path, which is the product's; it is loaded beside it, and reads and
writes with Lucene alone.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from lucene_reading import read_embeddings

from tdv_lucene.jvm import java_class

JAR = Path(__file__).parent / "resources" / "tdv-lucene-testing.jar"


def write_described(path: Path, described: dict[str, Any]) -> None:
    """Write the index ``described`` (see :mod:`fuzz_cases`) into the folder ``path``."""
    _call("write", str(path), json.dumps(described))


def change_described(path: Path, changes: dict[str, Any]) -> None:
    """Go on with an index: add and change documents, merge segments, and commit."""
    _call("write", str(path), json.dumps(changes))


def dump_index(path: Path) -> dict[str, Any]:
    """All the index at ``path`` holds of live documents, read through Lucene's readers; in its user
    data, ids of segments left out, which Lucene draws at random."""
    found = json.loads(_call("dump", str(path)))
    found["user_data"].pop("tdv.segments", None)
    for document, embedding in zip(found["documents"], read_embeddings(path)):
        if embedding is not None:
            document["embedding"] = embedding
    return found


def add_index(path: Path, other: Path) -> None:
    """Add the segments of the index ``other`` to that at ``path`` as they are."""
    lucene = "org.apache.lucene."
    directory, paths = java_class(lucene + "store.FSDirectory"), java_class("java.nio.file.Paths")
    config = java_class(lucene + "index.IndexWriterConfig")()
    writer = java_class(lucene + "index.IndexWriter")(directory.open(paths.get(str(path))), config)
    add = _unreflect(writer.getClass(), "addIndexes", "Directory")
    add.invokeWithArguments(writer, directory.open(paths.get(str(other))))
    writer.close()


def _call(method: str, *arguments: str) -> Any:
    return _handle(method).invokeWithArguments(*arguments)


@cache
def _handle(method: str) -> Any:
    return _unreflect(_loader().loadClass("tdvtesting.TestIndex"), method)


def _unreflect(java: Any, method: str, argument: str = "") -> Any:
    """By names alone: of reflection and overloads, pyjnius knows little, and that partly wrong."""
    found = next(
        each
        for each in java.getMethods()
        if each.getName() == method and argument in each.toString()
    )
    return java_class("java.lang.invoke.MethodHandles").publicLookup().unreflect(found)


@cache
def _loader() -> Any:
    urls = [java_class("java.io.File")(str(JAR)).toURI().toURL()]
    return java_class("java.net.URLClassLoader")(urls)
