"""The prior: its file, its TDVs, what it warns of, and how far judgements move what it says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_problem import make_collection, make_matrix

from tdv_lucene.core.tdv import term_values
from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.errors import TdvError
from tdv_lucene.learning.features import term_features
from tdv_lucene.learning.learn import learn_term_values
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.learning.stopping import choose
from tdv_lucene.matrix import blocks
from tdv_lucene.matrix.stored_matrix import load_matrix
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.prior.prior import (  # fmt: skip
    PRIOR_FILE,
    Prior,
    Settings,
    collection_statistics,
    settings_for,
)
from tdv_lucene.ranking import MODELS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation import weighted_collection
from tdv_lucene.values.term_values import TermValues

RUN = Path(__file__).parents[3] / "scripts" / "bench" / "runs" / "2026-11-22-prior"
TINY = DefaultRecipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.45))


@pytest.fixture(scope="module")
def collection():
    return make_collection()


@pytest.fixture(scope="module")
def placed(collection):
    """The matrix with first positions."""
    matrix = collection[0]
    first = np.random.default_rng(3).integers(0, 90, matrix.postings).astype(np.uint16)
    return replace(matrix, first_positions=first)


def test_the_prior_that_comes_with_the_package_is_whole() -> None:
    prior = Prior.load()
    assert prior.sha256 == hashlib.sha256(PRIOR_FILE.read_bytes()).hexdigest()
    assert PRIOR_FILE.stat().st_size < 10_000
    assert prior.content["made_by"]["commit"]
    assert len(prior.content["collections"]) >= 8
    for model in MODELS:
        for positions in (False, True):
            for unlike in (False, True):
                settings = prior.settings(model, positions, 100, 1e6, unlike=unlike)
                assert 0 <= settings.reduction < 1
                assert 0 <= settings.slope <= 1
                assert positions or settings.boost is None


def test_k1_grows_with_the_length_of_documents_and_mu_with_the_tokens() -> None:
    table = {
        "bm25": {"k1": 1.5, "k1_power": 0.3, "b": 0.4},
        "qld": {"mu": 100, "mu_power": 0.5, "mu_tokens_power": 0.25},
        "tfidf": {},
    }
    prior = Prior(
        {
            "settings": {
                m: {"positions": {**t, "slope": 0, "scale": 1, "reduction": 0.3}}
                for m, t in table.items()
            }
        },
        "",
    )

    def at(length: float, tokens: float) -> tuple[float, float, float]:
        bm25, qld, tfidf = (prior.settings(m, True, length, tokens).parameters for m in table)
        assert tfidf == Parameters()
        return bm25.k1, bm25.b, qld.mu

    assert at(100, 1e6) == (1.5, 0.4, 100)
    assert at(25, 1e6) == (round(1.5 * 0.25**0.3, 2), 0.4, 50)
    assert at(100, 1.6e7) == (1.5, 0.4, 200)
    assert at(400, 1.6e7) == (round(1.5 * 4**0.3, 2), 0.4, 400)
    assert at(0.01, 1) == (0.5, 0.4, 30) and at(1e9, 1e15) == (4.5, 0.4, 4000), "within limits"


@pytest.mark.parametrize("content", ["", "[]", '{"format": 0}'])
def test_another_file_is_refused(content: str, tmp_path) -> None:
    path = tmp_path / "prior.json"
    path.write_text(content)
    with pytest.raises(TdvError, match="prior"):
        Prior.load(path)


def test_a_statistic_nobody_knows_is_refused(tmp_path) -> None:
    content = json.loads(PRIOR_FILE.read_text())
    content["network"]["statistics"][0] = "colour"
    path = tmp_path / "prior.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TdvError, match="colour"):
        Prior.load(path)


def test_tdvs_have_a_token_mean_of_one_and_differ_by_the_slope(collection) -> None:
    matrix, prior = collection[0], Prior.load()
    tokens = matrix.total_term_freq
    for slope in (0.0, 0.4, 0.8):
        weights = prior.weights(matrix, slope)
        assert np.average(weights, weights=tokens) == pytest.approx(1)
        assert weights.min() >= 1 - slope - 1e-6
    np.testing.assert_array_equal(prior.weights(matrix, 0.0), 1)
    near, far = prior.weights(matrix, 0.4) - 1, prior.weights(matrix, 0.8) - 1
    np.testing.assert_allclose(far, 2 * near, atol=1e-6)


@pytest.mark.parametrize("table", ["settings", "unlike"])
def test_no_query_set_loses_more_than_the_prior_says(table) -> None:
    """The shipped prior against the figures of the run that made it: where it drops postings, no
    query set lost more than 3 % there, and each larger share that was tried lost more."""
    raw = json.loads((RUN / "raw.json").read_text(encoding="utf-8"))
    for model, of_model in Prior.load().content[table].items():
        for positions, settings in of_model.items():
            settings, drops = {**settings}, settings["reduction"]
            del settings["reduction"]
            if not drops:
                plain = {"bm25": {"k1": 0.9, "b": 0.4}, "qld": {"mu": 1000}, "tfidf": {}}
                assert settings == {**plain[model], "slope": 0, "scale": 1}, "ranks as it is"
                continue
            for tried in (0.15, 0.3, 0.45):
                if tried >= drops:
                    gains = raw[f"gains at {tried:.0%}"][f"{model}/{positions}"]
                    worst = min(_gains_of(settings, each) for each in gains.values())
                    assert (worst >= -0.03) == (tried == drops), (model, positions, tried, worst)


def _gains_of(settings: dict[str, float], of_candidates: dict[str, Any]) -> float:
    """The smallest gain of nDCG@5 on the query sets of a collection."""
    found = next(sets for name, sets in of_candidates.items() if json.loads(name) == settings)
    return min(gains[0] for gains in found.values())


def test_a_prior_that_drops_nothing_says_so(collection, monkeypatch, caplog) -> None:
    monkeypatch.setattr(Prior, "settings", lambda *_, **__: Settings(Parameters(), None, 0, 1, 0.0))
    values = prior_values(collection[0], model="qld", reductions=(None,))
    assert values.recommended_reduction == 0
    assert "for qld without positions the prior drops nothing" in caplog.messages[-1]


def test_training_starts_at_the_priors_tdvs(collection) -> None:
    matrix, prior = collection[0], Prior.load()
    features = term_features(matrix, latent_semantic_vectors(matrix, dimensions=2))
    started = np.asarray(term_values(prior.linear(matrix, features, 0.8), features))
    weights = prior.weights(matrix, 0.8)
    above = weights > 0.2 + 1e-6  # below, the unit is off, which one ReLU cannot follow
    assert above.sum() > 50
    np.testing.assert_allclose(started[above], weights[above], rtol=1e-4)


def _words(length: int, documents: int = 300, seed: int = 0):
    """Documents of so many words by Zipf's law."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((400, documents), np.int64)
    for doc in range(documents):
        np.add.at(dense[:, doc], np.minimum(rng.zipf(1.3, length), 400) - 1, 1)
    return make_matrix(dense[dense.sum(axis=1) > 0])


