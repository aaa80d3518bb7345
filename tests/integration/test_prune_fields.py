"""Several fields pruned in one rewrite, each with its own values; and one segment of many."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import json_of, run_command
from lucene_indexes import Doc, Layout, write_index
from lucene_reading import check_index
from oracle import assert_pruned
from pruning_inputs import read_user_data, values_of
from tiny_collection import TINY_TEXTS

from tdv_lucene import Index, TdvError, extract_matrix, inspect_index, prune_index, verify_pruned
from tdv_lucene.jvm import rewriter
from tdv_lucene.plan import FOLDER
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

FIELDS = ("contents", "title")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny texts with their last words as titles, in three segments."""
    docs = [Doc(f"d{i}", text.split(), text.split()[-3:]) for i, text in enumerate(TINY_TEXTS)]
    path = tmp_path_factory.mktemp("fields") / "index"
    layout = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="v", title_vectors="v")
    return write_index(path, [docs[:4], docs[4:8], docs[8:]], layout)


@pytest.fixture
def matrices(source: Path, tmp_path: Path) -> dict:
    return {
        name: extract_matrix(source, tmp_path / f"matrix-{name}", field=name) for name in FIELDS
    }


@pytest.fixture
def values(matrices: dict) -> dict:
    scales = {"contents": 4, "title": 2}
    weights = {n: np.linspace(0.4, 1.6, m.shape[0], dtype=np.float32) for n, m in matrices.items()}
    return {n: values_of(matrices[n], weights[n][:: 1 if n == "contents" else -1], scales[n])
            for n in FIELDS}  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_each_field_has_its_own_values(tf, optimize, source, matrices, values, tmp_path) -> None:
    pruned = tmp_path / "pruned"
    report = prune_index(
        source, values["contents"], pruned, others=[values["title"]], reduction=0.3, tf=tf,
        optimize=optimize,
    )  # fmt: skip
    check_index(pruned)
    data = read_user_data(pruned)
    for name in FIELDS:
        point = values[name].at_reduction(0.3)
        scale = point.scale if tf == "scaled" else None
        found = assert_pruned(matrices[name], pruned, point, scale, tmp_path / "found")
        said = report if name == "contents" else report["fields"][name]
        assert said["postings"] == found.postings < matrices[name].postings
        recorded = "tdv." if name == "contents" else f"tdv.fields.{name}."
        assert data[recorded + "plan_sha256"] == said["plan_sha256"]
        assert float(data[recorded + "scale"]) == (scale or 1)
        assert float(data[recorded + "reduction"]) == pytest.approx(
            1 - found.postings / matrices[name].postings
        )
    assert len(inspect_index(pruned)["segments"]) == report["segments"] == (1 if optimize else 3)
    manifest = json.loads((pruned / "tdv-manifest.json").read_text())
    assert manifest["fields"]["title"] == report["fields"]["title"]
    run = tmp_path / "run"
    search_index(pruned, {"1": "pruned index terms"}, run)
    assert run.read_text().splitlines()
    found = verify_pruned(source, pruned)
    assert found["equal"], found
    assert found["postings"] == report["postings"] + report["fields"]["title"]["postings"]


def test_wrong_second_field_is_found(source, matrices, values, tmp_path) -> None:
    """The same record and plan over an index in which the titles were pruned otherwise, or not."""
    pruned = tmp_path / "pruned"
    prune_index(source, values["title"], pruned, others=[values["contents"]])
    assert verify_pruned(source, pruned)["equal"]
    with Index.open(pruned) as opened:
        title, contents = opened.plan.fields
    otherwise = replace(title, tdv=np.ones_like(title.tdv))
    for name, fields in (("none", [contents]), ("others", [otherwise, contents])):
        lying = tmp_path / name
        lying.mkdir()
        rewriter.rewrite_index(source, lying, fields, threads=1, user_data=read_user_data(pruned))
        shutil.copytree(pruned / FOLDER, lying / FOLDER)
        difference = verify_pruned(source, lying)["difference"]
        is_title = difference.get("field") == "title" or "'title'" in difference["what"]
        assert is_title, difference


def test_what_an_earlier_pruning_recorded_is_not_taken_for_this_one(
    source, values, tmp_path
) -> None:
    """The user data still has the title's entries, of the source's own pruning."""
    pruned = tmp_path / "pruned"
    both = [values["title"]]
    prune_index(source, values["contents"], pruned, others=both, search_as="recorded")
    again = values_of(extract_matrix(pruned, tmp_path / "again-matrix"))
    prune_index(pruned, again, tmp_path / "again", reduction=0.2)
    assert "tdv.fields.title.plan_sha256" in read_user_data(tmp_path / "again")
    assert verify_pruned(pruned, tmp_path / "again")["equal"]


def test_command_takes_values_by_field(source, values, tmp_path) -> None:
    for name in FIELDS:
        values[name].save(tmp_path / name)
    words = ["prune", "--index", source, "--tdv", tmp_path / "contents", "--optimize"]
    titled = ["--tdv", f"title={tmp_path / 'title'}", "--output", tmp_path / "p"]
    report = json_of(*words, *titled)
    assert (report["field"], [*report["fields"]], report["segments"]) == ("contents", ["title"], 1)
    with pytest.raises(TdvError, match="'title'"):
        run_command(*words, "--tdv", f"title={tmp_path / 'contents'}", "--output", tmp_path / "q")
    assert json_of("verify", "--index", source, "--pruned", tmp_path / "p")["equal"]


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        (("contents", "contents"), {}, "'contents'"),
        (FIELDS, {"max_loss": 0.1}, "max_loss .*contents, title"),
        (FIELDS, {"max_bytes": 1_000}, "max_bytes .*contents, title"),
    ],
)
def test_what_is_for_one_field_is_refused(fields, options, message, source, values, tmp_path):
    first, second = (values[name] for name in fields)
    with pytest.raises(TdvError, match=message):
        prune_index(source, first, tmp_path / "pruned", others=[second], **options)
    assert not (tmp_path / "pruned").exists()
