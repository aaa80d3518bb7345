"""What goes through Anserini's own classes: topics of each format, against its readers; and
indexing, flags passed on and failures made loud."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from command_line import json_of
from index_facts import analysis_of

from tdv_lucene import TdvError, build_index, inspect_index, read_topics
from tests.topic_files import FORMATS, write_topics

pytestmark = pytest.mark.jvm
WORDS = ["boundary", "layer", "flow", "naïve", "Übermut", "हिन्दी", "字", "𝄞", "3.5", "AT&T", "x-y"]


@pytest.mark.parametrize("form", FORMATS)
def test_generated_files_are_read_as_by_anserini(form, tmp_path):
    """What Anserini reads right: no colon, no markup, no leading zero, nothing on further lines."""
    random = np.random.default_rng(7)
    words = [word for word in WORDS if form != "Covid" or "&" not in word]
    numbers = random.permutation(5000)[:40] + 1
    topics = [
        (str(number), *(" ".join(random.choice(words, random.integers(3, 9))) for _ in range(3)))
        for number in numbers
    ]
    topics[0] = (topics[0][0], f"titles of {numbers[0]}", *topics[0][2:])
    path = tmp_path / "topics"
    path.write_text(write_topics(form, topics), encoding="utf-8")
    reader = form.partition(" ")[0]
    for field in ("title", "desc") if reader in ("Trec", "JsonString", "Ntcir") else ("title",):
        found = {qid.removeprefix("MB"): query for qid, query in read_topics(path, field).items()}
        told = read_topics(path, field, reader)
        assert found == {qid: " ".join(query.split()) for qid, query in told.items()}
        if form != "Car":
            at = 1 if field == "title" else 2
            assert found == {topic[0]: topic[at] for topic in topics}


def test_what_a_reader_of_anserini_left_out_is_told(tmp_path, caplog):
    path = tmp_path / "topics"
    path.write_text(write_topics("Trec", [("7", "BBC World Service: cuts", "a", "b")]))
    assert read_topics(path) == {"7": "BBC World Service: cuts"}
    assert not caplog.text
    assert read_topics(path, topic_reader="Trec") == {"7": "cuts"}
    assert "BBC, World, Service" in caplog.text


def test_readers_that_are_not_chosen_by_content(tmp_path):
    path = tmp_path / "topics"
    path.write_text("20001:1:obama family tree\n20002:2:kcs\n")
    with pytest.raises(TdvError, match="line 1: .*topic_reader"):
        read_topics(path)
    found = read_topics(path, topic_reader="PrioritizedWeb")
    assert found == {"20001": "obama family tree", "20002": "kcs"}


@pytest.mark.parametrize("reader", ["JsonIntVector", "JsonStringVector"])
def test_vectors_are_weights_of_terms(reader, tmp_path):
    path = tmp_path / "topics.jsonl"
    path.write_text('{"qid": 7, "vector": {"fox": 2, "##es": 1}}\n')
    assert read_topics(path, topic_reader=reader) == read_topics(path) == {"7": "fox fox ##es"}
    path.write_text('{"qid": 7, "vector": [0.5, -1.0]}\n')
    for asked in (reader, None):
        with pytest.raises(TdvError, match="topics.jsonl.*vector"):
            read_topics(path, topic_reader=asked)


@pytest.mark.parametrize("reader", ["NoSuch", "../x", "TopicReader"])
def test_no_such_reader(tmp_path, reader):
    (tmp_path / "topics").write_text("1\ttext\n")
    with pytest.raises(TdvError, match=f"topic_reader {reader}"):
        read_topics(tmp_path / "topics", topic_reader=reader)


def test_a_reader_that_fails(tmp_path):
    path = tmp_path / "topics"
    path.write_text("q1\ttext\n")
    with pytest.raises(TdvError, match=f"TsvIntTopicReader cannot read {path}"):
        read_topics(path, topic_reader="TsvInt")
    path.write_text("no xml\n")
    with pytest.raises(TdvError, match=f"{path} holds no topic"):
        read_topics(path, topic_reader="Covid")
    with pytest.raises(TdvError, match="topic_reader Covid .*robust04"):
        read_topics("robust04", topic_reader="Covid")


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


@pytest.mark.slow
def test_command_passes_flags_of_both_forms(tmp_path) -> None:
    index = tmp_path / "index"
    report = json_of("index", *_flags(tmp_path, "--storePositions", "-storeRaw"), "-index", index)
    assert (report["indexed"], report["errors"]) == (3, 0)
    found = inspect_index(index)
    assert found["documents"] == 3 and found["can_be_pruned"]
    assert found["defaults"].startswith("Anserini's k1 0.9, b 0.4")
    options = {field["name"]: field["index_options"] for field in found["fields"]}
    assert options["contents"] == "DOCS_AND_FREQS_AND_POSITIONS"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "files", "message"),
    [
        (["-bogus"], SOUND, '"-bogus" is not a valid option'),
        (["-input", "/nowhere"], SOUND, "Invalid collection path"),
        (["-append"], SOUND, "-append does not append"),
        # Anserini logs it, drops the rest of the file, and ends with status 0.
        ([], {**SOUND, "bad.jsonl": '{"id": "x", not json\n'}, "IndexCollection failed; nothing"),
        ([], {}, "no document was indexed"),
        ([], {"empty.jsonl": ""}, "no document was indexed"),
    ],
)
def test_what_cannot_be_indexed_leaves_nothing(more, files, message, tmp_path) -> None:
    with pytest.raises(TdvError, match=message):
        build_index(tmp_path / "index", _flags(tmp_path, *more, files=files))
    assert os.listdir(tmp_path) == ["docs"]


@pytest.mark.slow
def test_existing_output_is_refused_before_anything_runs(tmp_path) -> None:
    flags = _flags(tmp_path)
    (tmp_path / "index").mkdir()
    with pytest.raises(TdvError, match="exists"):
        build_index(tmp_path / "index", flags)
    with pytest.raises(TdvError, match="overlaps the input"):
        build_index(tmp_path / "docs", flags, overwrite=True)


@pytest.mark.slow
def test_a_language_is_recorded_and_no_input(tmp_path, monkeypatch) -> None:
    """Also where a folder has its name, as one for each language."""
    (tmp_path / "de").mkdir()
    monkeypatch.chdir(tmp_path)
    flags = _flags(tmp_path, "-language", "de")
    assert build_index("de/index", flags)["indexed"] == 3
    assert analysis_of(Path("de/index")).describe() == "German (recorded in the index)"
    with pytest.raises(TdvError, match="language must be one of"):
        build_index("de/other", [*flags[:-1], "xx"])
