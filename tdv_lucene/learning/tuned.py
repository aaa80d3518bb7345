"""TDVs that change nothing but the parameters: those of an index that is tuned and not pruned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import DEFAULT_MODEL
from ..values.term_values import TermValues
from ..values.unvalidated import unvalidated_values
from .recipes import Parameters

RECIPE = "tune"


def tuned_values(
    matrix: TermDocumentMatrix, parameters: Parameters, about: Mapping[str, Any]
) -> TermValues:
    """Return TDVs of 1 for BM25 with these parameters; nothing is dropped.

    ``about`` is for the manifest: what the parameters are from.
    """
    matrix.require_whole("tuning")
    weights = np.ones(matrix.shape[0], np.float32)
    described = {
        "model": DEFAULT_MODEL,
        "parameters": parameters.values(),
        "lead": None,
        "positions": False,
        "recipe": {"name": RECIPE},
        **about,
    }
    return unvalidated_values(
        matrix, weights, weights, None, described, reductions=(0.0,), scale=1.0, recommended=0.0
    )
