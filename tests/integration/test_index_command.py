"""Indexing through Anserini: flags passed on, failures made loud."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import json_of

from tdv_lucene import TdvError, build_index, inspect_index

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

DOCS = ["pruning inverted indexes", "discrimination values of terms", "indexes of documents"]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = [json.dumps({"id": f"d{i}", "contents": text}) for i, text in enumerate(DOCS)]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    return folder


def _flags(collection: Path, *more: str) -> list[str]:
    return [
        "--collection", "JsonCollection", "-input", str(collection),
        "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", *more,
    ]  # fmt: skip


def test_command_passes_flags_of_both_forms(collection: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    flags = _flags(collection, "--storePositions", "-storeRaw")
    report = json_of("index", *flags, "-index", index)
    assert (report["indexed"], report["errors"]) == (3, 0)
    found = inspect_index(index)
    assert found["documents"] == 3 and found["can_be_pruned"]
    assert found["defaults"].startswith("Anserini's k1 0.9, b 0.4")
    options = {field["name"]: field["index_options"] for field in found["fields"]}
    assert options["contents"] == "DOCS_AND_FREQS_AND_POSITIONS"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-bogus"], '"-bogus" is not a valid option'),
        (["-input", "/nowhere"], "Invalid collection path"),
        (["-append"], "-append would change an existing index"),
    ],
)
def test_refused_flags_leave_nothing(more, message, collection, tmp_path) -> None:
    with pytest.raises(TdvError, match=message):
        build_index(tmp_path / "index", _flags(collection, *more))
    assert os.listdir(tmp_path) == ["docs"]


def test_unreadable_documents_are_an_error(collection: Path, tmp_path: Path) -> None:
    """Anserini logs them, drops the rest of the file, and ends with status 0."""
    (collection / "bad.jsonl").write_text('{"id": "x", not json\n')
    with pytest.raises(TdvError, match="IndexCollection failed; nothing was written"):
        build_index(tmp_path / "index", _flags(collection))
    assert os.listdir(tmp_path) == ["docs"]


def test_existing_output_is_refused_before_anything_runs(collection, tmp_path) -> None:
    (tmp_path / "index").mkdir()
    with pytest.raises(TdvError, match="exists"):
        build_index(tmp_path / "index", _flags(collection))
    with pytest.raises(TdvError, match="overlaps the input"):
        build_index(collection, _flags(collection), overwrite=True)


def test_a_language_is_no_input(collection, tmp_path, monkeypatch) -> None:
    """Also where a folder has its name, as one for each language."""
    (tmp_path / "de").mkdir()
    monkeypatch.chdir(tmp_path)
    built = build_index("de/index", _flags(collection, "-language", "de"))
    assert built["indexed"] == 3


@pytest.mark.parametrize("files", [{}, {"empty.jsonl": ""}])
def test_indexing_nothing_is_refused(files, tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in files.items():
        (tmp_path / "docs" / name).write_text(text)
    with pytest.raises(TdvError):
        build_index(tmp_path / "index", _flags(tmp_path / "docs"))
    assert os.listdir(tmp_path) == ["docs"]
