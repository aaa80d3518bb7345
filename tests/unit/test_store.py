"""Manifests and arrays, and how it is told when they are not right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdv_lucene import TdvError
from tdv_lucene.store import map_array, read_manifest, unlisted_files, write_manifest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "missing or unreadable"),
        ("{", "missing or unreadable"),
        ("[1]", "holds 'list', expected 'thing'"),
        ('{"kind": "other", "format": 1}', "holds 'other', expected 'thing': make one with 'make'"),
        ('{"kind": "thing", "format": 99}', "has format 99"),
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


def test_a_manifest_has_versions_and_lists_every_file_but_itself(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "a").write_text("abc")
    (tmp_path / "below" / "manifest.json").write_text("{}")
    write_manifest(tmp_path, "thing", {"files": "of another", "size": 3})
    manifest = read_manifest(tmp_path, "thing", "make")
    assert manifest["size"] == 3 and manifest["versions"]["numpy"] == np.__version__
    listed = manifest["files"]
    sizes = {name: entry["bytes"] for name, entry in listed.items()}
    assert sizes == {"a": 3, "below/manifest.json": 2}
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


def test_whole_arrays_are_mapped(tmp_path: Path) -> None:
    for array in (np.zeros((0, 3), np.float32), np.ones((2, 3), order="F")):
        np.save(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(map_array(tmp_path / "a.npy"), array)
    assert isinstance(map_array(tmp_path / "a.npy"), np.memmap)
    with pytest.raises(TdvError, match="cannot read .*absent"):
        map_array(tmp_path / "absent.npy")
