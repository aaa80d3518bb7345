"""Artefact folders: whole or absent, never in between."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.store import (
    new_file,
    new_folder,
    read_manifest,
    refuse_overlap,
    save_array,
    write_manifest,
)


def _make(output: Path, text: str = "new", **options: bool) -> None:
    with new_folder(output, **options) as folder:
        (folder / "content").write_text(text)
        write_manifest(folder, "thing", {"size": 3})


def test_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    output = tmp_path / "out"
    with new_folder(output) as folder:
        (folder / "content").write_text("x")
        assert not output.exists()
    assert os.listdir(tmp_path) == ["out"]
    assert (output / "content").read_text() == "x"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(output.stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failed_block_leaves_nothing(error: type[BaseException], tmp_path: Path) -> None:
    with pytest.raises(error), new_folder(tmp_path / "out") as folder:
        (folder / "content").write_text("x")
        raise error
    assert os.listdir(tmp_path) == []


def test_existing_result_is_kept_unless_overwritten(tmp_path: Path) -> None:
    output = tmp_path / "out"
    _make(output, "old")
    with pytest.raises(TdvError, match="out exists: choose another output, or pass overwrite=True"):
        _make(output)
    assert (output / "content").read_text() == "old"
    _make(output, overwrite=True)
    assert (output / "content").read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_failed_overwrite_keeps_the_old_result(tmp_path: Path) -> None:
    output = tmp_path / "out"
    _make(output, "old")
    with pytest.raises(RuntimeError), new_folder(output, overwrite=True):
        raise RuntimeError
    assert (output / "content").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_overwrite_never_deletes_what_is_not_ours(tmp_path: Path) -> None:
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("x")
    with pytest.raises(TdvError, match="files tdv-lucene did not write"):
        _make(precious, overwrite=True)
    assert os.listdir(precious) == ["thesis.tex"]


def test_overwrite_replaces_an_empty_folder_and_a_link_but_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _make(tmp_path / "empty", overwrite=True)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    _make(tmp_path / "link", "linked", overwrite=True)
    assert (tmp_path / "empty" / "content").read_text() == "new"
    assert (tmp_path / "link" / "content").read_text() == "linked"


def test_parent_must_exist(tmp_path: Path) -> None:
    with pytest.raises(TdvError, match="the folder .*nowhere does not exist"):
        _make(tmp_path / "nowhere" / "out")


def test_operating_system_errors_are_told(tmp_path: Path) -> None:
    with (
        pytest.raises(TdvError, match="cannot write .*out: No space left on device; nothing"),
        new_folder(tmp_path / "out"),
    ):
        save_array(Path("/dev/full"), np.arange(10_000))
    assert os.listdir(tmp_path) == []


def test_new_file(tmp_path: Path) -> None:
    output = tmp_path / "run.txt"
    with new_file(output) as unfinished:
        unfinished.write_text("x")
        assert not output.exists()
    assert output.read_text() == "x"
    assert os.listdir(tmp_path) == ["run.txt"]
    with pytest.raises(TdvError, match="exists"), new_file(output):
        pass
    with pytest.raises(RuntimeError), new_file(output, overwrite=True):
        raise RuntimeError
    assert output.read_text() == "x"


def test_manifest_is_read_back_with_versions(tmp_path: Path) -> None:
    _make(tmp_path / "out")
    manifest = read_manifest(tmp_path / "out", "thing", "make it")
    assert manifest["size"] == 3
    assert manifest["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "missing or unreadable"),
        ("{", "missing or unreadable"),
        ("[1]", "holds 'list', expected 'thing'"),
        ('{"kind": "other", "format": 1}', "holds 'other', expected 'thing': make one with 'make'"),
        ('{"kind": "thing", "format": 99}', "has format 99, this version reads 1"),
    ],
)
def test_bad_manifests_are_refused(content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(TdvError, match=message):
        read_manifest(tmp_path, "thing", "make")


def test_manifest_of_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TdvError, match="no such folder.*make it with 'make'"):
        read_manifest(tmp_path / "none", "thing", "make")


def test_manifest_takes_no_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        write_manifest(tmp_path, "thing", {"x": float("nan")})
    write_manifest(tmp_path, "thing", {"x": None})
    assert json.loads((tmp_path / "manifest.json").read_text())["x"] is None


def test_overlap_is_refused_through_links_too(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (tmp_path / "link").symlink_to(index)
    for output in (index, index / "below", tmp_path, tmp_path / "link", tmp_path / "link" / "x"):
        with pytest.raises(TdvError, match="overlaps the input"):
            refuse_overlap(output, index)
    refuse_overlap(tmp_path / "index2", index)


def test_saved_arrays_load_and_map(tmp_path: Path) -> None:
    array = np.arange(7, dtype=np.int32)
    save_array(tmp_path / "a.npy", array)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    np.testing.assert_array_equal(mapped, array)
    assert mapped.dtype == array.dtype
