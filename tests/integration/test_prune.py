"""The prune stage end to end: reports, what the index records, and every refusal."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from lucene_indexes import Doc, Layout, open_writer, write_index
from lucene_reading import check_index
from oracle import ANSERINI, assert_pruned
from pruning_inputs import bytes_of, read_user_data, values_of
from tiny_collection import tiny_segments

from tdv_lucene import TdvError, TermDocumentMatrix, extract_matrix, inspect_index, make_peer_values
from tdv_lucene.jvm import lucene_version, pyserini_jar
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.values.term_values import TermValues

pytestmark = pytest.mark.jvm


@pytest.fixture
def tiny_matrix(tiny_index: Path, tmp_path: Path) -> TermDocumentMatrix:
    return extract_matrix(tiny_index, tmp_path / "matrix")


@pytest.fixture
def tiny_values(tiny_matrix: TermDocumentMatrix) -> TermValues:
    return values_of(tiny_matrix)


def _leftovers(folder: Path, *expected: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name not in ("matrix", *expected))


@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_report_manifest_and_user_data_agree(tf, tiny_index, tiny_matrix, tiny_values, tmp_path):
    output = tmp_path / "pruned"
    report = prune_index(tiny_index, tiny_values, output, reduction=0.3, tf=tf)

    scale = 4 if tf == "scaled" else None
    point = tiny_values.at_reduction(0.3)
    found = assert_pruned(tiny_matrix, output, point, scale, tmp_path / "found")
    check_index(output)
    assert report["postings"] == found.postings < tiny_matrix.postings
    assert report["reduction"] == pytest.approx(1 - found.postings / tiny_matrix.postings)
    assert report["reduction"] == pytest.approx(point.reduction)
    manifest = json.loads((output / "tdv-manifest.json").read_text())
    alone = {"output": str(output), "shards": [], "network": None, "other_fields": []}
    assert {**manifest, **report} == {**manifest, **alone}
    data = read_user_data(output)
    expected = (*ANSERINI, 4000 if tf == "scaled" else 1000)
    found_parameters = [float(data[f"tdv.search.{name}"]) for name in ("k1", "b", "mu")]
    assert found_parameters == pytest.approx(expected)
    assert float(data["tdv.reduction"]) == pytest.approx(report["reduction"])
    for name in ("version", "field", "model", "tf", "unit", "plan_sha256"):
        assert data[f"tdv.{name}"] == str(report[name])
    assert data["tdv.source_commit"] == tiny_matrix.source["commit"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"min_doc_freq": 5}, "min_doc_freq 5 .*'contents'.* 4 "),
        ({"min_doc_freq": 5, "reduction": 0.0}, "min_doc_freq 5 .*'contents'.* 4 "),
        ({"scale": 1e12}, "smaller scale"),
        ({"max_loss": 0.01}, "max_loss"),
        ({"max_bytes": 10}, "max_bytes 10 "),
        ({"queries": "log.tsv"}, "queries .*TDVs"),
    ],
)
def test_bad_parameters_leave_nothing(options, named, tiny_index, tiny_values, tmp_path):
    with pytest.raises(TdvError, match=named):
        prune_index(tiny_index, tiny_values, tmp_path / "pruned", **options)
    assert _leftovers(tmp_path) == []


@pytest.mark.parametrize(
    "layout", [{}, {"options": "DOCS_AND_FREQS_AND_POSITIONS", "vectors": "v"}]
)
def test_a_boost_needs_positions(layout, make_index, tmp_path):
    index = make_index(tiny_segments(), **layout)
    values = values_of(extract_matrix(index, tmp_path / "matrix"))
    boosted = {**values.manifest, "lead": {"boost": 3.0, "span": 2.0}}
    with pytest.raises(TdvError, match="'contents'.*no positions"):
        prune_index(index, replace(values, manifest=boosted), tmp_path / "pruned")
    assert not (tmp_path / "pruned").exists()


def _write_newer_format(path: Path) -> None:
    """Raise the version in the header of segments_N by one hundred; the checksum is right."""
    segments = next(path.glob("segments_*"))
    content = bytearray(segments.read_bytes())
    version_at = 4 + 1 + len("segments")  # magic, length-prefixed codec name
    content[version_at + 3] += 100
    content[-8:] = zlib.crc32(content[:-8]).to_bytes(8, "big")
    segments.write_bytes(content)


def _damaged(path: Path) -> None:
    write_index(path, [[Doc("a", ["x", "y"])]])
    postings = next(path.glob("*.doc"))
    content = bytearray(postings.read_bytes())
    content[-1] ^= 255  # the checksum at the end
    postings.write_bytes(content)


def _newer(path: Path) -> None:
    write_index(path, [[Doc("a", ["x", "y"])]])
    _write_newer_format(path)


def _layout(**layout: object) -> Callable[[Path], object]:
    docs = [Doc("a", ["x"]), Doc("b", ["x", "y"] * 2)]
    return lambda path: write_index(path, [docs], Layout(**layout))


def test_locked_index_is_refused(make_index, tmp_path):
    source = make_index([[Doc("a", ["x"])]])
    make_peer_values(source, tmp_path / "values", name="df")
    writer = open_writer(source)
    try:
        with pytest.raises(TdvError, match="locked"):
            prune_index(source, tmp_path / "values", tmp_path / "pruned")
    finally:
        writer.close()
    assert _leftovers(tmp_path, "index", "values") == []


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([Doc("a", ["x", "y", "z"])], "'z'"),
        ([Doc("a", ["x", "ya", "y"])], "'ya'"),
        ([Doc("a", ["x", b"\xff\xfe"])], r"\[ff fe\]"),
        ([Doc("a", ["x"])], "'y'"),
        ([Doc("a", ["x"]), Doc("b", ["y"], deleted=True)], "'y'"),
        ([Doc("a", [])], "'x'"),
    ],
)
def test_values_of_another_vocabulary_are_refused(docs, message, make_index, tmp_path):
    learned_on = make_index([[Doc("a", ["x", "y"])]], name="learned-on")
    values = values_of(extract_matrix(learned_on, tmp_path / "matrix"))
    unknown = replace(values, manifest={**values.manifest, "source": {}})  # may not have changed
    index = make_index([[Doc("first", ["x"] if docs[0].tokens else [])], docs])
    with pytest.raises(TdvError, match="another vocabulary.*" + message):
        prune_index(index, unknown, tmp_path / "pruned")
    assert _leftovers(tmp_path, "index", "learned-on") == []


@pytest.mark.parametrize("last, is_asked", [(["x", "y", "z"], False), (["z"] * 3, True)])
def test_values_of_another_index_of_like_words_are_asked_about(
    last, is_asked, make_index, tmp_path, caplog
):
    """Where it is another, and much moved: a copy that grew is no stranger."""
    docs = [Doc(f"d{i}", ["x", "y", "z"]) for i in range(9)]
    values = values_of(extract_matrix(make_index([docs], name="learned-on"), tmp_path / "matrix"))
    changed = [*docs[:5], *(Doc(f"e{i}", [last[i % 3]]) for i in range(9))]
    prune_index(make_index([changed]), values, tmp_path / "pruned", reduction=0)
    assert "were learned on another commit" in caplog.text
    assert ("Is this the collection that they were learned on?" in caplog.text) == is_asked


def test_nested_documents_of_lucene_10_stay_nested(make_index, tmp_path):
    """Its writers want the field that marks parents said beforehand."""
    if lucene_version(pyserini_jar())[0] < 10:
        pytest.skip("Lucene 9 has no such field")
    blocks = [
        [Doc("child1", ["x"]), Doc("child2", ["y", "x"]), Doc("parent1", ["x", "z"])],
        [Doc("child3", ["z"]), Doc("parent2", ["x"])],
    ]
    for sort in (False, True):
        index = make_index(blocks, name=f"sorted-{sort}", parent="is_parent", sort=sort)
        matrix = extract_matrix(index, tmp_path / f"matrix-{sort}")
        pruned = tmp_path / f"pruned-{sort}"
        prune_index(index, values_of(matrix), pruned, reduction=0.3)
        check_index(pruned)
        assert verify_pruned(index, pruned)["equal"]
        marks = [field for field in inspect_index(pruned)["fields"] if field["name"] == "is_parent"]
        assert [mark["doc_values"] for mark in marks] == ["NUMERIC"]


@pytest.mark.parametrize("limit", [300, 2_000], ids=["in-python", "in-java"])
def test_full_disk_is_told_and_nothing_left(limit, make_index, tmp_path):
    """A limit on the size of files stands in for a full disk."""
    words = random.Random(0).choices([f"word{i}" for i in range(40)], k=3_000)
    source = make_index([[Doc("long", words)]])  # its stored text exceeds the limits
    values_of(extract_matrix(source, tmp_path / "matrix")).save(tmp_path / "values")
    program = (
        "import resource, signal, sys\n"
        "from tdv_lucene.cli import main\n"
        "from tdv_lucene.jvm import start\n"
        "start()\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "sys.argv[0] = 'tdv-lucene'\n"
        "main()\n"
    )
    # -B: byte code cut off at the limit would poison every later import
    command = [sys.executable, "-B", "-c", program, "prune", "--index", str(source)]
    command += ["--tdv", str(tmp_path / "values"), "--output", str(tmp_path / "pruned")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 2, done.stderr
    assert str(tmp_path / "pruned") in done.stderr and "Traceback" not in done.stderr
    assert _leftovers(tmp_path, "index", "values") == []


def _path(values: TermValues, *shape: tuple[float, float]) -> TermValues:
    """The values with operating points of (reduction, nDCG@5); the full index has .5.

    The interval of each difference reaches .002 to either side.
    """
    points = [
        {"reduction": r, "scale": 4, "scales": [], "measures": {"nDCG@5": m, "R@1000": 1.0},
         "full": {"nDCG@5": 0.5, "R@1000": 1.0},
         "difference": {"nDCG@5": {"mean": m - 0.5, "ci95": [m - 0.502, m - 0.498]},
                        "R@1000": {"mean": 0.0, "ci95": [-0.002, 0.002]}}}
        for r, m in shape
    ]  # fmt: skip
    return replace(values, manifest={**values.manifest, "points": points})


def test_a_tolerated_loss_chooses_the_point(tiny_index, tiny_matrix, tmp_path) -> None:
    values = _path(values_of(tiny_matrix), (0.0, 0.6), (0.3, 0.5), (0.6, 0.2))
    report = prune_index(tiny_index, values, tmp_path / "P", max_loss=0.01)
    assert report["chosen"]["reduction"] == 0.3 and report["chosen"]["loss"] == 0
    assert report["chosen"]["measures"]["nDCG@5"] == 0.5
    assert report["reduction"] == pytest.approx(0.3, abs=0.1)
    assert json.loads((tmp_path / "P" / "tdv-manifest.json").read_text())["chosen"]
    harmful = _path(values, (0.3, 0.4), (0.6, 0.2))
    aimless = replace(harmful, manifest={**harmful.manifest, "recommended_reduction": None})
    for refused, options, named in (
        (harmful, {"max_loss": 0.01}, "max_loss"),
        (aimless, {}, r"0.3 \(0.4000\), 0.6 \(0.2000\).*reduction, max_loss or max_bytes"),
    ):
        with pytest.raises(TdvError, match=named):
            prune_index(tiny_index, refused, tmp_path / "Q", **options)
    assert not (tmp_path / "Q").exists()


def test_command_prints_the_parameters_to_search_with(tiny_index, tiny_values, tmp_path):
    from tdv_lucene.cli.prune import prune as command

    tiny_values.save(tmp_path / "values")
    arguments = ["--index", str(tiny_index), "--tdv", str(tmp_path / "values")]
    shown = CliRunner().invoke(command, [*arguments, "--output", str(tmp_path / "pruned")])
    assert shown.exit_code == 0, shown.output
    assert "(k1 0.9, b 0.4)" in shown.output
    assert "qld" not in shown.output, "nothing is known of these values under another model"
    assert re.search(r"reduction +4\d\.\d %", shown.output) and "45.0 %" in shown.output
    report = json.loads((tmp_path / "pruned" / "tdv-manifest.json").read_text())
    assert report["bytes"] == bytes_of(tmp_path / "pruned")
    assert report["bytes_before"] == bytes_of(tiny_index)
    assert f"{report['bytes_before']:,}" in shown.output
    arguments += ["--output", str(tmp_path / "again"), "--json", "--scale", "2"]
    report = json.loads(CliRunner().invoke(command, arguments).output)
    assert report["search"] == {"k1": 0.9, "b": 0.4, "mu": 2000, "min_idf": 0}
    assert report["baked"] == {"k1": 1.8, "b": 0.4}
    assert report["norms"]["beyond"] == 0


@pytest.mark.parametrize(
    ("about", "options", "told", "not_told"),
    [
        ({"model": "qld"}, [], ["--qld --mu 4000", "set_qld(4000)", "-qld.mu 4000"], ["k1", "bm"]),
        ({"model": "tfidf"}, [], ["open_searcher"], ["k1", "bm25", "qld"]),
        ({"model": "any"}, [], ["--k1 3.6", "-qld.mu 4000"], []),
        # 1.6 * 3 is not 4.8
        ({"parameters": {"k1": 1.6, "b": 0.4}}, ["--scale", "3", "--search-as", "recorded"],
         ["--k1 4.8 "], ["qld"]),
    ],
)  # fmt: skip
def test_only_validated_parameters_are_told_and_as_people_write_them(
    about, options, told, not_told, tiny_index, tiny_values, tmp_path
):
    from tdv_lucene.cli.prune import prune as command

    replace(tiny_values, manifest={**tiny_values.manifest, **about}).save(tmp_path / "V")
    arguments = ["--index", tiny_index, "--tdv", tmp_path / "V", "--output", tmp_path / "P"]
    given = [str(a) for a in [*arguments, "--reduction", "0.3", *options]]
    shown = CliRunner().invoke(command, given).output
    advice = shown.partition("documents_without_terms")[2]
    assert all(text in advice for text in told) and not any(text in advice for text in not_told)
    assert "recommended" not in shown


def test_values_of_nothing_but_zeros_are_refused(tiny_index, tiny_matrix, tmp_path):
    values = values_of(tiny_matrix, np.zeros(tiny_matrix.shape[0]))
    with pytest.raises(TdvError, match="0.3 .*'contents'.*reduction.*min_doc_freq"):
        prune_index(tiny_index, values, tmp_path / "P", reduction=0.3)
    assert _leftovers(tmp_path) == []
