"""Plans of fields, for tests that say themselves what decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdv_lucene.plan import LONGEST, FieldPlan
from tdv_lucene.vocabulary import Vocabulary


def field_plan(
    vocabulary: Vocabulary, tdv: np.ndarray, scale: float | None = None, **changes: Any
) -> FieldPlan:
    """Return the plan of a field with these TDVs, and nothing else that decides."""
    rest = {"boost": None, "cut": None, "norms": None, "facts": {}, "learned": {}, **changes}
    return FieldPlan(
        vocabulary,
        doc_freq=rest.pop("doc_freq", np.ones(len(vocabulary), np.int64)),
        tdv=np.asarray(tdv, np.float32),
        scale=scale,
        unseen=rest.pop("unseen", np.ones(2 * (LONGEST + 1), np.float32)),
        **rest,
    )
