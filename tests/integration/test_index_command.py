"""Indexing through Anserini: flags passed on, failures made loud."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import json_of
from index_facts import analysis_of

from tdv_lucene import TdvError, build_index, inspect_index

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

DOCS = ["pruning inverted indexes", "discrimination values of terms", "indexes of documents"]
SOUND = {
    "docs.jsonl": "\n".join(
        json.dumps({"id": f"d{i}", "contents": text}) for i, text in enumerate(DOCS)
    )
}


def _flags(tmp_path: Path, *more: str, files: dict[str, str] = SOUND) -> list[str]:
    """Flags to index these files, which are written."""
    (tmp_path / "docs").mkdir()
    for name, text in files.items():
        (tmp_path / "docs" / name).write_text(text)
    return [
        "--collection", "JsonCollection", "-input", str(tmp_path / "docs"),
        "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", *more,
    ]  # fmt: skip


def test_command_passes_flags_of_both_forms(tmp_path) -> None:
    index = tmp_path / "index"
    report = json_of("index", *_flags(tmp_path, "--storePositions", "-storeRaw"), "-index", index)
    assert (report["indexed"], report["errors"]) == (3, 0)
    found = inspect_index(index)
    assert found["documents"] == 3 and found["can_be_pruned"]
    assert found["defaults"].startswith("Anserini's k1 0.9, b 0.4")
    options = {field["name"]: field["index_options"] for field in found["fields"]}
    assert options["contents"] == "DOCS_AND_FREQS_AND_POSITIONS"


@pytest.mark.parametrize(
    ("more", "files", "message"),
    [
        (["-bogus"], SOUND, '"-bogus" is not a valid option'),
        (["-input", "/nowhere"], SOUND, "Invalid collection path"),
        (["-append"], SOUND, "-append would change an existing index"),
        # Anserini logs it, drops the rest of the file, and ends with status 0.
        ([], {**SOUND, "bad.jsonl": '{"id": "x", not json\n'}, "IndexCollection failed; nothing"),
        ([], {}, ""),
        ([], {"empty.jsonl": ""}, ""),
    ],
)
def test_what_cannot_be_indexed_leaves_nothing(more, files, message, tmp_path) -> None:
    with pytest.raises(TdvError, match=message):
        build_index(tmp_path / "index", _flags(tmp_path, *more, files=files))
    assert os.listdir(tmp_path) == ["docs"]


def test_existing_output_is_refused_before_anything_runs(tmp_path) -> None:
    flags = _flags(tmp_path)
    (tmp_path / "index").mkdir()
    with pytest.raises(TdvError, match="exists"):
        build_index(tmp_path / "index", flags)
    with pytest.raises(TdvError, match="overlaps the input"):
        build_index(tmp_path / "docs", flags, overwrite=True)


def test_a_language_is_recorded_and_no_input(tmp_path, monkeypatch) -> None:
    """Also where a folder has its name, as one for each language."""
    (tmp_path / "de").mkdir()
    monkeypatch.chdir(tmp_path)
    flags = _flags(tmp_path, "-language", "de")
    assert build_index("de/index", flags)["indexed"] == 3
    assert analysis_of(Path("de/index")).describe() == "German (recorded in the index)"
    with pytest.raises(TdvError, match="language must be one of"):
        build_index("de/other", [*flags[:-1], "xx"])
