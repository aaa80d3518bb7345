"""How TDVs are learned: what tests, the prior and the paper's experiment change of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import TdvError
from ..values.operating_point import REDUCTIONS

FEWEST_QUERIES = 5
"""From fewer nothing is learned where there is a prior: they only measure what it gives."""


@dataclass(frozen=True)
class DefaultRecipe:
    """Exact statistics, Lucene's own idf, a listwise loss, stopped by validation.

    Manifests have its fields: ``lead`` is the first-position boost, ``values`` are TDVs.

    Attributes
    ----------
    prior : bool
        Start from what other judged collections say of this one (see :mod:`..prior.prior`), and
        move away only as far as the queries make sure. Else TDVs start at 1 and parameters at
        Anserini's.
    lead : bool
        Use a first-position boost (see :mod:`..ranking.boosts`), if the matrix has
        positions.
    values : bool
        Learn TDVs; else all are the same, and only the first-position boost, the search's
        parameters and the choice of postings are left.
    max_steps, check_every : int
        Length of a training, and how often it may be stopped.
    learning_rate : float
        Adam's, falling to a tenth along a cosine.
    l2 : float
        Penalty on the squared length of w (b is free).
    folds : int
        At least 2: each is measured with what the others taught.
    reductions : tuple of float
        Operating points.
    """

    name = "default"
    prior: bool = True
    lead: bool = True
    values: bool = True
    max_steps: int = 160
    check_every: int = 40
    learning_rate: float = 1e-2
    l2: float = 1e-1
    folds: int = 5
    reductions: tuple[float, ...] = REDUCTIONS

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise TdvError(f"folds is {self.folds}, and learning holds one out: pass 2 or more")
