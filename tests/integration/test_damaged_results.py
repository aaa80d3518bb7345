"""Results that were tampered with, or cut short: refused by what their manifest lists.

A table: one row for each kind of result that a command reads. A new kind joins with a row.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lucene_indexes import write_index
from manifest_changes import changes_of
from tiny_collection import tiny_segments

from tdv_lucene import TdvError, extract_matrix, load_matrix, make_peer_values
from tdv_lucene.matrix.embed import embed_terms, load_term_vectors
from tdv_lucene.values.term_values import TermValues

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("results")
    write_index(home / "index", tiny_segments())
    extract_matrix(home / "index", home / "matrix")
    embed_terms(home / "index", home / "vectors", dimensions=2, min_doc_freq=1)
    make_peer_values(home / "index", home / "values", "carmel-delta")
    return home


def _read_vectors(folder: Path) -> Any:
    return load_term_vectors(folder, load_matrix(folder.parent / "matrix"))


KINDS: dict[str, Callable[[Path], Any]] = {
    "matrix": load_matrix, "vectors": _read_vectors, "values": TermValues.load,
}  # fmt: skip


@pytest.fixture(params=KINDS)
def result(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> tuple[Path, Callable]:
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home" / request.param, KINDS[request.param]


def test_every_file_is_watched(result: tuple[Path, Callable]) -> None:
    folder, read = result
    read(folder)
    for path in sorted(folder.glob("*.npy")):
        content = path.read_bytes()
        flipped = bytearray(content)
        flipped[-1] ^= 1
        damages = {
            "do not match their checksum": flipped,
            "bytes are listed|bytes, .* are listed": content[: len(content) // 2],
            "bytes, .* are listed": b"",
        }
        for said, damage in damages.items():
            path.write_bytes(damage)
            with pytest.raises(TdvError, match=f"is damaged.*{path.name}.*({said})"):
                read(folder)
        path.unlink()
        with pytest.raises(TdvError, match=f"is damaged.*{path.name}.*missing"):
            read(folder)
        path.write_bytes(content)
    read(folder)


def test_no_entry_of_a_manifest_is_trusted(result: tuple[Path, Callable]) -> None:
    """Every entry, at any depth, left out or of another type: read as before, or refused."""
    folder, read = result
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    refused = 0
    for changed in changes_of(manifest):
        path.write_text(json.dumps(changed))
        try:
            found = read(folder)
            if isinstance(found, TermValues):
                _use(found)
        except TdvError:
            refused += 1
    assert refused > 10


def _use(values: TermValues) -> None:
    """All that pruning makes of values before it writes."""
    values.summary()
    values.at_reduction(0.3)
    values.at_reduction(0.2, unit="posting")
