"""Pruning without a judgement, end to end: the command alone, its record, its proof."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from command_line import json_of, run_command
from lucene_indexes import Doc
from pruning_inputs import read_user_data

from tdv_lucene import TdvError, TermValues, learn_from_index, prune_index, verify_pruned
from tdv_lucene.learning.prior import Prior, settings_for
from tdv_lucene.matrix.extract import open_matrix

pytestmark = pytest.mark.jvm

POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"


def _docs() -> list[Doc]:
    rng = random.Random(5)
    words = [f"w{i}" for i in range(200)]
    weights = [1 / (i + 1) for i in range(200)]
    return [
        Doc(f"d{i}", rng.choices(words, weights, k=rng.randint(20, 90)), deleted=i % 9 == 4)
        for i in range(60)
    ]


@pytest.fixture
def source(make_index) -> Path:
    docs = _docs()
    return make_index([docs[:35], docs[35:]], options=POSITIONS)


def _recommended(source: Path, model: str, positions: bool = True) -> float:
    with open_matrix(source) as matrix:
        return settings_for(Prior.load(), matrix, model, positions=positions)[0].reduction or 0.0


@pytest.mark.parametrize("stage", ["prune", "learn"])
def test_what_cannot_be_pruned_is_refused_before_anything_else(
    stage: str, make_index, tmp_path: Path, caplog
) -> None:
    """Nothing else is said of it, such as how unlike other collections it is."""
    index = make_index([_docs()], options="DOCS")
    words = {"prune": [], "learn": ["--no-judgements"]}[stage]
    with pytest.raises(TdvError, match="'contents'"):
        run_command(stage, "--index", index, "--output", tmp_path / "P", *words)
    assert not caplog.records


@pytest.mark.parametrize("options", [POSITIONS, "DOCS_AND_FREQS"])
def test_the_command_alone_prunes_and_the_result_is_proved(
    options: str, make_index, tmp_path: Path
) -> None:
    source, pruned = make_index([_docs()[:35], _docs()[35:]], options=options), tmp_path / "P"
    report = json_of("prune", "--index", source, "--output", pruned)
    name, sha256 = Prior.load().describe().values()
    assert report["requested_reduction"] == _recommended(source, "bm25", options == POSITIONS)
    assert report["reduction"] == pytest.approx(report["requested_reduction"], abs=0.05)
    assert report["learned_from"] == f"prior {name} ({sha256[:12]}), no judgements"
    record = read_user_data(pruned)
    assert ("tdv.lead.boost" in record) == (options == POSITIONS)
    assert json_of("verify", "--index", source, "--pruned", pruned)["equal"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rng, path = random.Random(6), tmp_path / "log.tsv"
    asked = [f"w{rng.randrange(40)} w{rng.randrange(200)}" for _ in range(20)]
    path.write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(asked)), encoding="utf-8")
    return path


def test_a_query_log_chooses_the_reduction(source: Path, log: Path, tmp_path: Path) -> None:
    words = ["--index", source, "--topics", log, "--output", tmp_path / "V"]
    shown = " ".join(run_command("learn", *words).output.split())
    assert "for 20 queries without judgements" in shown and "* recommended: the largest" in shown
    values = TermValues.load(tmp_path / "V")
    words = ["--index", source, "--queries", log, "--output", tmp_path / "P"]
    shown = " ".join(run_command("prune", *words).output.split())
    assert "By 20 queries, against the re-weighted index with nothing dropped: loses" in shown
    report = json.loads((tmp_path / "P" / "tdv-manifest.json").read_text(encoding="utf-8"))
    assert report["chosen"]["reduction"] == values.recommended_reduction
    assert report["chosen"]["log"]["queries"] == 20
    assert verify_pruned(source, tmp_path / "P")["equal"]
    most = prune_index(source, None, tmp_path / "Q", queries=log, max_loss=0.99)
    assert most["chosen"]["reduction"] == 0.8 and most["chosen"]["max_loss"] == 0.99
    given = prune_index(source, None, tmp_path / "R", queries=log, reduction=0.3)
    assert given["chosen"] is None and given["requested_reduction"] == 0.3


def test_what_a_log_cannot_say_is_refused(source: Path, log: Path, tmp_path: Path) -> None:
    for options, named in (({"k1": 1.2}, "k1 .*qrels"), ({}, "queries")):
        queries, judged = (log, None) if options else (None, log)
        with pytest.raises(TdvError, match=named):
            learn_from_index(source, queries, judged, tmp_path / "W", **options)
    for text in ("", "1\tnowhere\n"):
        log.write_text(text, encoding="utf-8")
        with pytest.raises(TdvError, match="topic|queries"):
            prune_index(source, None, tmp_path / "Q", queries=log)
    assert not (tmp_path / "Q").exists() and not (tmp_path / "W").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [({"max_loss": 0.01}, "max_loss .*queries"), ({"field": "nothing"}, "'nothing'")],
)
def test_what_a_prior_cannot_say_is_refused(
    options: dict[str, object], named: str, source: Path, tmp_path: Path
) -> None:
    with pytest.raises(TdvError, match=named):
        prune_index(source, None, tmp_path / "P", **options)
    assert list(tmp_path.iterdir()) == [source]
