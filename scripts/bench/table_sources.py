"""What is made once a collection and serves every method: indexes, matrices, vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from table_methods import Method

from tdv_lucene import build_index, embed_terms, extract_matrix
from tdv_lucene.inspection import inspect_index


class Sources:
    """Of the ``collection``, made in ``folder`` when first asked for."""

    def __init__(self, collection: Path, folder: Path) -> None:
        self.documents, self.collection, self.folder = collection, collection.name, folder
        self._commits: dict[Path, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @cached_property
    def index(self) -> Path:
        path = self.folder / "index"
        if not path.exists():
            timed(f"index {self.collection}", lambda: build_index(path, self._flags))
        return path

    @property
    def _flags(self) -> list[str]:
        return [
            "-collection", "JsonCollection", "-input", str(self.documents), "-generator",
            "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize",
        ]  # fmt: skip

    @cached_property
    def index_with_text(self) -> Path:
        """The same collection indexed with its text, which titles are read from."""
        return self._index_with("text", "-storeRaw")

    @cached_property
    def index_with_positions(self) -> Path:
        """The same collection indexed with positions; what is pruned from it has none."""
        return self._index_with("positions", "-storePositions")

    def _index_with(self, what: str, flag: str) -> Path:
        path = self.folder / f"index-with-{what}"
        if not path.exists():
            timed(
                f"index {self.collection} with {what}",
                lambda: build_index(path, [*self._flags, flag]),
            )
        return path

    def index_of(self, method: Method) -> Path:
        """The index that a method learns on and prunes."""
        return self.index_with_positions if method.positions else self.index

    @cached_property
    def matrix(self) -> Path:
        return self._extract(self.index, "matrix")

    @cached_property
    def matrix_with_positions(self) -> Path:
        return self._extract(self.index_with_positions, "matrix-with-positions")

    def _extract(self, index: Path, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            timed(f"extract {self.collection} {name}", lambda: extract_matrix(index, path))
        return path

    def matrix_of(self, method: Method) -> Path:
        """The counts of the index that a method learns on."""
        return self.matrix_with_positions if method.positions else self.matrix

    @cached_property
    def vectors(self) -> Path:
        path = self.folder / "vectors"
        if not path.exists():
            timed(
                f"embed {self.collection}",
                lambda: embed_terms(self.index, path, matrix=self.matrix),
            )
        return path

    @cached_property
    def about_index(self) -> dict[str, Any]:
        return inspect_index(self.index)

    def commit_of(self, index: Path) -> str:
        if index not in self._commits:
            self._commits[index] = inspect_index(index)["commit"]
        return self._commits[index]


def timed(label: str, step: Callable[[], Any]) -> float:
    """Do a step, print it, and return its wall seconds."""
    started = time.perf_counter()
    step()
    seconds = time.perf_counter() - started
    print(f"{seconds:8.1f} s  {label}", flush=True)
    return seconds
