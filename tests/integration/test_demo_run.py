"""``tdv-lucene demo``: the whole job by the command a newcomer types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import readme_output

from tdv_lucene import read_report

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def _as_users_have_it() -> dict[str, str]:
    """The environment without what scripts/test sets to compile sooner."""
    sooner = ("JAX_DISABLE_MOST_OPTIMIZATIONS", "XLA_FLAGS")
    return {name: value for name, value in os.environ.items() if name not in sooner}


def _demo(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tdv_lucene", "demo", "--output", str(folder), *flags]
    return subprocess.run(command, capture_output=True, text=True, env=_as_users_have_it())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The demonstration's folder, and what it said on stdout and stderr."""
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    done = _demo(folder)
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
