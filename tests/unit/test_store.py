"""Manifests and arrays, and how it is told when they are not right."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene import TdvError, TermValues, unlearned_values
from tdv_lucene.matrix.term_vectors import TermVectors, latent_semantic_vectors
from tdv_lucene.store import map_array, read_manifest, unlisted_files, write_manifest


def test_manifest_is_read_back_with_versions(tmp_path: Path) -> None:
    write_manifest(tmp_path, "thing", {"size": 3})
    manifest = read_manifest(tmp_path, "thing", "make it")
    assert manifest["size"] == 3
    assert manifest["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "missing or unreadable"),
        ("{", "missing or unreadable"),
        ("[1]", "holds 'list', expected 'thing'"),
        ('{"kind": "other", "format": 1}', "holds 'other', expected 'thing': make one with 'make'"),
        ('{"kind": "thing", "format": 99}', "has format 99"),
        ('{"kind": "thing", "format": 1}', "has format 1"),
        ('{"kind": "thing"}', "has format None"),
    ],
)
def test_bad_manifests_are_refused(content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(TdvError, match=message):
        read_manifest(tmp_path, "thing", "make")
    with pytest.raises(TdvError, match="no such folder"):
        read_manifest(tmp_path / "none", "thing", "make")


def test_manifest_takes_no_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        write_manifest(tmp_path, "thing", {"x": float("nan")})
    write_manifest(tmp_path, "thing", {"x": None})
    assert json.loads((tmp_path / "manifest.json").read_text())["x"] is None


def test_a_manifest_lists_every_file_but_itself(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "a").write_text("abc")
    (tmp_path / "below" / "manifest.json").write_text("{}")
    write_manifest(tmp_path, "thing", {"files": "of another"})
    listed = read_manifest(tmp_path, "thing", "make")["files"]
    assert {name: entry["bytes"] for name, entry in listed.items()} == {
        "a": 3,
        "below/manifest.json": 2,
    }
    assert listed["a"]["sha256"].startswith("ba7816bf")  # FIPS 180-2's example


def test_what_is_not_listed_is_found(tmp_path: Path) -> None:
    for name in ("a", "b", "c/d", "c/e", "c/write.lock", "write.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("" if name.endswith("write.lock") else "abc")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    listed = {name: {"bytes": 3} for name in ("a", "c/d", "gone", "link")}
    assert unlisted_files(tmp_path, listed) == ["b", "c/e", "empty", "link"]
    assert unlisted_files(tmp_path, {**listed, "a": {"bytes": 4}})[0] == "a"
    assert unlisted_files(tmp_path, {**listed, "a": "3"})[0] == "a"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each kind, and what reads it."""
    matrix = make_collection()[0]
    folder = tmp_path_factory.mktemp("whole")
    unlearned_values(matrix, "ridf").save(folder / "values")
    latent_semantic_vectors(matrix, dimensions=4).save(folder / "vectors")
    return {folder / "values": TermValues.load, folder / "vectors": TermVectors.load}


@pytest.mark.parametrize("kept", [0, 5, 60, 200, -1])
def test_a_truncated_array_is_damage_and_no_interruption(folders, kept, tmp_path):
    """An empty one made click think of Ctrl-D: 'interrupted; nothing was written'."""
    tried = 0
    for folder, load in folders.items():
        for path in sorted(folder.glob("*.npy")):
            copy = tmp_path / f"{folder.name}-{path.stem}"
            shutil.copytree(folder, copy)
            (copy / path.name).write_bytes(path.read_bytes()[:kept])
            with pytest.raises(TdvError, match="damaged|truncated"):
                load(copy)
            tried += 1
    assert tried > 7


def test_whole_arrays_are_mapped(tmp_path):
    for array in (np.arange(7), np.zeros((0, 3), np.float32), np.ones((2, 3), order="F")):
        np.save(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(map_array(tmp_path / "a.npy"), array)
    assert isinstance(map_array(tmp_path / "a.npy"), np.memmap)
    with pytest.raises(TdvError, match="cannot read .*absent"):
        map_array(tmp_path / "absent.npy")
