"""Killed and interrupted runs, full disks, readers and writers beside: the source stays, and the
output is whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import ROOT, write_judged
from crash_check import Crashes, digest, same_content
from lucene_indexes import write_index
from testing_jar import dump_index
from tiny_collection import tiny_segments

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
    for stage in ("prune", "overwrite"):
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


@pytest.mark.parametrize("kilobytes", [4, 12, 40, 96])
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


def test_a_full_disk_of_temporary_files_is_no_defect(crashes, tmp_path, monkeypatch) -> None:
    """Java writes there without a job, which would know a full disk."""
    with _small_disk(tmp_path / "disk", 4) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with (
            pytest.raises(OSError, match="No space left on device"),
            every_pair(crashes.source, crashes.source, "contents"),
        ):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_learn_is_interrupted_at_any_moment(seed: int, tmp_path: Path) -> None:
    """Ctrl-C: status 130, nothing left, no crash."""
    index = write_index(tmp_path / "index", tiny_segments())
    asked = {f"{q}": f"quick index term {q}" for q in range(300)}
    topics, qrels = write_judged(tmp_path, asked, {q: f"d{int(q) % 10}" for q in asked})
    place = tmp_path / "place"
    place.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", "-v", "learn", "--index", index, "--topics", topics,
         "--qrels", qrels, "--output", "values", "--no-prior"],
        cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    for line in process.stderr:
        if "ExtractJob" in line:  # from here on it is JAX that works
            break
    time.sleep(random.Random(seed).uniform(0, 3))
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stdout + stderr
    assert stderr.endswith("tdv-lucene: interrupted; nothing was written\n")
    assert "Exception ignored" not in stderr and "SIG" not in stdout
    assert list(place.iterdir()) == []
