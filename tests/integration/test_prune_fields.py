"""Several fields pruned in one rewrite, each with its own values; and one segment of many."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from lucene_indexes import Doc, Layout, write_index
from lucene_reading import check_index
from oracle import ANSERINI, assert_pruned
from pruning_inputs import values_of
from tiny_collection import TINY_TEXTS

from tdv_lucene.cli.prune import command
from tdv_lucene.errors import TdvError
from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.jvm import rewriter
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.ranking import Baking
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
        held = 0.9 * (point.scale or 1), 0.4
        found = assert_pruned(
            matrices[name], pruned, point.tdv, point.scale, tmp_path / "found",
            baked=(held, ANSERINI),
        )  # fmt: skip
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
    found = verify_pruned(source, pruned)
    assert found["equal"], found
    assert found["postings"] == report["postings"] + report["fields"]["title"]["postings"]


@pytest.fixture
def pruned(source: Path, values: dict, tmp_path: Path) -> Path:
    """Pruned in both fields, by what each was recommended."""
    prune_index(source, values["contents"], tmp_path / "both", others=[values["title"]])
    return tmp_path / "both"


def test_wrong_second_field_is_found(source, pruned, matrices, values, tmp_path) -> None:
    """By its checksum where the values are others; by its postings where the index lies."""
    ones = np.ones(matrices["title"].shape[0], np.float32)
    others = values_of(matrices["title"], ones, scale=2)
    found = verify_pruned(source, pruned)
    difference = found["difference"]
    assert (difference["what"], difference["field"]) == ("pruned by other TDVs", "title")
    # the same record over an index in which the titles were never pruned
    lying = tmp_path / "lying"
    lying.mkdir()
    point = values["contents"].at_reduction()
    baking = Baking((0.9 * point.scale, 0.4), ANSERINI)
    only = rewriter.FieldValues(
        matrices["contents"].vocabulary, point.tdv, point.scale, baking=baking
    )
    rewriter.rewrite_index(source, lying, [only], threads=1, user_data=read_user_data(pruned))
    found = verify_pruned(source, lying)
    assert not found["equal"]
    assert found["difference"]["what"] == "description of field 'title'"
    ones_alike = rewriter.FieldValues(matrices["title"].vocabulary, ones, 2.0)
    lying = tmp_path / "lying too"
    lying.mkdir()
    rewriter.rewrite_index(
        source, lying, [only, ones_alike], threads=1, user_data=read_user_data(pruned)
    )
    found = verify_pruned(source, lying)
    assert found["difference"]["field"] == "title"
    assert found["difference"]["what"] in ("frequency", "term")


def test_values_that_do_not_suit_the_pruned_fields_are_refused(source, pruned, values, tmp_path):
    with pytest.raises(TdvError, match="'contents', 'title', and no TDVs.*a further values"):
        verify_pruned(source, pruned)
    one = tmp_path / "one"
    prune_index(source, values["contents"], one)
    with pytest.raises(TdvError, match="was pruned in 'contents', not in 'title'.*leave out"):
        verify_pruned(source, one)
    with pytest.raises(TdvError, match="two sets of TDVs for the field 'title'"):
        verify_pruned(source, pruned)


def test_what_an_earlier_pruning_recorded_is_not_taken_for_this_one(
    source, values, tmp_path
) -> None:
    """The user data still has the title's entries, of the source's own pruning."""
    pruned = tmp_path / "pruned"
    both = [values["title"]]
    prune_index(source, values["contents"], pruned, others=both, search_as="recorded")
    again = values_of(extract_matrix(pruned, tmp_path / "again-matrix"))
    prune_index(pruned, again, tmp_path / "again", reduction=0.2)
    assert "tdv.fields.title.values_sha256" in read_user_data(tmp_path / "again")
    assert verify_pruned(pruned, tmp_path / "again")["equal"]


def test_command_verifies_several_fields(source, pruned, values, tmp_path) -> None:
    from tdv_lucene.cli.verify import command as verify

    folders = {name: tmp_path / f"{name} values" for name in FIELDS}
    for name, folder in folders.items():
        values[name].save(folder)
    arguments = ["--index", str(source), "--pruned", str(pruned), "--json"]
    given = ["--tdv", str(folders["contents"]), "--tdv", f"title={folders['title']}"]
    done = CliRunner().invoke(verify, [*arguments, *given])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["equal"]
    given[-1] = f"title={folders['contents']}"
    done = CliRunner().invoke(verify, [*arguments, *given])
    assert "holds TDVs of 'contents', not of 'title'" in str(done.exception)


def test_one_segment_of_a_single_field_is_verified(source, values, tmp_path) -> None:
    pruned = tmp_path / "pruned"
    assert prune_index(source, values["contents"], pruned, optimize=True)["segments"] == 1
    assert verify_pruned(source, pruned)["equal"]


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        (("contents", "contents"), {}, "two sets of TDVs for the field 'contents'"),
        (FIELDS, {"max_loss": 0.1}, "max_loss is for one field, got.*contents, title"),
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
    assert "holds TDVs of 'contents', not of 'title'" in str(done.exception)
