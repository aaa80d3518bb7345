"""Frequencies that are no counts of words: told apart, and refused or warned of by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import hits_of
from lucene_indexes import Doc, _directory

from tdv_lucene import Index, TdvError, export_ciff, extract_matrix, inspect_index, learn_from_index
from tdv_lucene.jvm import java_class
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.searching.search import search_index
from tdv_lucene.searching.tune import tune_index
from tdv_lucene.values.peers import make_peer_values

pytestmark = pytest.mark.jvm

LUCENE = "org.apache.lucene."
TOPICS = {"q": "t1 t2"}
QRELS = {"q": {"d1": 1}}


def _features(path: Path, weights: np.ndarray) -> Path:
    """A document for each row, with text beside its features, in two segments."""
    config = java_class(LUCENE + "index.IndexWriterConfig")()
    config.setMergePolicy(java_class(LUCENE + "index.NoMergePolicy").INSTANCE)
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(path), config)
    stored = java_class(LUCENE + "document.Field$Store")
    for number, row in enumerate(weights):
        document = java_class(LUCENE + "document.Document")()
        name = java_class(LUCENE + "document.StringField")("id", f"d{number}", stored.YES)
        document.add(name)
        words = " ".join(f"w{number % prime}" for prime in (2, 3, 5, 7))
        document.add(java_class(LUCENE + "document.TextField")("contents", words, stored.NO))
        for term, weight in enumerate(row):
            feature = java_class(LUCENE + "document.FeatureField")
            document.add(feature("features", f"t{term}", float(weight)))
        writer.addDocument(document)
        if number == len(weights) // 2:
            writer.flush()
    writer.close()
    return path


def _field(index: Path, name: str = "contents") -> dict:
    return next(each for each in inspect_index(index)["fields"] if each["name"] == name)


@pytest.mark.parametrize("size", [1e-9, 0.01, 1.0, 300.0, 1e12])
def test_features_are_told_whatever_their_size(size, tmp_path):
    weights = size * np.random.default_rng(0).uniform(0.1, 3, (20, 4))
    index = _features(tmp_path / "index", weights)
    told = _field(index, "features")
    assert told["frequencies"] == "features" and "FeatureField" in told["why_not_pruned"]
    assert _field(index)["frequencies"] == "counts" and not _field(index)["why_not_pruned"]


@pytest.mark.parametrize(
    "command",
    [
        lambda index, out: prune_index(index, None, out, field="features"),
        lambda index, out: extract_matrix(index, out, field="features"),
        lambda index, out: export_ciff(index, out, field="features"),
        lambda index, out: make_peer_values(index, out, "ridf", field="features"),
        lambda index, out: tune_index(index, None, None, out, field="features"),
        lambda index, out: tune_index(index, TOPICS, QRELS, out, field="features"),
        lambda index, out: search_index(index, TOPICS, out, field="features"),
        lambda index, out: search_index(index, TOPICS, out, field="features", model="impact"),
        lambda index, out: learn_from_index(index, TOPICS, QRELS, out, field="features"),
    ],
)
def test_features_are_refused_by_name(command, tmp_path):
    index = _features(tmp_path / "index", np.full((20, 4), 1.5))
    with pytest.raises(TdvError, match="'features'.*FeatureField"):
        command(index, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_weights_as_whole_numbers_are_the_remedy_for_features(make_index, tmp_path):
    weights = np.random.default_rng(1).uniform(0.3, 3, (20, 4))
    refused = _features(tmp_path / "index", weights)
    with pytest.raises(TdvError, match="whole numbers.*-impact"):
        prune_index(refused, None, tmp_path / "pruned", field="features")
    whole = np.where(weights < 1, 0, np.rint(100 * weights)).astype(int)
    docs = [
        Doc(f"d{i}", [f"t{t}" for t, n in enumerate(row) for _ in range(n)])
        for i, row in enumerate(whole)
    ]
    index = make_index([docs], name="whole", norms="impact")
    prune_index(index, None, tmp_path / "pruned", reduction=0.0, tf="original")
    sums = {f"d{i}": float(row[1] + row[2]) for i, row in enumerate(whole)}
    expected = {name: score for name, score in sums.items() if score}
    for each in (index, tmp_path / "pruned"):
        search_index(each, TOPICS, tmp_path / "run", overwrite=True)
        hits = hits_of(tmp_path / "run")["q"]
        assert {name: float(score) for name, score in hits} == expected
        assert [name for name, _ in hits] == sorted(expected, key=expected.get, reverse=True)


@pytest.mark.parametrize("norms", ["impact", "none"])
def test_heavy_weights_are_no_features(norms, make_index):
    """Whole weights that are all above 256, as features are."""
    heavy = np.random.default_rng(2).integers(257, 3000, (12, 3))
    docs = [
        Doc(f"d{i}", [f"t{t}" for t, n in enumerate(row) for _ in range(n)])
        for i, row in enumerate(heavy)
    ]
    index = make_index([docs[:6], docs[6:]], norms=norms)
    expected = "weights" if norms == "impact" else "likely weights"
    assert _field(index)["frequencies"] == expected and not _field(index)["why_not_pruned"]
    with Index.open(index) as opened:
        assert opened.holds_weights("contents") is (True if norms == "impact" else None)


def _vectors(prefix: str) -> list[Doc]:
    """What JsonVectorCollection makes of learned weights: each term as often as it weighs."""
    rng = np.random.default_rng(3)
    rows = np.maximum(rng.normal(40, 30, (30, 8)).astype(int), 0)
    return [
        Doc(f"{prefix}{i}", [f"t{t}" for t, n in enumerate(row) for _ in range(n)])
        for i, row in enumerate(rows)
    ]


@pytest.mark.parametrize("norms", ["default", "accurate"])
def test_weights_that_were_indexed_as_words_are_warned_of(norms, make_index, tmp_path, caplog):
    index = make_index([_vectors("d")], norms=norms)
    assert _field(index)["frequencies"] == "likely weights"
    assert any("-impact" in note for note in inspect_index(index)["notes"])
    for command in (
        lambda: search_index(index, TOPICS, tmp_path / "run"),
        lambda: tune_index(index, None, None, tmp_path / "tuned"),
        lambda: make_peer_values(index, tmp_path / "values", "df"),
    ):
        caplog.clear()
        command()
        warned = [r.message for r in caplog.records if "-impact" in r.message]
        assert warned and all("contents" in told for told in warned)
        assert len(warned) == 1, "each command says it once"


def test_long_texts_are_counts(make_index):
    """Frequent words make a large mean; but many words occur once."""
    rng = np.random.default_rng(4)
    docs = [Doc(f"d{i}", [f"t{t}" for t in rng.zipf(1.6, 4000)]) for i in range(3)]
    docs = [Doc(doc.id, [*doc.tokens, *["the"] * 40_000]) for doc in docs]
    index = make_index([docs])
    found = _field(index)
    assert found["tokens"] / found["postings"] > 8 and found["frequencies"] == "counts"
    assert not inspect_index(index)["notes"]
