"""The one tuner: what it tries, what it takes."""

from __future__ import annotations

import numpy as np

from tdv_lucene.evaluation.tuning import OBJECTIVE, parameters_to_try, tune
from tdv_lucene.ranking import ANSERINI_DEFAULTS, GRIDS


def test_what_was_given_is_tried_first_and_nothing_twice():
    for model, grid in GRIDS.items():
        choices = parameters_to_try(model, ANSERINI_DEFAULTS)
        assert choices[0] == {name: ANSERINI_DEFAULTS[name] for name in grid}
        assert len({tuple(choice.items()) for choice in choices}) == len(choices)
        assert len(choices) == np.prod([len(values) for values in grid.values()], dtype=int)
    own = parameters_to_try("qld", {"mu": 77.0})
    assert own[0] == {"mu": 77.0} and len(own) == len(GRIDS["qld"]["mu"]) + 1


def test_the_best_of_some_queries_is_taken_the_first_of_equals():
    """mu 250 suits the first query, 4000 the second, and for the third all are alike."""

    def measure(choice):
        return np.array([choice["mu"] == 250, choice["mu"] == 4000, 1], float)

    tuning = tune("qld", {"mu": 1000}, measure)
    assert [tuning.best(np.array(some))["mu"] for some in ([0], [1], [2])] == [250, 4000, 1000]
    assert tuning.best()["mu"] == 250  # 4000 serves as well, and comes later
    assert {row["mu"]: row[OBJECTIVE] for row in tuning.table()}[4000] == 2 / 3
