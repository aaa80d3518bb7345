"""Where results go: whole or absent, never in between, and never in another thing's place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.output import Output
from tdv_lucene.store import FORMAT, save_array


def _make(output: Path, text: str = "new", kind: str = "thing", **options: object) -> None:
    place = Output(output, kind, **{"inputs": (), **options})
    with place as folder:
        (folder / "content").write_text(text)
        place.write_manifest({"size": 3})


def _write(output: Path, text: str = "new", kind: str = "run", **options: object) -> None:
    place = Output(output, kind, is_folder=False, **{"inputs": (), **options})
    with place as path:
        path.write_text(text)
        place.write_manifest({})


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
def test_failed_block_leaves_nothing(error: type[BaseException], tmp_path: Path) -> None:
    with pytest.raises(error), Output(tmp_path / "out", "thing", inputs=()) as folder:
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
    with (
        pytest.raises(RuntimeError),
        Output(output, "thing", inputs=(), overwrite=True),
    ):
        raise RuntimeError
    assert (output / "content").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_overwrite_never_deletes_what_is_not_ours(tmp_path: Path) -> None:
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("x")
    with pytest.raises(TdvError, match="is not a 'thing': it holds thesis.tex, and"):
        _make(precious, overwrite=True)
    assert os.listdir(precious) == ["thesis.tex"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # beside a run
        ("run.txt.manifest.json", f'{{"kind": "thing", "format": {FORMAT}, "files": {{}}}}'),
        ("manifest.json", '{"manifest_version": 3, "name": "a browser extension"}'),
        ("manifest.json", "[]"),
        ("manifest.json", "{"),
        ("segments_1", "x"),
    ],
)
def test_a_manifest_of_others_makes_nothing_replaceable(name, text, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / name).write_text(text)
    with pytest.raises(TdvError, match=f"is not a 'thing': it holds {name}"):
        _make(output, overwrite=True)
    assert (output / name).read_text() == text


def test_only_the_same_kind_is_replaced(tmp_path: Path) -> None:
    _make(tmp_path / "out", "old", "other")
    with pytest.raises(TdvError, match="is not a 'thing': it holds content, manifest.json, and"):
        _make(tmp_path / "out", overwrite=True)
    with pytest.raises(TdvError, match="is not empty: it holds content, manifest.json, and"):
        _make(tmp_path / "out", kind=None, overwrite=True)
    assert (tmp_path / "out" / "content").read_text() == "old"


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
            assert (output / "content").read_text() == "new"
            continue
        with pytest.raises(TdvError, match=f"out was made by '{made_by}', and overwrite=True of"):
            _make(output, "new", "term-values", made_by=other, overwrite=True)
        assert (output / "content").read_text() == "old"
        shutil.rmtree(output)


def test_a_result_says_who_made_it_and_not_who_made_what_it_was_made_of(tmp_path: Path) -> None:
    for made_by, written in (("prune", "prune"), (None, None)):
        place = Output(tmp_path / str(made_by), "thing", inputs=(), made_by=made_by)
        with place as folder:
            place.write_manifest({"made_by": "learn"})
            found = json.loads((folder / "manifest.json").read_text())
        assert found.get("made_by") == written


@pytest.mark.parametrize("change", ["thesis.tex", "content", "notes/today", "link"])
def test_one_thing_more_or_changed_is_named(change: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    _make(output, "old")
    place = output / change
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path) if change == "link" else place.write_text("changed")
    with pytest.raises(TdvError, match=f"other files than its manifest.json lists .*{change}"):
        _make(output, overwrite=True)
    assert place.is_symlink() or place.read_text() == "changed"


def test_results_of_development_versions_are_left_to_the_user(tmp_path: Path) -> None:
    _make(tmp_path / "out", "old")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["format"] = 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(TdvError, match="by a development version.*remove it yourself"):
        _make(tmp_path / "out", overwrite=True)


def test_what_came_while_the_result_was_made_is_kept(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with pytest.raises(TdvError, match="exists"), place:
        place.write_manifest({})
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.tex").write_text("x")
    assert os.listdir(tmp_path / "out") == ["thesis.tex"]
    assert os.listdir(tmp_path) == ["out"]


def test_overwrite_replaces_an_empty_folder_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _make(tmp_path / "empty", overwrite=True)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(TdvError, match="link is a symbolic link, and overwrite=True does not"):
        _make(tmp_path / "link", "linked", overwrite=True)
    assert (tmp_path / "link" / "content").read_text() == "new"


def test_a_result_that_lists_not_all_is_a_defect(tmp_path: Path) -> None:
    place = Output(tmp_path / "out", "thing", inputs=())
    with pytest.raises(RuntimeError, match="without a list"), place as folder:
        place.write_manifest({})
        (folder / "late").write_text("x")
    assert os.listdir(tmp_path) == []


def test_parent_must_exist(tmp_path: Path) -> None:
    with pytest.raises(TdvError, match="the folder .*nowhere does not exist"):
        _make(tmp_path / "nowhere" / "out")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", "output is empty: name the place"),
        (".", "is the folder you are in"),
        ("..", "or holds it"),
        ("/", "or holds it"),
        ("a\udcff", "is not UTF-8"),
    ],
)
def test_places_that_are_none(output: str, said: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (_make, _write):
        with pytest.raises(TdvError, match=said):
            make(output, overwrite=True)


FULL = (
    "cannot write .*out: No space left on device; nothing was left there. "
    r"Free now: .* bytes in .*, .* bytes in .* \(TMPDIR\)$"
)


def test_operating_system_errors_are_told(tmp_path: Path) -> None:
    with (
        pytest.raises(TdvError, match=FULL),
        Output(tmp_path / "out", "thing", inputs=()),
    ):
        save_array(Path("/dev/full"), np.arange(10_000))
    assert os.listdir(tmp_path) == []


def test_an_error_of_another_file_is_told_as_that(tmp_path: Path) -> None:
    with (
        pytest.raises(TdvError, match="gone: No such file or directory; .*out was not written"),
        Output(tmp_path / "out", "thing", inputs=()),
    ):
        open(tmp_path / "gone")


def test_a_file_has_its_manifest_beside_it(tmp_path: Path) -> None:
    output = tmp_path / "run.txt"
    place = Output(output, "run", is_folder=False, inputs=())
    with place as unfinished:
        unfinished.write_text("x")
        place.write_manifest({})
        assert not output.exists()
    assert output.read_text() == "x"
    assert sorted(os.listdir(tmp_path)) == ["run.txt", "run.txt.manifest.json"]
    with pytest.raises(TdvError, match="exists"):
        _write(output)
    with (
        pytest.raises(RuntimeError),
        Output(output, "run", is_folder=False, inputs=(), overwrite=True),
    ):
        raise RuntimeError
    assert output.read_text() == "x"
    _write(output, "y", overwrite=True)
    assert output.read_text() == "y"
    with pytest.raises(TdvError, match="is not the manifest of a 'plot'"):
        _write(output, kind="plot", overwrite=True)


def test_a_file_that_is_not_as_its_manifest_says_is_kept(tmp_path: Path) -> None:
    _write(tmp_path / "run", "old")
    (tmp_path / "run").write_text("new")
    with pytest.raises(TdvError, match="run is not the 'run' that its manifest describes"):
        _write(tmp_path / "run", overwrite=True)
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(TdvError, match="thesis.tex has no manifest of a 'run' beside it"):
        _write(tmp_path / "thesis.tex", overwrite=True)
    (tmp_path / "a.manifest.json").write_text("{}")
    with pytest.raises(TdvError, match="a.manifest.json is not the manifest of a 'run'"):
        _write(tmp_path / "a", overwrite=True)
    (tmp_path / "folder").mkdir()
    with pytest.raises(TdvError, match="is a folder: choose a file name as output"):
        _write(tmp_path / "folder", overwrite=True)
    with pytest.raises(TdvError, match="is a file, not a folder"):
        _make(tmp_path / "thesis.tex", overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
def test_overlap_is_refused_through_links_too(overwrite: bool, tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (tmp_path / "link").symlink_to(index)
    options = {"inputs": [None, {"q": "t"}, index], "overwrite": overwrite}
    for output in (index, index / "below", tmp_path, tmp_path / "link", tmp_path / "link" / "x"):
        with pytest.raises(TdvError, match="overlaps the input"):
            Output(output, "thing", **options)
    Output(tmp_path / "index2", "thing", **options)


def test_overlap_is_refused_through_hard_links_too(tmp_path: Path) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tx")
    os.link(topics, tmp_path / "run")
    (tmp_path / "other.manifest.json").hardlink_to(topics)
    for name in ("run", "other"):
        with pytest.raises(TdvError, match="overlaps the input"):
            Output(tmp_path / name, "run", is_folder=False, inputs=[topics], overwrite=True)


def test_outputs_beside_each_other_do_not_overlap(tmp_path: Path) -> None:
    values = Output(tmp_path / "V", "thing", inputs=())
    with pytest.raises(TdvError, match="overlaps the input"):
        Output(tmp_path / "V", "plot", is_folder=False, inputs=[values])


def test_nothing_is_added_to_an_index(tmp_path: Path) -> None:
    (tmp_path / "index" / "below").mkdir(parents=True)
    (tmp_path / "index" / "segments_a1").write_text("x")
    for output in ("index/run", "index/below/run"):
        with pytest.raises(TdvError, match="lies in the Lucene index .*index"):
            _write(tmp_path / output)


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
