"""TDVs by the paper's method with its open choices made by inner folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..embedding.term_vectors import TermVectors
from ..interruption import deferred
from ..learning.learn import values_of
from ..learning.scale import best_ranking_scale, faithful_scale
from ..learning.tune import choose_parameters, tuning_queries
from ..learning.validate import measure_full
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.problem import Problem
from ..values.posting_rule import constants_of
from ..values.term_values import TermValues
from .method import whitened
from .recipe import validate_zeros
from .selection import TunedRecipe, choose, train_final
from .trajectory import Triples, features_of


def learn_tuned(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str,
    recipe: TunedRecipe,
    vectors: TermVectors,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn TDVs by the paper's method, everything it leaves open chosen by inner folds.

    First k1 and b, or mu, are chosen for the full index, then the setting (see
    :func:`.selection.choose`), then the network is trained on all queries. A term without a vector
    has a TDV of 1. Terms with a TDV of 0 are dropped, and that is the reduction recommended. The
    parameters are those of :func:`tdv_lucene.learn_term_values`.

    Raises :class:`TdvError` as there.
    """
    matrix.require_postings("learning")
    rng = np.random.default_rng(seed)
    with deferred():  # JAX's callbacks bear no exception
        problem = Problem.of(matrix, topics, qrels, vectors, model, SearchParameters())
        problem.require_queries()
        folds = problem.folds(recipe.inner_folds, rng)
        some = tuning_queries(problem, seed)
        tuned = choose_parameters(problem, folds, some, progress)
        features = features_of(problem, whitened(vectors.vectors))
        triples = Triples(problem, recipe.candidates)
        chosen = choose(tuned, features, triples, folds, recipe, seed, progress)
        final = np.ones(matrix.shape[0], np.float32)
        network: dict[str, Any] = {}
        if chosen.setting is not None:
            final, network = train_final(
                tuned.of_all, features, triples, chosen.setting, recipe, seed
            )
        full = measure_full(problem, folds, some, progress)
        scale = faithful_scale
        if constants_of(model).scale_ranks:
            scale = partial(best_ranking_scale, first=1.0)
        learned = validate_zeros(
            tuned, final, chosen.of_folds, folds, full, recipe.reductions, scale, progress
        )
    setting = None if chosen.setting is None else chosen.setting._asdict()
    learned.folds[0]["paper"] = {"setting": setting, "network": network, "tried": chosen.table}
    return values_of(learned, recipe, seed)
