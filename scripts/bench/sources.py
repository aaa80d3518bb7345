"""What is made once a collection: its indexes, and the matrix of the one with positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tdv_lucene import build_index, extract_matrix


class Sources:
    """Of the ``collection``, made in ``folder`` when first asked for; ``flags`` are Anserini's."""

    def __init__(self, collection: Path, folder: Path, flags: Sequence[str] = ()) -> None:
        self._flags = flags
        self.documents, self.collection, self.folder = collection, collection.name, folder

    @property
    def index(self) -> Path:
        return self._built("index")

    @property
    def index_with_positions(self) -> Path:
        """The same collection indexed with positions; what is pruned from it has none."""
        return self._built("index-with-positions", "-storePositions")

    @property
    def matrix_with_positions(self) -> Path:
        return self._made(
            "matrix-with-positions",
            lambda path: extract_matrix(self.index_with_positions, path),
        )

    def _built(self, name: str, *flags: str) -> Path:
        alone = self.folder / "documents"  # without what lies in folders of the collection
        alone.mkdir(parents=True, exist_ok=True)
        for file in self.documents.glob("*.json*"):
            (alone / file.name).unlink(missing_ok=True)
            (alone / file.name).symlink_to(file.resolve())
        every = [
            "-collection", "JsonCollection", "-input", str(alone), "-generator",
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