def test_a_collection_unlike_the_known_ones_is_told_and_loses_least(caplog) -> None:
    prior, matrix = Prior.load(), _words(3)
    assert any("mean length" in difference for difference in prior.differences(matrix))
    settings, differences = settings_for(prior, matrix, "bm25", positions=False)
    tokens = int(np.sum(matrix.doc_len))
    assert settings == prior.settings("bm25", False, 3, tokens, unlike=True) and differences
    known = Prior({**prior.content, "ranges": {}}, "")
    assert settings_for(known, matrix, "bm25", positions=False)[1] == []
    prior_values(matrix, reductions=(None,), quiet=True)  # as verification makes them again
    assert not caplog.messages  # nor where learning starts from it: judged queries measure it
    prior_values(matrix, reductions=(None,))
    said = caplog.messages[0]
    assert "differs from all that the prior was made from, in mean length 3 (known: 13.6 to" in said
    assert "another kind of text" in said and "measure with 'tdv-lucene compare'" in said


def test_the_collections_it_was_made_from_are_known() -> None:
    content = Prior.load().content
    for made_from in content["collections"]:
        for name, (low, high) in content["ranges"].items():
            assert low <= made_from["statistics"][name] <= high
    assert set(collection_statistics(_words(30))) == set(content["ranges"])


