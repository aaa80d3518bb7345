"""``tdv-lucene demo``: the whole job by the command a newcomer types; and the notebook, from its
first cell to its last, with few articles and queries, learning a little only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import ROOT, run_apart

sys.path.insert(0, str(ROOT / "scripts"))
import readme_output

from tdv_lucene import read_report

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The demonstration's folder, and what it said on stdout and stderr: as users have it, without
    what scripts/test sets to compile sooner."""
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    with pytest.MonkeyPatch.context() as patch:
        for sooner in ("JAX_DISABLE_MOST_OPTIMIZATIONS", "XLA_FLAGS"):
            patch.delenv(sooner, raising=False)
        done = run_apart("-m", "tdv_lucene", "demo", "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout, done.stderr


def test_demo_says_what_it_is_and_shows_the_comparison(finished: tuple[Path, str, str]) -> None:
    folder, stdout, stderr = finished
    assert "4,000 Wikipedia articles, 300 queries to learn from and 300 to measure with" in stderr
    for measure in ("nDCG@5", "nDCG@10", "MAP", "R@1000"):
        assert measure in stdout
    assert "held-out nDCG@5, by postings dropped: 0% 0." in stderr
    assert str(folder / "report" / "report.html") in stdout
    for words in ("by kind of query", "full-tuned", "A catalogue"):
        assert words in stdout
    assert stdout.index("report.html") < stdout.index("Ranked better")
    assert stdout.index("Ranked better") < stdout.index("Next, an index")


def test_demo_drops_what_it_says_and_ranks_no_lower(finished: tuple[Path, str, str]) -> None:
    report = json.loads((finished[0] / "report" / "report.json").read_text())
    full = report["indexes"]["full"]
    for name in ("unjudged", "learned"):
        pruned = report["indexes"][name]
        assert pruned["documents"] == full["documents"] == 4000
        assert 1 - pruned["postings"] / full["postings"] == pytest.approx(0.45, abs=0.01)
        assert pruned["bytes"] < 0.5 * full["bytes"]
        means = report["measures"]["nDCG@5"]["means"]
        assert means[name] > means["full-tuned"] > means["full"]
    assert report["queries"]["judged"] == 300
    assert report["tuning"]["queries"] == "topics-train"


def test_demo_shows_both_sides(finished: tuple[Path, str, str]) -> None:
    """Two tiers return what the whole field does; short texts lose by what others bear."""
    report = read_report(finished[0] / "report")
    assert report["tiers"]["tiers"]["fidelity"] > 0.95
    assert "Two tiers" in finished[1]
    catalogue = read_report(finished[0] / "catalogue" / "report")
    postings = {name: index["postings"] for name, index in catalogue["indexes"].items()}
    assert postings["default"] == postings["full"] > 1.7 * postings["forced"]
    recall = {test["treatment"]: test for test in catalogue["measures"]["R@1000"]["tests"]}
    assert recall["default"]["difference"] == 0
    assert recall["forced"]["difference"] < 0 and recall["forced"]["p_value"] < 0.05


def test_the_readme_shows_what_is_printed(finished: tuple[Path, str, str]) -> None:
    folder, stdout, _ = finished
    work = folder.parent.resolve()
    prune = readme_output.run_in(work, *readme_output.PRUNE)
    printed = {**readme_output.demo_blocks(stdout), "prune": readme_output.prune_block(prune)}
    shown = readme_output.shown_blocks()
    assert shown.keys() == printed.keys()
    assert readme_output.differences(shown, printed) == []


NOTEBOOK = ROOT / "scripts" / "pruned_index.ipynb"
SHORT = """
import functools
import tdv_lucene
from tdv_lucene.demo import collection

whole = collection.unpack_wikipedia
def some(output):
    files = whole(output)
    asked, relevant = set(), set()
    for part in (files.train, files.test):
        lines = part.topics.read_text(encoding="utf-8").splitlines(keepends=True)[::4]
        part.topics.write_text("".join(lines), encoding="utf-8")
        asked |= {line.split("\t")[0] for line in lines}
        judged = map(str.split, part.qrels.read_text().splitlines())
        relevant |= {doc for query, _, doc, grade in judged if query in asked}
    documents = files.documents / "documents.jsonl"
    lines = documents.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for number, line in enumerate(lines)
            if number % 5 == 0 or collection.json.loads(line)["id"] in relevant]
    documents.write_text("".join(kept), encoding="utf-8")
    return files
collection.unpack_wikipedia = some

from tdv_lucene.learning.config import Recipe
recipe = Recipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.45))
tdv_lucene.learn_from_index = functools.partial(tdv_lucene.learn_from_index, recipe=recipe)
"""
"""A reader's whole way takes minutes: ``tdv-lucene demo`` goes it, above."""


@pytest.mark.pyserini
def test_every_cell_runs(tmp_path: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells), "kept without output"
    patient, program = "latency_budget_seconds=5", "\n".join([SHORT, *code])
    assert patient in program
    program = program.replace(patient, "latency_budget_seconds=0.5")
    done = run_apart("-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *_, full, unjudged, learned, tuned = done.stdout.splitlines()
    assert [line.split()[0] for line in (full, unjudged, learned, tuned)] == [
        "full", "unjudged", "learned", "full-tuned"
    ]  # fmt: skip
    assert float(learned.split()[1]) > float(full.split()[1])
