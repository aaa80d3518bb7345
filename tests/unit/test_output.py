"""Where results go: whole or absent, never in between, and never in another thing's place."""

from __future__ import annotations

import fcntl
import os
import stat
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.output import Output
from tdv_lucene.store import FORMAT, save_array


def _make(
    output: Path, text: str = "new", kind: str = "thing", is_folder: bool = True, **options: object
) -> None:
    place = Output(output, kind, is_folder=is_folder, **{"inputs": (), **options})
    with place as path:
        (path / "content" if is_folder else path).write_text(text)
        place.write_manifest({"size": 3})


_write = partial(_make, kind="run", is_folder=False)


def test_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    output = tmp_path / "out"
    place = Output(output, "thing", inputs=())
    with place as folder:
        (folder / "content").write_text("x")
        place.write_manifest({})
        assert not output.exists()
    assert os.listdir(tmp_path) == ["out"]
    assert (output / "content").read_text() == "x"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(output.stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failed_block_leaves_what_was_there(error: type[BaseException], tmp_path: Path) -> None:
    for there in ([], ["out"]):
        place = Output(tmp_path / "out", "thing", inputs=(), overwrite=True)
        with pytest.raises(error), place as folder:
            (folder / "content").write_text("x")
            raise error
        assert os.listdir(tmp_path) == there
        _make(tmp_path / "out", "old", overwrite=True)
    assert (tmp_path / "out" / "content").read_text() == "old"


@pytest.mark.parametrize(
    "manifest",
    [
        f'{{"kind": "thing", "format": {FORMAT}, "files": {{}}}}',
        f'{{"kind": "other", "format": {FORMAT}, "files": {{"thesis.tex": {{"bytes": 1}}}}}}',
        '{"kind": "thing", "format": 1, "files": {"thesis.tex": {"bytes": 1}}}',
        '{"manifest_version": 3, "name": "a browser extension"}',
        "[]",
        "{",
        None,
    ],
)
def test_only_what_a_manifest_of_ours_lists_is_replaced(manifest, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "thesis.tex").write_text("x")
    if manifest is not None:
        (output / "manifest.json").write_text(manifest)
    for kind in ("thing", None):
        with pytest.raises(TdvError, match="out .* would be deleted"):
            _make(output, kind=kind, overwrite=True)
    assert (output / "thesis.tex").read_text() == "x"


@pytest.mark.parametrize("change", ["thesis.tex", "content", "notes/today", "link"])
def test_one_thing_more_or_changed_is_named(change: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    _make(output, "old")
    place = output / change
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path) if change == "link" else place.write_text("changed")
    with pytest.raises(TdvError, match=rf"manifest.json lists it \(.*{change}"):
        _make(output, overwrite=True)
    assert place.is_symlink() or place.read_text() == "changed"


def test_only_what_made_a_result_replaces_it(tmp_path: Path) -> None:
    _make(tmp_path / "out", "old", made_by="learn")
    for other in ("peers", None):
        with pytest.raises(TdvError, match="out was made by 'learn'"):
            _make(tmp_path / "out", made_by=other, overwrite=True)
    _make(tmp_path / "out", made_by="learn", overwrite=True)


def test_what_came_while_the_result_was_made_is_kept(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with pytest.raises(TdvError, match="exists: choose another output$"), place:
        place.write_manifest({})
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.tex").write_text("x")
    assert os.listdir(tmp_path / "out") == ["thesis.tex"]
    assert os.listdir(tmp_path) == ["out"]


def test_overwrite_replaces_an_empty_folder_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _make(tmp_path / "empty", overwrite=True)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(TdvError, match="link is a symbolic link"):
        _make(tmp_path / "link", "linked", overwrite=True)
    assert (tmp_path / "link" / "content").read_text() == "new"


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    for output, said in (
        ("nowhere/out", "nowhere is not a folder"), ("file/out", "file is not a folder"),
        ("", "the folder you are in"), ("..", "or holds it"), ("/", "or holds it"),
    ):  # fmt: skip
        for make in (_make, _write):
            with pytest.raises(TdvError, match=said):
                make(output, overwrite=True)


def test_operating_system_errors_are_told(tmp_path: Path) -> None:
    full = r"cannot write .*out: No space left on device; nothing was left there\. Make .*TMPDIR"
    with pytest.raises(TdvError, match=full), Output(tmp_path / "out", "thing", inputs=()):
        save_array(Path("/dev/full"), np.arange(10_000))
    elsewhere = "gone: No such file or directory; .*out was not written"
    with pytest.raises(TdvError, match=elsewhere), Output(tmp_path / "out", "thing", inputs=()):
        open(tmp_path / "gone")
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_not_as_its_manifest_says_is_kept(tmp_path: Path) -> None:
    _write(tmp_path / "run", "old")
    with pytest.raises(TdvError, match="no manifest of a 'plot'"):
        _write(tmp_path / "run", kind="plot", overwrite=True)
    (tmp_path / "run").write_text("new")
    with pytest.raises(TdvError, match="run is not as run.manifest.json lists it"):
        _write(tmp_path / "run", overwrite=True)
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "a.manifest.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    for name, said in (
        ("thesis.tex", "no manifest"), ("a", "a.manifest.json has no manifest of a 'run'"),
        ("folder", "is no file"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=said):
            _write(tmp_path / name, overwrite=True)
    with pytest.raises(TdvError, match="is no folder"):
        _make(tmp_path / "thesis.tex", overwrite=True)


def test_what_a_killed_run_left_goes_and_what_others_make_stays(tmp_path: Path) -> None:
    other = Output(tmp_path / "out", "thing", inputs=())
    with other as at_work:
        left = tmp_path / ".out.unfinished-killed"  # its lock ended with its process
        (left / "result").mkdir(parents=True)
        (left / "tdv-lucene.lock").write_text("")
        foreign = tmp_path / ".out.unfinished-thesis"
        foreign.mkdir()
        with open(at_work.parent / "tdv-lucene.lock", "rb+") as lock, pytest.raises(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _make(tmp_path / "out")
        assert at_work.exists() and foreign.exists() and not left.exists()
        (tmp_path / "out").rename(tmp_path / "moved")
        other.write_manifest({})
    assert sorted(os.listdir(tmp_path)) == [".out.unfinished-thesis", "moved", "out"]


def test_in_place(tmp_path: Path) -> None:
    output = tmp_path / "out"
    _make(output, "old")
    place = Output(output, "thing", inputs=(), overwrite=True)
    with pytest.raises(KeyboardInterrupt), place.in_place() as folder:
        assert folder == output and os.listdir(folder) == []
        (folder / "content").write_text("new")
        raise KeyboardInterrupt
    assert (output / "content").read_text() == "old" and os.listdir(tmp_path) == ["out"]
    with place.in_place() as folder:
        (folder / "content").write_text("new")
        place.write_manifest({})
    assert (output / "content").read_text() == "new" and os.listdir(tmp_path) == ["out"]
