"""Documents of an impact index, whose frequencies are weights."""

from __future__ import annotations

import numpy as np
from lucene_indexes import Doc, Layout

from tdv_lucene.analysis import Analysis
from tdv_lucene.ranking.postings import WeightPower

LAYOUT = Layout(norms="impact", raw=False, analysis=Analysis(pretokenized=True))
POWER = WeightPower(1.5, 9.0)
_WEIGHTS = [0, 0, 0, 1, 2, 9, 40, 250]


def impact_documents() -> list[Doc]:
    """Weights as an impact index has them; every document has "all"."""
    rng = np.random.default_rng(4)
    terms = ("a", "##b", "c", "e")
    return [
        Doc(f"d{i}", ["all"] * 3 + [t for t in terms for _ in range(rng.choice(_WEIGHTS))])
        for i in rng.permutation(60)
    ]
