"""Where results go: whole or absent, never in between, and never in another thing's place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.output import Output
from tdv_lucene.store import FORMAT, save_array


def _make(output: Path, text: str = "new", kind: str | None = "thing", **options: object) -> None:
    place = Output(output, kind, **{"inputs": (), **options})
    with place as folder:
        (folder / "content").write_text(text)
        place.write_manifest({"size": 3})


def _write(output: Path, text: str = "new", kind: str = "run", **options: object) -> None:
    place = Output(output, kind, is_folder=False, **{"inputs": (), **options})
    with place as path:
        path.write_text(text)
        place.write_manifest({})


def _refused(named: str, make: Callable[..., None], *arguments: object, **options: object) -> None:
    """It is refused even where it may overwrite, and the error names this."""
    with pytest.raises(TdvError, match=named):
        make(*arguments, **{"overwrite": True, **options})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An old result in a folder of its own."""
    _make(tmp_path / "out", "old")
    return tmp_path / "out"


def _content(output: Path) -> str:
    return (output / "content").read_text()


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with place as folder:
        (folder / "content").write_text("x")
        place.write_manifest({})
        assert not (tmp_path / "out").exists()
    assert os.listdir(tmp_path) == ["out"] and _content(tmp_path / "out") == "x"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failed_block_leaves_what_was_there(
    error: type[BaseException], out: Path, tmp_path: Path
) -> None:
    for place in (
        Output(tmp_path / "new", "thing", inputs=()),
        Output(out, "thing", inputs=(), overwrite=True),
    ):
        with pytest.raises(error), place as folder:
            (folder / "content").write_text("x")
            raise error
    assert os.listdir(tmp_path) == ["out"] and _content(out) == "old"


def test_a_result_is_replaced_only_if_that_is_asked_for(out: Path, tmp_path: Path) -> None:
    _refused("out exists: .*overwrite=True", _make, out, overwrite=False)
    assert _content(out) == "old"
    _make(out, overwrite=True)
    assert _content(out) == "new" and os.listdir(tmp_path) == ["out"]
    (tmp_path / "empty").mkdir()
    _make(tmp_path / "empty", overwrite=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("thesis.tex", "x"),
        ("run.txt.manifest.json", f'{{"kind": "thing", "format": {FORMAT}, "files": {{}}}}'),
        ("manifest.json", '{"manifest_version": 3, "name": "a browser extension"}'),
        ("manifest.json", "[]"),
        ("manifest.json", "{"),
        ("segments_1", "x"),
    ],
)
def test_what_is_not_ours_is_never_deleted(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(text)
    _refused(f"'thing'.*{name}", _make, tmp_path / "out")
    assert (tmp_path / "out" / name).read_text() == text


@pytest.mark.parametrize("kind", ["other", None])
def test_only_the_same_kind_is_replaced(kind: str | None, out: Path) -> None:
    _refused("out .*content, manifest.json", _make, out, kind=kind)
    assert _content(out) == "old"


@pytest.mark.parametrize(
    ("made_by", "replaced_by"),
    [("peers", {"peers"}), ("TermValues.save", {"TermValues.save"}), ("learn", {"learn", None})],
)
def test_only_what_made_a_result_replaces_it(made_by, replaced_by, tmp_path: Path) -> None:
    output = tmp_path / "out"
    for other in ("learn", "peers", "prune", "TermValues.save", None):
        _make(output, "old", "term-values", made_by=made_by, overwrite=True)
        if other in replaced_by:
            _make(output, "new", "term-values", made_by=other, overwrite=True)
        else:
            _refused(f"'{made_by}'", _make, output, "new", "term-values", made_by=other)
        assert _content(output) == ("new" if other in replaced_by else "old")
        shutil.rmtree(output)


def test_a_result_says_who_made_it_and_not_who_made_what_it_was_made_of(tmp_path: Path) -> None:
    for made_by in ("prune", None):
        place = Output(tmp_path / str(made_by), "thing", inputs=(), made_by=made_by)
        with place as folder:
            place.write_manifest({"made_by": "learn"})
            assert json.loads((folder / "manifest.json").read_text()).get("made_by") == made_by


@pytest.mark.parametrize("change", ["thesis.tex", "content", "notes/today", "link"])
def test_one_thing_more_or_changed_is_named(change: str, out: Path, tmp_path: Path) -> None:
    place = out / change
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path) if change == "link" else place.write_text("changed")
    _refused(change, _make, out)
    assert place.is_symlink() or place.read_text() == "changed"


