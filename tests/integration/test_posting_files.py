"""The model of Lucene's postings against the files Lucene writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc, write_index
from pruning_inputs import values_of

from tdv_lucene.jvm.index import written_lucene_version
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.simulation.bytes import LUCENE_9, LUCENE_10, estimate_posting_bytes, posting_bytes
from tdv_lucene.simulation.collection import apply_values

pytestmark = pytest.mark.jvm


def written_bytes(index: Path) -> int:
    return sum(file.stat().st_size for file in index.glob("*.doc"))


@pytest.mark.parametrize("scale", [1, 2.5, 8])
def test_within_three_percent_of_what_lucene_writes(scale, source, tmp_path):
    index, matrix = source
    rng = np.random.default_rng(2)
    weights = np.exp(rng.normal(0, 0.7, len(matrix.vocabulary)))
    values = values_of(matrix, weights)
    prune_index(index, values, tmp_path / "pruned", reduction=0.3, scale=scale, threads=1)
    pruned = extract_matrix(tmp_path / "pruned", tmp_path / "matrix")
    form = LUCENE_9 if written_lucene_version().startswith("9.") else LUCENE_10
    norms = np.asarray(pruned.norms).astype(np.uint8)[pruned.indices]
    model = posting_bytes(pruned.indptr, pruned.indices, pruned.data, norms, form)
    assert model == pytest.approx(written_bytes(tmp_path / "pruned"), rel=0.03)
    point = values.at_reduction(0.3)
    foreseen = estimate_posting_bytes(matrix, apply_values(matrix, point.tdv, scale))
    if form == LUCENE_9:
        assert foreseen == pytest.approx(model, rel=0.01)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """3,000 documents of 30 words on average, and their matrix."""
    rng = np.random.default_rng(5)
    docs = [
        Doc(f"d{i}", [f"t{t}" for t in np.minimum(rng.zipf(1.25, n) - 1, 299)])
        for i, n in enumerate(rng.geometric(1 / 30, 3000))
    ]
    folder = tmp_path_factory.mktemp("bytes")
    index = write_index(folder / "index", [docs])
    return index, extract_matrix(index, folder / "matrix")
