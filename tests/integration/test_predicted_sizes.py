"""Bytes that are foreseen, of postings and of indexes, against those that are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import write_judged
from lucene_indexes import Doc, write_index
from pruning_inputs import bytes_of, values_of

from tdv_lucene import TermValues, extract_matrix, learn_from_index, prune_index
from tdv_lucene.jvm.index import written_lucene_version
from tdv_lucene.learning.config import Recipe
from tdv_lucene.pruning import writing
from tdv_lucene.pruning.sizes import foreseen_bytes
from tdv_lucene.simulation.bytes import LUCENE_9, LUCENE_10, estimate_posting_bytes, posting_bytes
from tdv_lucene.simulation.collection import apply_values

pytestmark = pytest.mark.jvm

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


def test_bytes_are_foreseen_at_every_scale_that_was_tried(learned, tmp_path):
    """At a reduction between two points, where the nearest one's own scale is not what is asked."""
    index, values = learned
    tried = {e["scale"] for point in values.points[1:] for e in point["scales"]}
    for scale in (min(tried), max(tried)):
        foreseen = foreseen_bytes(values.points, scale)
        assert foreseen is not None
        place = tmp_path / f"{scale}"
        prune_index(index, values, place, reduction=0.45, scale=scale, threads=1)
        assert foreseen(0.45) == pytest.approx(bytes_of(place), rel=0.03)


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
