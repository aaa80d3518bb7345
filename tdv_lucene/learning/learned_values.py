"""What learning found, as the TDVs that are saved."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from ..matrix.first_positions import describe_boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..values.losses import MEASURE, recommend
from ..values.term_values import TermValues
from .points import Learned


def values_of(
    learned: Learned,
    recipe: Any,
    seed: int,
    recommended: float | None = None,
    measure: str = MEASURE,
) -> TermValues:
    """Return the TDVs, with all that led to them in the manifest.

    Parameters
    ----------
    recipe
        A dataclass with a ``name``.
    recommended
        The reduction that pruning takes; None for what was learned, or the points recommend.
    measure
        What they recommend it by.
    """
    problem, final = learned.problem, learned.final
    because = None
    if recommended is None:
        recommended, because = learned.recommended or recommend(
            learned.points, measure, learned.prior_reduction
        )
    matrix = problem.matrix
    return TermValues.of(
        matrix,
        final.weights,
        final.priority,
        final.rule,
        **({} if final.rule is None else {"unit": recipe.unit}),
        model=problem.model,
        parameters=problem.parameters,
        lead=describe_boost(matrix.position_boost),
        positions=matrix.first_positions is not None,
        recipe={"name": recipe.name, **asdict(recipe), **_chosen(learned)},
        seed=seed,
        vectors=dict(problem.vectors.origin),
        queries=len(problem.queries),
        pool=_pool(matrix),
        folds=learned.folds,
        points=learned.points,
        prior=learned.moved,
        full=learned.full,
        measure=measure,
        choice=learned.choice.get(measure),
        recommended_reduction=recommended,
        recommended_because=because,
    )


def _chosen(learned: Learned) -> dict[str, Any]:
    """The order of postings and the finest scale, where queries chose them; None is any scale."""
    if learned.way is None:
        return {}
    finest = learned.way.finest
    return {"per_byte": learned.way.per_byte, "finest": finest if isfinite(finest) else None}


def _pool(matrix: TermDocumentMatrix) -> dict[str, Any] | None:
    """What a manifest says of the pool: measures in it are estimates."""
    pool = matrix.pool
    if pool is None or matrix.collection is None:
        return None
    return {
        "documents": len(pool.drawn),
        "of": matrix.collection["documents"],
        "drawn": int(np.count_nonzero(pool.drawn)),
        "postings": matrix.postings,
    }
