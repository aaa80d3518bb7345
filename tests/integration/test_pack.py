"""An index as one file: what comes out is what went in, and Pyserini unpacks it."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from tdv_lucene import TdvError
from tdv_lucene.indexes.pack import pack_index
from tdv_lucene.peers.unlearned import make_peer_values
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm
TOPICS = {"1": "quick fox", "2": "the index"}


@pytest.fixture(scope="module")
def pruned(tiny_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    make_peer_values(tiny_index, folder / "values", name="ridf")
    prune_index(tiny_index, folder / "values", folder / "pruned", reduction=0.2)
    return folder / "pruned"


def test_it_unpacks_to_the_same_files(pruned: Path, tmp_path: Path) -> None:
    report = pack_index(pruned, tmp_path / "mine.tar.gz")
    with tarfile.open(tmp_path / "mine.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    files = {path.name: path.read_bytes() for path in pruned.iterdir() if path.name != "write.lock"}
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == files
    assert report["files"] == len(files) and "tdv-manifest.json" in files
    packed = (tmp_path / "mine.tar.gz").read_bytes()
    assert report["bytes"] == len(packed)
    assert report["md5"] == hashlib.md5(packed).hexdigest()
    beside = json.loads((tmp_path / "mine.tar.gz.manifest.json").read_text())
    assert beside["sha256"] == report["sha256"] == hashlib.sha256(packed).hexdigest()


def test_the_same_index_gives_the_same_bytes(pruned: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first = pack_index(pruned, tmp_path / "mine.tar.gz")
    assert first["md5"] == pack_index(pruned, tmp_path / "again" / "mine.tar.gz")["md5"]


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(TdvError, match="Lucene index"):
        pack_index(tmp_path / "empty", tmp_path / "mine.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_another_suffix_is_refused(pruned: Path, tmp_path: Path) -> None:
    for name in ("mine.zip", ".tar.gz"):
        with pytest.raises(TdvError, match=r"output must be a file NAME\.tar\.gz, got"):
            pack_index(pruned, tmp_path / name)
    assert not [*tmp_path.iterdir()]


@pytest.mark.pyserini
def test_pyserini_unpacks_and_searches_it(pruned: Path, tmp_path: Path) -> None:
    from pyserini.util import download_and_unpack_index

    report = pack_index(pruned, tmp_path / "mine.tar.gz")
    (tmp_path / "cache").mkdir()
    folder = download_and_unpack_index(
        (tmp_path / "mine.tar.gz").as_uri(), str(tmp_path / "cache"), md5=report["md5"]
    )
    for index, run in ((folder, "there"), (pruned, "here")):
        search_index(index, TOPICS, tmp_path / run)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
