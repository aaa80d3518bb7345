"""What learning found, as the TDVs that are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..matrix.first_positions import describe_boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..values.term_values import TermValues
from .points import Learned


def values_of(
    learned: Learned, recipe: Any, seed: int, recommended: float | None = None
) -> TermValues:
    """Return the TDVs, with all that led to them in the manifest.

    Parameters
    ----------
    recipe
        A dataclass with a ``name``.
    recommended
        The reduction that pruning takes; None for what the points recommend.
    """
    problem, final = learned.problem, learned.final
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
        recipe={"name": recipe.name, **asdict(recipe)},
        seed=seed,
        vectors=dict(problem.vectors.origin),
        queries=len(problem.queries),
        pool=_pool(matrix),
        folds=learned.folds,
        points=learned.points,
        prior=learned.moved,
        full=learned.full,
        recommended_reduction=recommend(learned.points) if recommended is None else recommended,
    )


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


def recommend(points: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the reduction of the smallest index that surely ranks no worse; None if there is none.

    That is a point whose 95 % interval of the held-out difference from the tuned full index does
    not reach below 0 in nDCG@5, and is not wholly below 0 in R@1000. With few queries intervals
    are wide, and little or nothing is recommended: pruning then asks for a reduction.
    """
    lossless = [point for point in points if loses_nothing(point)]
    if not lossless:
        return None
    return float(min(lossless, key=lambda point: point["posting_bytes"])["reduction"])


def loses_nothing(point: Mapping[str, Any]) -> bool:
    """Whether :func:`recommend` may choose this point."""
    low = point["difference"]["nDCG@5"]["ci95"][0]
    return bool(low >= 0 and point["difference"]["R@1000"]["ci95"][1] >= 0)