@pytest.mark.parametrize("model", list(MODELS))
def test_values_without_judgements_prune(placed, model: str, tmp_path) -> None:
    values = prior_values(placed, model=model)
    assert values.manifest["queries"] == 0
    assert values.manifest["prior"]["sha256"] == Prior.load().sha256
    point = values.at_reduction(0.45)
    pruned = weighted_collection.apply_values(
        placed.with_position_boost(point.position_boost), point.tdv, point.scale, point.cut
    )
    assert 1 - pruned.postings / placed.postings == pytest.approx(0.45, abs=0.03)
    values.save(tmp_path / "V")
    np.testing.assert_array_equal(TermValues.load(tmp_path / "V").at_reduction(0.45).tdv, point.tdv)


def test_read_from_files_in_small_blocks_values_are_the_same(placed, tmp_path, monkeypatch) -> None:
    """What streams is what memory would give, to the last bit."""
    from tdv_lucene.matrix.stored_matrix import describe_matrix
    from tdv_lucene.output import Output
    from tdv_lucene.store import save_array

    whole = prior_values(placed)
    place = Output.folder(tmp_path / "M", "matrix", inputs=())
    with place as folder:
        names = ("indptr", "indices", "data", "doc_freq", "total_term_freq", "doc_len", "norms")
        for name in (*names, "first_positions"):
            save_array(folder / f"{name}.npy", np.asarray(getattr(placed, name)))
        for name, strings in (("terms", placed.vocabulary.terms), ("doc_ids", placed.doc_ids)):
            save_array(folder / f"{name}.npy", strings.data)
            save_array(folder / f"{name}_indptr.npy", strings.indptr)
        place.write_manifest(describe_matrix(placed))
    monkeypatch.setattr(blocks, "_BLOCK", 97)
    mapped = load_matrix(tmp_path / "M")
    assert isinstance(mapped.data, np.memmap)
    streamed = prior_values(mapped)
    for name in ("weights", "priority", "posting_priority", "posting_factors"):
        np.testing.assert_array_equal(getattr(streamed, name), getattr(whole, name))
    assert streamed.manifest["posting_rule"] == whole.manifest["posting_rule"]


def _some(collection, number: int):
    matrix, topics, qrels = collection
    ids = list(topics)[:number]
    return matrix, {q: topics[q] for q in ids}, {q: qrels[q] for q in ids}


def test_one_query_does_no_harm(collection) -> None:
    """Nothing is learned from it; it measures what the prior gives."""
    matrix = collection[0]
    values = learn_term_values(*_some(collection, 1), recipe=TINY)
    prior = prior_values(matrix)
    for name in ("weights", "priority", "posting_factors"):
        np.testing.assert_array_equal(getattr(values, name), getattr(prior, name))
    assert values.parameters == prior.parameters
    moved = values.manifest["prior"]
    assert moved["values"] == 0
    assert moved["gain"] == {"measure": "nDCG@5", "mean": 0.0, "interval": None}
    assert 0 <= values.points[1]["measures"]["nDCG@5"] <= 1


def test_many_queries_move_what_few_leave(collection) -> None:
    recipe = replace(TINY, max_steps=40, check_every=20, learning_rate=3e-2, folds=5)
    few = learn_term_values(*_some(collection, 4), recipe=recipe).manifest["prior"]
    many = learn_term_values(*collection, recipe=recipe).manifest["prior"]
    assert few["values"] == 0 < many["values"]
    low, high = many["gain"]["interval"]
    assert low < many["gain"]["mean"] < high


def test_the_same_mean_gain_moves_many_queries_and_not_few() -> None:
    """Gains of .01 with a deviation of .05: one standard error less is above 0 from 25 on."""
    chosen = []
    for number in (4, 10, 40, 100):
        gains = np.tile([-0.04, 0.06], number)[: number // 2 * 2].reshape(2, -1)  # two folds
        sums = np.column_stack([np.zeros(2), gains.sum(axis=1)])
        squares = np.column_stack([np.zeros(2), (gains**2).sum(axis=1)])
        sizes = np.full(2, gains.shape[1])
        chosen.append(choose(sums, squares, sizes, caution=1.0)[1])
    assert chosen == [0, 0, 1, 1]
