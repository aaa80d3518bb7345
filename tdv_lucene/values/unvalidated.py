"""TDVs without learning, and not measured: those of peers, of the prior and of tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import DEFAULT_MODEL, SearchParameters
from .dropped_postings import PostingRule
from .term_values import TermValues

TUNE_RECIPE = "tune"
"""The recipe of :func:`tuned_values`."""


def unvalidated_values(
    matrix: TermDocumentMatrix,
    weights: np.ndarray,
    priority: np.ndarray,
    rule: PostingRule | None,
    *,
    reductions: Sequence[float],
    scale: float | Callable[[float], float],
    recommended: float,
    **about: Any,
) -> TermValues:
    """Return these TDVs with operating points that have no measures.

    Parameters
    ----------
    weights, priority : float32[V]
        See :class:`.TermValues`.
    rule
        How single postings are dropped; None if only whole terms are.
    scale
        What frequencies are multiplied by, or a function of the reduction.
    recommended
        The reduction that pruning takes unless told otherwise.
    about
        What the manifest says of their origin: ``model``, ``parameters``, ``recipe`` and more.
    """
    points = [
        {"reduction": r, "removed": r, "measures": {}, "full": {},
         "scale": scale(r) if callable(scale) else scale, "scales": []}
        for r in reductions
    ]  # fmt: skip
    return TermValues.of(
        matrix, weights, priority, rule,
        **about, queries=0, points=points, recommended_reduction=recommended,
    )  # fmt: skip


def tuned_values(
    matrix: TermDocumentMatrix, parameters: SearchParameters, about: Mapping[str, Any]
) -> TermValues:
    """Return TDVs of 1 for BM25 with these parameters; nothing is dropped.

    ``about`` is for the manifest: what the parameters are from.
    """
    matrix.require_postings("tuning")
    weights = np.ones(matrix.shape[0], np.float32)
    return unvalidated_values(
        matrix, weights, weights, None, reductions=(0.0,), scale=1.0, recommended=0.0,
        model=DEFAULT_MODEL, parameters=parameters, lead=None, positions=False,
        recipe={"name": TUNE_RECIPE}, **about,
    )  # fmt: skip
