"""Wrong bytes in an index or a result: told with their file, never a Java stack."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from lucene_indexes import Doc, write_index
from manifest_changes import changes_of
from pruning_inputs import field_plan
from tiny_collection import tiny_segments

from tdv_lucene import TdvError, extract_matrix, inspect_index, load_matrix, make_peer_values
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.jvm import rewriter, searcher
from tdv_lucene.jvm.index import inspect, write_tokens
from tdv_lucene.jvm.searcher import open_searched
from tdv_lucene.matrix.embed import embed_terms, load_term_vectors
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.searching.run_lines import append_run
from tdv_lucene.values.term_values import TermValues

pytestmark = pytest.mark.jvm


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
    similarity = searcher.make_similarity(SearchParameters("bm25", k1=0.9, b=0.4))
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


Use = Callable[[Path, Path, Path, Any], object]
"""(damaged index, scratch folder, the whole index, its vocabulary)"""

_OF_TERMS = {"tim", "tip", "doc", "nvd", "dvd"}
SURE: dict[str, tuple[Use, set[str]]] = {
    "search": (lambda i, s, w, v: _write_run(i, s), _OF_TERMS),
    "extract": (lambda i, s, w, v: extract_matrix(i, s / "m"), _OF_TERMS),
    "prune": (lambda i, s, w, v: _rewrite(i, s, v), {*_OF_TERMS, "fdt"}),
    "verify": (lambda i, s, w, v: _verify(w, i, v), _OF_TERMS),
    "verify the source": (lambda i, s, w, v: _verify(i, w, v), _OF_TERMS),
    "inspect": (
        lambda i, s, w, v: inspect_index(i),
        {*_OF_TERMS, "fdt", "si", "fnm", "segments_1"},
    ),
    "tokens": (lambda i, s, w, v: write_tokens(i, s / "tokens", DEFAULT), {"fdt"}),
}
"""What compares checksums first, and of which files: damage there is always told."""


@pytest.mark.parametrize("name", SURE)
def test_damage_is_told_before_anything_is_read_wrong(name, source, vocabulary, tmp_path) -> None:
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
def test_files_cut_short_or_missing(change, suffix, source, make_index, tmp_path) -> None:
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
    words = ["inspect", "--check", "--index"]
    assert "all checksums verified" in run_command(*words, source).output
    damaged = _flip(source, tmp_path / "damaged", ".fdt", 0.5)
    with pytest.raises(TdvError, match="damaged"):
        run_command(*words, damaged)


def test_damaged_norms_are_no_unknown_norms(source: Path, tmp_path: Path) -> None:
    """Also of an index whose checksums are not compared first."""
    damaged = _flip(source, tmp_path / "damaged", ".nvd", 0.5)
    with pytest.raises(TdvError, match=r"is damaged: _0\.nvd of segment _0"):
        inspect(damaged, False)
    with pytest.raises(TdvError, match=r"is damaged: _0\.nvd of segment _0"):
        extract_matrix(damaged, tmp_path / "matrix")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("results")
    write_index(home / "index", tiny_segments())
    extract_matrix(home / "index", home / "matrix")
    embed_terms(home / "index", home / "vectors", dimensions=2, min_doc_freq=1)
    make_peer_values(home / "index", home / "values", "carmel-delta")
    return home


def _read_vectors(folder: Path) -> Any:
    return load_term_vectors(folder, load_matrix(folder.parent / "matrix"))


KINDS: dict[str, Callable[[Path], Any]] = {
    "matrix": load_matrix, "vectors": _read_vectors, "values": TermValues.load,
}  # fmt: skip


@pytest.fixture(params=KINDS)
def result(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> tuple[Path, Callable]:
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home" / request.param, KINDS[request.param]


def test_every_file_is_watched(result: tuple[Path, Callable]) -> None:
    folder, read = result
    read(folder)
    for path in sorted(folder.glob("*.npy")):
        content = path.read_bytes()
        flipped = bytearray(content)
        flipped[-1] ^= 1
        damages = {
            "do not match their checksum": flipped,
            "bytes are listed|bytes, .* are listed": content[: len(content) // 2],
            "bytes, .* are listed": b"",
        }
        for said, damage in damages.items():
            path.write_bytes(damage)
            with pytest.raises(TdvError, match=f"is damaged.*{path.name}.*({said})"):
                read(folder)
        path.unlink()
        with pytest.raises(TdvError, match=f"is damaged.*{path.name}.*missing"):
            read(folder)
        path.write_bytes(content)
    read(folder)


def test_no_entry_of_a_manifest_is_trusted(result: tuple[Path, Callable]) -> None:
    """Every entry, at any depth, left out or of another type: read as before, or refused."""
    folder, read = result
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    refused = 0
    for changed in changes_of(manifest):
        path.write_text(json.dumps(changed))
        try:
            found = read(folder)
            if isinstance(found, TermValues):
                _use(found)
        except TdvError:
            refused += 1
    assert refused > 10


def _use(values: TermValues) -> None:
    """All that pruning makes of values before it writes."""
    values.summary()
    values.at_reduction(0.3)
    values.at_reduction(0.2, unit="posting")