def test_results_of_development_versions_are_left_to_the_user(out: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    _refused("development version", _make, out)


def test_what_came_while_the_result_was_made_is_kept(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with pytest.raises(TdvError, match="exists"), place:
        place.write_manifest({})
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.tex").write_text("x")
    assert os.listdir(tmp_path / "out") == ["thesis.tex"] and os.listdir(tmp_path) == ["out"]


def test_a_result_that_lists_not_all_is_a_defect(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with pytest.raises(RuntimeError), place as folder:
        place.write_manifest({})
        (folder / "late").write_text("x")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("output", "named"),
    [("", "output"), (".", "folder you are in"), ("..", "holds it"), ("/", "holds it"),
     ("a\udcff", "UTF-8"), ("link", "link"), ("nowhere/out", "nowhere")],
)  # fmt: skip
def test_places_that_are_none(
    output: str, named: str, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(out)
    (out / "link").symlink_to(tmp_path)
    for make in (_make, _write):
        _refused(named, make, output)
    assert {*os.listdir(out)} == {"content", "manifest.json", "link"}


def test_operating_system_errors_are_told(tmp_path: Path) -> None:
    with (
        pytest.raises(TdvError, match="out: No space left on device.* bytes in .*TMPDIR"),
        Output(tmp_path / "out", "thing", inputs=()),
    ):
        save_array(Path("/dev/full"), np.arange(10_000))
    with (
        pytest.raises(TdvError, match="gone: No such file or directory; .*out was not written"),
        Output(tmp_path / "out", "thing", inputs=()),
    ):
        open(tmp_path / "gone")
    assert os.listdir(tmp_path) == []


def test_a_file_has_its_manifest_beside_it(tmp_path: Path) -> None:
    output = tmp_path / "run.txt"
    _write(output, "x")
    assert sorted(os.listdir(tmp_path)) == ["run.txt", "run.txt.manifest.json"]
    _refused("exists", _write, output, overwrite=False)
    place = Output(output, "run", is_folder=False, inputs=(), overwrite=True)
    with pytest.raises(RuntimeError), place as unfinished:
        unfinished.write_text("y")
        raise RuntimeError
    assert output.read_text() == "x"
    _write(output, "y", overwrite=True)
    assert output.read_text() == "y"
    _refused("'plot'", _write, output, kind="plot")


def test_a_file_that_is_not_as_its_manifest_says_is_kept(out: Path, tmp_path: Path) -> None:
    _write(tmp_path / "run", "old")
    (tmp_path / "run").write_text("new")
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "a.manifest.json").write_text("{}")
    before = {path: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    for name in ("run", "thesis.tex", "a", "out"):
        _refused(name, _write, tmp_path / name)
    _refused("thesis.tex", _make, tmp_path / "thesis.tex")
    assert {path: path.read_text() for path in before} == before


@pytest.mark.parametrize("overwrite", [False, True])
def test_overlap_is_refused_through_links_too(overwrite: bool, tmp_path: Path) -> None:
    index, topics = tmp_path / "index", tmp_path / "topics.tsv"
    index.mkdir()
    topics.write_text("1\tx")
    (tmp_path / "link").symlink_to(index)
    os.link(topics, tmp_path / "run")
    (tmp_path / "other.manifest.json").hardlink_to(topics)
    made = Output(tmp_path / "V", "thing", inputs=())
    options = {"inputs": [None, {"q": "t"}, index, topics, made], "overwrite": overwrite}
    for output in (index, index / "below", tmp_path, tmp_path / "link", tmp_path / "link" / "x"):
        with pytest.raises(TdvError, match="overlaps the input"):
            Output(output, "thing", **options)
    for name in ("run", "other", "V"):
        with pytest.raises(TdvError, match="overlaps the input"):
            Output(tmp_path / name, "run", is_folder=False, **options)
    Output(tmp_path / "index2", "thing", **options)


def test_nothing_is_added_to_an_index(tmp_path: Path) -> None:
    (tmp_path / "index" / "below").mkdir(parents=True)
    (tmp_path / "index" / "segments_a1").write_text("x")
    for output in ("index/run", "index/below/run"):
        _refused("Lucene index .*index", _write, tmp_path / output)


def test_what_a_killed_run_left_goes_and_what_others_make_stays(tmp_path: Path) -> None:
    other = Output(tmp_path / "out", "thing", inputs=())
    with other as at_work:
        killed = Output(tmp_path / "out", "thing", inputs=())
        left = killed.__enter__().parent
        fcntl.flock(killed._mark, fcntl.LOCK_UN)  # as the end of its process does
        foreign = tmp_path / ".out.unfinished-thesis"
        foreign.mkdir()
        (foreign / "unfinished").write_text("of mine")
        _make(tmp_path / "out")
        assert at_work.exists() and foreign.exists() and not left.exists()
        (tmp_path / "out").rename(tmp_path / "moved")
        other.write_manifest({})
    assert sorted(os.listdir(tmp_path)) == [".out.unfinished-thesis", "moved", "out"]


def test_in_place(out: Path, tmp_path: Path) -> None:
    place = Output(out, "thing", inputs=(), overwrite=True)
    with pytest.raises(KeyboardInterrupt), place.in_place() as folder:
        assert folder == out and os.listdir(folder) == []
        (folder / "content").write_text("new")
        raise KeyboardInterrupt
    assert _content(out) == "old" and os.listdir(tmp_path) == ["out"]
    with place.in_place() as folder:
        (folder / "content").write_text("new")
        place.write_manifest({})
    assert _content(out) == "new" and os.listdir(tmp_path) == ["out"]
