"""What is made once a collection and serves every method: indexes, matrices, vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from table_methods import Method

from tdv_lucene import build_index, embed_terms, extract_matrix
from tdv_lucene.indexes.inspection import inspect_index

_INDEX = "index"


class Sources:
    """Of the ``collection``, made in ``folder`` when first asked for; ``flags`` are Anserini's."""

    def __init__(self, collection: Path, folder: Path, flags: Sequence[str] = ()) -> None:
        self._flags = flags
        self.documents, self.collection, self.folder = collection, collection.name, folder
        self._about: dict[Path, dict[str, Any]] = {}

    @property
    def indexed(self) -> bool:
        """Whether anything of this collection was made."""
        return (self.folder / _INDEX).exists()

    @property
    def index(self) -> Path:
        return self._built(_INDEX)

    @property
    def index_with_positions(self) -> Path:
        """The same collection indexed with positions; what is pruned from it has none."""
        return self._built("index-with-positions", "-storePositions")

    def index_of(self, method: Method) -> Path:
        """The index that a method learns on and prunes."""
        return self.index_with_positions if method.positions else self.index

    @property
    def matrix(self) -> Path:
        return self._made("matrix", lambda path: extract_matrix(self.index, path))

    @property
    def matrix_with_positions(self) -> Path:
        return self._made(
            "matrix-with-positions",
            lambda path: extract_matrix(self.index_with_positions, path),
        )

    def matrix_of(self, method: Method) -> Path:
        """The counts of the index that a method learns on."""
        return self.matrix_with_positions if method.positions else self.matrix

    @property
    def vectors(self) -> Path:
        return self._made("vectors", lambda path: embed_terms(self.index, path, matrix=self.matrix))

    def about(self, index: Path) -> dict[str, Any]:
        """What ``inspect`` says of one of these indexes."""
        if index not in self._about:
            self._about[index] = inspect_index(index)
        return self._about[index]

    def _built(self, name: str, *flags: str) -> Path:
        every = [
            "-collection", "JsonCollection", "-input", str(self.documents), "-generator",
            "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize",
        ]  # fmt: skip
        return self._made(name, lambda path: build_index(path, [*every, *self._flags, *flags]))

    def _made(self, name: str, make: Callable[[Path], Any]) -> Path:
        path = self.folder / name
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            timed(f"{self.collection} {name}", lambda: make(path))
        return path


def timed(label: str, step: Callable[[], Any]) -> None:
    """Do a step and print it with its wall seconds."""
    started = time.perf_counter()
    step()
    print(f"{time.perf_counter() - started:8.1f} s  {label}", flush=True)
