"""Wrong bytes in an index, and codecs nobody knows: told with their file, never a Java stack."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lucene_indexes import Doc, write_index
from pruning_inputs import field_plan

from tdv_lucene import Index, TdvError, extract_matrix, inspect_index
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.cli.indexes import inspect as inspect_command
from tdv_lucene.jvm import rewriter, searcher
from tdv_lucene.jvm.index import write_tokens
from tdv_lucene.jvm.searcher import open_searched
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.searching.run_lines import append_run

pytestmark = pytest.mark.jvm

BM25 = SearchParameters("bm25", k1=0.9, b=0.4)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = [f"word{i:03d}" for i in range(40)]
    docs = [Doc(f"d{i}", [words[(i * j) % 40] for j in range(1, 9)]) for i in range(300)]
    return write_index(tmp_path_factory.mktemp("damage") / "index", [docs])


@pytest.fixture(scope="module")
def vocabulary(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return extract_matrix(source, tmp_path_factory.mktemp("whole") / "matrix").vocabulary


def _flip(source: Path, to: Path, suffix: str, place: float) -> Path:
    """A copy with a byte inverted in the file of ``suffix``, at this share of its length."""
    shutil.copytree(source, to)
    path = next(to.glob(f"*{suffix}"))
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 0xFF
    path.write_bytes(content)
    return to


TOPICS = {"a": "word001 word002", "b": "word039 word020 word000"}


def _write_run(index: Path, scratch: Path) -> None:
    similarity = searcher.make_similarity(BM25)
    with open_searched(index, similarity, "contents", analysis=DEFAULT, threads=2) as find:
        append_run(find(TOPICS, 1000), [*TOPICS], scratch / "run", "t")


def _rewrite(index: Path, scratch: Path, vocabulary: Any) -> None:
    ones = field_plan(vocabulary, 1, 1.0)
    (scratch / "pruned").mkdir()
    rewriter.rewrite_index(index, scratch / "pruned", [ones], threads=2, user_data={})


def _verify(index: Path, other: Path, vocabulary: Any) -> None:
    ones = field_plan(vocabulary, 1, None)
    found = rewriter.prove_pruned(index, other, [ones], threads=2)
    assert "difference" not in found


def _open(index: Path) -> None:
    similarity = searcher.make_similarity(BM25)
    with open_searched(index, similarity, "contents", analysis=DEFAULT, threads=1):
        pass


Use = Callable[[Path, Path, Path, Any], object]
"""(damaged index, scratch folder, the whole index, its vocabulary)"""

SURE: dict[str, tuple[Use, set[str]]] = {
    "search": (lambda i, s, w, v: _write_run(i, s), {"tim", "tip", "doc", "nvd", "dvd"}),
    "open": (lambda i, s, w, v: _open(i), {"tim", "tip", "doc", "nvd", "dvd"}),
    "extract": (
        lambda i, s, w, v: extract_matrix(i, s / "m"),
        {"tim", "tip", "doc", "nvd", "dvd"},
    ),
    "prune": (lambda i, s, w, v: _rewrite(i, s, v), {"tim", "tip", "doc", "nvd", "dvd", "fdt"}),
    "verify": (lambda i, s, w, v: _verify(w, i, v), {"tim", "tip", "doc", "nvd", "dvd"}),
    "verify the source": (
        lambda i, s, w, v: _verify(i, w, v),
        {"tim", "tip", "doc", "nvd", "dvd"},
    ),
    "inspect": (
        lambda i, s, w, v: inspect_index(i),
        {"tim", "tip", "doc", "nvd", "dvd", "fdt", "si", "fnm", "segments_1"},
    ),
    "tokens": (lambda i, s, w, v: write_tokens(i, s / "tokens", DEFAULT), {"fdt"}),
}
"""What compares checksums first, and of which files: damage there is always told."""


@pytest.mark.parametrize("name", SURE)
def test_damage_is_told_before_anything_is_read_wrong(
    name: str, source: Path, vocabulary: Any, tmp_path: Path
) -> None:
    use, files = SURE[name]
    use(source, tmp_path, source, vocabulary)
    for suffix in sorted(files):
        for step, place in enumerate((0.3, 0.5, 0.75)):
            damaged = _flip(source, tmp_path / f"{suffix}-{step}", suffix, place)
            scratch = tmp_path / f"scratch-{suffix}-{step}"
            scratch.mkdir()
            with pytest.raises(TdvError) as told:
                use(damaged, scratch, source, vocabulary)
            message = str(told.value)
            assert f"{damaged} is damaged: " in message, (suffix, place)
            assert f"{suffix} " in message
            assert "does not match its checksum" in message or "wrong bytes at its end" in message
            assert "from a copy, or make it again" in message


@pytest.mark.parametrize("suffix", ["doc", "tim", "nvd", "fdt", "cfs", "segments_1"])
@pytest.mark.parametrize("change", ["cut", "gone"])
def test_files_cut_short_or_missing(
    change: str, suffix: str, source: Path, make_index, tmp_path: Path
) -> None:
    if suffix == "cfs":
        source = make_index([[Doc("a", ["x", "y"])]], compound=True)
    elif (change, suffix) == ("gone", "segments_1"):
        pytest.skip("then it is no index")
    damaged = shutil.copytree(source, tmp_path / "damaged")
    path = next(damaged.glob(f"*{suffix}"))
    if change == "gone":
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size - 3)
    with pytest.raises(TdvError) as told:
        inspect_index(damaged)
    assert f"{damaged} is damaged: {path.name}" in str(told.value)
    assert ("is missing" if change == "gone" else "cut short") in str(told.value)


def test_inspect_says_what_it_checked(source: Path, tmp_path: Path, monkeypatch) -> None:
    found = inspect_index(source)["checked"]
    names = [path for path in source.iterdir() if path.name != "write.lock"]
    assert found == {
        "files": len(names),
        "bytes": sum(path.stat().st_size for path in names),
        "checksums": True,
    }
    assert inspect_index(source, check=True)["checked"] == found
    shown = CliRunner().invoke(inspect_command, ["--index", str(source), "--check"])
    assert "all checksums verified" in shown.output
    damaged = _flip(source, tmp_path / "damaged", ".fdt", 0.5)
    refused = CliRunner().invoke(inspect_command, ["--index", str(damaged), "--check"])
    assert refused.exit_code != 0 and "can be pruned" not in refused.output


def test_damaged_norms_are_no_unknown_norms(source: Path, tmp_path: Path) -> None:
    """Also of an index whose checksums are not compared first."""
    from tdv_lucene.jvm.index import inspect

    damaged = _flip(source, tmp_path / "damaged", ".nvd", 0.5)
    with pytest.raises(TdvError, match=r"is damaged: _0\.nvd of segment _0"):
        inspect(damaged, False)
    with pytest.raises(TdvError, match=r"is damaged: _0\.nvd of segment _0"):
        extract_matrix(damaged, tmp_path / "matrix")


def test_unknown_codec_is_named(source: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(source, tmp_path / "copy")
    segments = next(copy.glob("segments_*"))
    content = segments.read_bytes()
    codec = next(name for name in (b"Lucene104", b"Lucene99") if name in content)
    content = content.replace(codec, b"Private" + codec[-(len(codec) - 7) :])[:-8]
    segments.write_bytes(content + zlib.crc32(content).to_bytes(8, "big"))
    with pytest.raises(TdvError, match=r"cannot be read by Lucene.*'Private\d*'"):
        with Index.open(copy):
            pass
