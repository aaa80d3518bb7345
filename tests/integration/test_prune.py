"""The prune stage end to end: reports, what the index records, and every refusal; several fields
pruned in one rewrite, one segment of many; and bytes that are foreseen against those written."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import json_of, run_command, write_judged
from lucene_indexes import Doc, Layout, write_index
from lucene_reading import check_index
from oracle import ANSERINI, assert_pruned
from pruning_inputs import bytes_of, read_user_data, values_of
from tiny_collection import TINY_TEXTS, tiny_segments

from tdv_lucene import Index, TdvError, TermDocumentMatrix, TermValues, extract_matrix, prune_index
from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.jvm import lucene_version, pyserini_jar, rewriter
from tdv_lucene.jvm.index import written_lucene_version
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning import writing
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.searching.search import search_index
from tdv_lucene.simulation.bytes import LUCENE_9, LUCENE_10, estimate_posting_bytes, posting_bytes
from tdv_lucene.simulation.collection import apply_values

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


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([Doc("a", ["x", "y", "z"])], "'z'"),
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
    tiny_values.save(tmp_path / "values")
    words = ["prune", "--index", tiny_index, "--tdv", tmp_path / "values"]
    shown = run_command(*words, "--output", tmp_path / "pruned").output
    assert "(k1 0.9, b 0.4)" in shown
    assert "qld" not in shown, "nothing is known of these values under another model"
    assert re.search(r"reduction +4\d\.\d %", shown) and "45.0 %" in shown
    report = json.loads((tmp_path / "pruned" / "tdv-manifest.json").read_text())
    assert report["bytes"] == bytes_of(tmp_path / "pruned")
    assert report["bytes_before"] == bytes_of(tiny_index)
    assert f"{report['bytes_before']:,}" in shown
    report = json_of(*words, "--output", tmp_path / "again", "--scale", 2)
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
    replace(tiny_values, manifest={**tiny_values.manifest, **about}).save(tmp_path / "V")
    words = ["prune", "--index", tiny_index, "--tdv", tmp_path / "V", "--output", tmp_path / "P"]
    shown = run_command(*words, "--reduction", 0.3, *options).output
    advice = shown.partition("documents_without_terms")[2]
    assert all(text in advice for text in told) and not any(text in advice for text in not_told)
    assert "recommended" not in shown


def test_values_of_nothing_but_zeros_are_refused(tiny_index, tiny_matrix, tmp_path):
    values = values_of(tiny_matrix, np.zeros(tiny_matrix.shape[0]))
    with pytest.raises(TdvError, match="0.3 .*'contents'.*reduction.*min_doc_freq"):
        prune_index(tiny_index, values, tmp_path / "P", reduction=0.3)
    assert _leftovers(tmp_path) == []


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
    shown = [line.split() for line in run_command(*words, *titled).output.splitlines()]
    named = [line[1] for line in shown if line[:1] == ["field"]]
    assert named == ["contents", "title"], "each is told of"
    assert len([line for line in shown if line[:1] == ["reduction"]]) == 2
    report = json.loads((tmp_path / "p" / "tdv-manifest.json").read_text())
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


REDUCTIONS = (0.0, 0.3, 0.6)


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> tuple[Path, TermValues]:
    """4,000 documents of 60 words on average, from a vocabulary of 20,000, and values for them."""
    folder = tmp_path_factory.mktemp("sizes")
    rng = np.random.default_rng(5)
    words = [f"{rng.integers(1 << 30):x}" for _ in range(20_000)]
    texts = [[words[t] for t in rng.zipf(1.2, n) % 20_000] for n in 5 + rng.geometric(1 / 60, 4000)]
    docs = [Doc(f"d{i}", text) for i, text in enumerate(texts)]
    index = write_index(folder / "index", [docs])
    asked = {f"q{i}": " ".join(texts[i][:3]) for i in rng.choice(4000, 30, replace=False)}
    files = write_judged(folder, asked, {qid: f"d{qid[1:]}" for qid in asked})
    recipe = Recipe(values=False, folds=2, reductions=REDUCTIONS)
    return index, learn_from_index(index, *files, folder / "values", recipe=recipe)


@pytest.mark.parametrize("place", range(len(REDUCTIONS)))
def test_a_whole_index_is_foreseen_within_three_percent(learned, place, tmp_path):
    index, values = learned
    prune_index(index, values, tmp_path / "pruned", reduction=REDUCTIONS[place], threads=1)
    written = bytes_of(tmp_path / "pruned")
    assert values.points[place]["index_bytes"] == pytest.approx(written, rel=0.03)


@pytest.mark.parametrize("scale", ["auto", 3])
def test_a_limit_is_met_in_two_indexes_at_most(learned, tmp_path, monkeypatch, scale):
    index, values = learned
    written: list[float] = []
    write = writing.write_index

    def counted(index, plan, *rest):
        written.append(plan.fields[0].facts["requested_reduction"])
        return write(index, plan, *rest)

    monkeypatch.setattr(writing, "write_index", counted)
    limit = round(np.mean([values.points[place]["index_bytes"] for place in (1, 2)]))
    report = prune_index(
        index, values, tmp_path / "pruned", max_bytes=limit, scale=scale, threads=1
    )
    assert len(written) <= 2 and report["chosen"]["reduction"] == written[-1]
    size = bytes_of(tmp_path / "pruned")
    assert 0.97 * limit <= size <= limit
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("scale", [1, 2.5, 8])
def test_within_three_percent_of_what_lucene_writes(scale, learned, tmp_path):
    index = learned[0]
    matrix = extract_matrix(index, tmp_path / "source")
    rng = np.random.default_rng(2)
    weights = np.exp(rng.normal(0, 0.7, len(matrix.vocabulary)))
    values = values_of(matrix, weights)
    prune_index(index, values, tmp_path / "pruned", reduction=0.3, scale=scale, threads=1)
    pruned = extract_matrix(tmp_path / "pruned", tmp_path / "matrix")
    form = LUCENE_9 if written_lucene_version().startswith("9.") else LUCENE_10
    norms = np.asarray(pruned.norms).astype(np.uint8)[pruned.indices]
    model = posting_bytes(pruned.indptr, pruned.indices, pruned.data, norms, form)
    written = sum(file.stat().st_size for file in (tmp_path / "pruned").glob("*.doc"))
    assert model == pytest.approx(written, rel=0.03)
    point = values.at_reduction(0.3)
    foreseen = estimate_posting_bytes(matrix, apply_values(matrix, point.tdv, scale))
    if form == LUCENE_9:
        assert foreseen == pytest.approx(model, rel=0.01)
