"""Several fields pruned in one rewrite, each with its own values; and one segment of many."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import TINY_TEXTS
from lucene_indexes import Doc, Layout, write_index
from oracle import assert_pruned
from test_prune import _values

from tdv_lucene.cli.prune import command
from tdv_lucene.errors import TdvError
from tdv_lucene.extract import extract_matrix
from tdv_lucene.inspect_index import inspect_index
from tdv_lucene.jvm import rewriter
from tdv_lucene.jvm.index import read_user_data
from tdv_lucene.prune import prune_index
from tdv_lucene.search import search_index
from tdv_lucene.verify import verify_pruned

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
    return {n: _values(matrices[n], weights[n][:: 1 if n == "contents" else -1], scales[n])
            for n in FIELDS}  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_each_field_has_its_own_values(tf, optimize, source, matrices, values, tmp_path) -> None:
    pruned = tmp_path / "pruned"
    report = prune_index(
        source, values["contents"], pruned, others=[values["title"]], reduction=0.3, tf=tf,
        optimize=optimize,
    )  # fmt: skip
    rewriter.check_index(pruned)
    data = read_user_data(pruned)
    for name in FIELDS:
        point = values[name].at_reduction(0.3, original_tf=tf == "original")
        found = assert_pruned(matrices[name], pruned, point.tdv, point.scale, tmp_path / "found")
        said = report if name == "contents" else report["fields"][name]
        assert said["postings"] == found.postings < matrices[name].postings
        recorded = "tdv." if name == "contents" else f"tdv.fields.{name}."
        assert data[recorded + "values_sha256"] == said["values_sha256"]
        assert float(data[recorded + "scale"]) == (point.scale or 1)
        assert float(data[recorded + "reduction"]) == pytest.approx(
            1 - found.postings / matrices[name].postings
        )
    assert len(inspect_index(pruned)["segments"]) == report["segments"] == (1 if optimize else 3)
    manifest = json.loads((pruned / "tdv-manifest.json").read_text())
    assert manifest["fields"]["title"] == report["fields"]["title"]
    run = tmp_path / "run"
    search_index(pruned, {"1": "pruned index terms"}, run)
    assert run.read_text().splitlines()
    with pytest.raises(TdvError, match=r"several fields \(contents, title\)"):
        verify_pruned(source, pruned, values["contents"])


def test_one_segment_of_a_single_field_is_verified(source, values, tmp_path) -> None:
    pruned = tmp_path / "pruned"
    assert prune_index(source, values["contents"], pruned, optimize=True)["segments"] == 1
    assert verify_pruned(source, pruned, values["contents"])["equal"]


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        (("contents", "contents"), {}, "two sets of values for the field 'contents'"),
        (FIELDS, {"tf": "similarity"}, "tf similarity is for one field, got.*contents, title"),
        (FIELDS, {"max_loss": 0.1}, "max_loss is for one field"),
    ],
)
def test_what_is_for_one_field_is_refused(fields, options, message, source, values, tmp_path):
    first, second = (values[name] for name in fields)
    with pytest.raises(TdvError, match=message):
        prune_index(source, first, tmp_path / "pruned", others=[second], **options)
    assert not (tmp_path / "pruned").exists()


def test_command_takes_values_by_field(source, values, tmp_path) -> None:
    for name in FIELDS:
        values[name].save(tmp_path / name)
    arguments = ["--index", str(source), "--tdv", str(tmp_path / "contents"), "--optimize"]
    titled = ["--tdv", f"title={tmp_path / 'title'}", "--json"]
    done = CliRunner().invoke(command, [*arguments, *titled, "--output", str(tmp_path / "p")])
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert (report["field"], [*report["fields"]], report["segments"]) == ("contents", ["title"], 1)
    wrong = ["--tdv", f"title={tmp_path / 'contents'}", "--output", str(tmp_path / "q")]
    done = CliRunner().invoke(command, [*arguments, *wrong])
    assert "holds values of 'contents', not of 'title'" in str(done.exception)
