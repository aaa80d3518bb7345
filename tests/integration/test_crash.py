"""Killed runs, full disks, readers and writers beside: the source stays, the output is whole."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from crash_check import Crashes, digest, same_content
from testing_jar import dump_index

from tdv_lucene import TdvError, TermValues, extract_matrix, prune_index, update_index
from tdv_lucene.jvm.searcher import every_pair

pytestmark = pytest.mark.jvm

ROOT_ONLY = "a file system of a few kilobytes cannot be mounted here: "


@pytest.fixture(scope="module")
def crashes(tmp_path_factory: pytest.TempPathFactory) -> Crashes:
    return Crashes(tmp_path_factory.mktemp("crashes"), documents=200)


@pytest.mark.slow
def test_killed_at_random_moments(crashes: Crashes) -> None:
    """More by ``scripts/crash``."""
    rng = random.Random(1)
    assert crashes.kill("overwrite", rng) == "overwrite: the whole output"  # left to end
    crashes.seconds["prune"] = crashes.seconds["overwrite"]
    for stage in ("prune", "overwrite", "prune"):
        crashes.kill(stage, rng)


@contextmanager
def _small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(ROOT_ONLY + str(error))
    if done.returncode:
        pytest.skip(ROOT_ONLY + done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [4, 12, 24, 40, 64, 96])
def test_full_disk(kilobytes: int, crashes: Crashes, tmp_path: Path) -> None:
    """Each stage says so and leaves nothing, or has what it needs and is whole."""
    stages = {
        "pruned": lambda to: prune_index(crashes.source, crashes.values, to, reduction=0.3),
        "matrix": lambda to: extract_matrix(crashes.source, to),
        "values": lambda to: TermValues.load(crashes.values).save(to),
    }
    whole = []
    with _small_disk(tmp_path / "disk", kilobytes) as disk:
        for name, write in stages.items():
            try:
                write(disk / name)
                whole.append(name)
            except TdvError as error:
                assert "No space left on device; nothing was left there" in str(error)
                assert sorted(path.name for path in disk.iterdir()) == sorted(whole)
        if "pruned" in whole:
            assert same_content(dump_index(disk / "pruned"), crashes.expected)
    assert kilobytes > 4 or not whole
    assert digest(crashes.source) == crashes.digest


def test_an_update_on_a_full_disk_leaves_the_old_state(crashes: Crashes, tmp_path: Path) -> None:
    # In whole blocks: two tiers are in many small files.
    files = [path for path in (crashes.folder / "behind").rglob("*") if path.is_file()]
    blocks = sum(-(-path.stat().st_size // 4096) for path in files)
    with _small_disk(tmp_path / "disk", 3 * 4 * blocks + 200) as disk:
        shutil.copytree(crashes.folder / "behind", disk / "pruned")
        (disk / "filling").write_bytes(bytes(shutil.disk_usage(disk).free - 8192))
        with pytest.raises(TdvError, match="No space left on device; it is as it was"):
            update_index(disk / "pruned")
        assert same_content(dump_index(disk / "pruned"), crashes.behind)
        (disk / "filling").unlink()
        update_index(disk / "pruned")
        assert same_content(dump_index(disk / "pruned"), crashes.ahead)


def test_a_full_disk_of_temporary_files_is_no_defect(
    crashes: Crashes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java writes there without a job, which would know a full disk."""
    with _small_disk(tmp_path / "disk", 4) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with (
            pytest.raises(OSError, match="No space left on device"),
            every_pair(crashes.source, crashes.source, "contents"),
        ):
            pass


@pytest.mark.slow
def test_writer_in_another_process_holds_the_lock(crashes: Crashes, tmp_path: Path) -> None:
    writer = crashes.start("lock")
    writer.stdin.write("\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "LOCKED\n"
    for stage in (
        lambda: prune_index(crashes.source, crashes.values, tmp_path / "pruned"),
        lambda: extract_matrix(crashes.source, tmp_path / "matrix"),
    ):
        with pytest.raises(TdvError, match="locked"):
            stage()
    assert not list(tmp_path.iterdir())
    assert writer.communicate("\n")[0] == "DONE\n"
    prune_index(crashes.source, crashes.values, tmp_path / "pruned")
