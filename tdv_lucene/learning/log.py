"""Measure operating points by a query log: how far pruning changes what its queries return.

Nobody judged the queries. What a pruned index returns is held against the *whole*, the re-weighted
index with nothing dropped. Its first answer to each query serves as the only relevant document:
what the pruned index loses of nDCG@5 by that, at the worse end of the 95 % interval of as many
queries to come, is the *bound*. An index that ranks another document first loses by it, also where
that one is as good. So judged queries lost less than their bound in all that was tried but one
(scripts/bench/log_bound.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import TdvError
from ..interruption import deferred
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_vectors import latent_semantic_vectors
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.collection import WeightedCollection
from ..simulation.problem import JudgedMatrix, Problem, PrunedByFold, TermScores
from ..simulation.retrieval import unjudged_queries
from ..values.posting_rule import REDUCTIONS
from ..values.term_values import TermValues
from .pool import Search, pool_of, pool_size
from .scale import ChosenScale, best_documents, describe_scale
from .selection import within_loss
from .validate import FullIndex, mean_visited, validate_points

MAX_LOSS = 0.04  # the largest bound that is allowed by default
TEN, DEPTHS = 10, (10, 100, 1000)  # the whole's best documents that are looked for, and how deep
_FEWEST_QUERIES = 17
"""The smallest log that was tried. Two or three queries without a change prove nothing."""


def values_by_log(
    values: TermValues,
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
    pool: int | None = None,
    search: Search | None = None,
    remove_query: bool = False,
    progress: Progress = silent,
) -> TermValues:
    """Return ``values``, the prior's of ``matrix``, with operating points measured by a query log.

    Arguments are those of :func:`.learn.learn_term_values`. Raises :class:`TdvError` when fewer
    than ``_FEWEST_QUERIES`` have a term of the index.
    """
    queries, model = unjudged_queries(matrix, topics, remove_query), values.model
    if len(queries) < _FEWEST_QUERIES:
        raise TdvError(
            f"too few queries of the log have a term of the index ({len(queries)}): at least "
            f"{_FEWEST_QUERIES} can choose a reduction; pass a longer log, or leave it out"
        )
    size = pool_size(matrix.documents, pool)
    matrix, queries = pool_of(matrix, queries, model, search, size, seed, progress)
    kept: dict[float, dict[str, float]] = {}
    with deferred():
        problem = Problem(
            JudgedMatrix(matrix.with_position_boost(values.position_boost), queries),
            latent_semantic_vectors(matrix, dimensions=0),
            model,
            SearchParameters().with_values(values.parameters),
            values.weights,
        )
        rule = values.posting_rule
        assert rule is not None  # the prior has one
        scores = TermScores(values.weights, rule)
        scales = {point["reduction"]: point["scale"] for point in values.points}
        finest = max(scales.values())  # ranks best, whatever the bytes
        here, collection = PrunedByFold.in_one_fold(problem, scores, 0.0).prune(finest)
        best = here.postings.top(here.impacts(collection), TEN)
        queries, best = problem.queries.answered_by(best[:, 0]), best[best[:, 0] >= 0]
        problem = replace(problem, judged=replace(problem.judged, queries=queries))
        whole = PrunedByFold.in_one_fold(problem, scores, 0.0)

        def at_its_scale(at: PrunedByFold) -> ChosenScale:
            scale = scales[at.reduction]
            shares = fidelity_of(*at.prune(scale), best).mean(axis=0)
            kept[at.reduction] = {f"{depth}": float(s) for depth, s in zip(DEPTHS, shares)}
            entry = describe_scale(at, scale, best_documents(at))
            return ChosenScale([entry], entry, [scale] * len(at.folds))

        plain = problem.full.with_parameters(SearchParameters())
        visited = mean_visited(problem, plain.plain.statistics)
        full = FullIndex(whole.held_out([finest]), plain.parameters, visited)
        facts = validate_points(whole, full, REDUCTIONS, at_its_scale, progress)
    points = [{**point, "kept": kept[point["reduction"]]} for point in facts["points"]]
    borne = [float(point["reduction"]) for point in within_loss(points, MAX_LOSS)]
    found = {
        "points": points,
        "full": facts["full"],
        "log": {"queries": len(queries), "max_loss": MAX_LOSS},
        "recommended_reduction": max(borne, default=0.0),
    }
    return replace(values, manifest={**values.manifest, **found})


def fidelity_of(problem: Problem, collection: WeightedCollection, best: np.ndarray) -> np.ndarray:
    """Return float64[Q, 3]: the shares of each query's documents, of ``best`` int32[Q, 10], that
    are among its first ``DEPTHS`` in ``collection``. -1 is none; Q is of queries with some."""
    postings, some = problem.postings, np.flatnonzero(best[:, 0] >= 0)
    ranks = [
        postings.ranks(scores, best[query][best[query] >= 0])
        for query, scores in postings.scores(problem.impacts(collection), some)
    ]
    return np.array([[(of_query <= depth).mean() for depth in DEPTHS] for of_query in ranks])
