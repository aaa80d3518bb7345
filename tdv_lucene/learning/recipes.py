"""How TDVs are learned: every number that learning uses."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.losses import LOSSES
from ..errors import TdvError
from ..simulation.posting_rules import RuleRecipe
from ..values.operating_point import REDUCTIONS


@dataclass(frozen=True)
class DefaultRecipe(RuleRecipe):
    """Exact statistics, Lucene's own idf, a listwise loss, stopped by validation.

    Its fields are written into manifests, so they keep older words: ``lead`` is the first-position
    boost, ``values`` are TDVs.

    Attributes
    ----------
    prior : bool
        Start from what other judged collections say of this one (see :mod:`..prior.prior`), and
        move away only as far as the queries make sure. Else TDVs start at 1 and parameters at
        Anserini's.
    caution : float
        With a prior: by how many standard errors the result must serve held-out queries better than
        the prior does. 0 without one.
    fewest_queries : int
        With fewer, nothing is learned from them: they only measure what the prior gives.
    tuned : bool
        Tune k1 and b (or mu) and the first-position boost on the training queries first, unless
        parameters are given.
    lead : bool
        Use a first-position boost (see :mod:`..ranking.boosts`), if the matrix has
        positions.
    values : bool
        Learn TDVs; else all are the same, and only the first-position boost, the search's
        parameters and the choice of postings are left.
    max_steps, check_every : int
        Length of a training, and how often it may be stopped.
    queries_per_step, width : int
        Lists a step and candidates a list.
    learning_rate : float
        Adam's, falling to a tenth along a cosine.
    l2 : float
        Penalty on the squared length of w (b is free).
    slopes : tuple of float
        How far TDVs may differ from their mean (1: as learned, 0: all the same).
    depth : int
        Candidates a query to sample from.
    loss : str
        ``"listwise"`` (softmax cross-entropy) or ``"hinge"`` (over pairs, with a learned margin).
    features : str
        ``"all"``, ``"statistics"`` (of the collection) or ``"vectors"``.
    folds : int
        At least 2: each is measured with what the others taught.
    trained_at : float
        Share of the postings that are gone while values are learned.
    reductions : tuple of float
        Operating points.
    unit : str
        What is dropped, ``"term"`` or ``"posting"``, unless pruning is told otherwise.
    """

    name = "default"
    prior: bool = True
    caution: float = 1.0
    fewest_queries: int = 5
    tuned: bool = True
    lead: bool = True
    values: bool = True
    max_steps: int = 160
    check_every: int = 40
    queries_per_step: int = 128
    width: int = 40
    learning_rate: float = 1e-2
    l2: float = 1e-1
    slopes: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75)
    depth: int = 1000
    loss: str = "listwise"
    features: str = "all"
    folds: int = 5
    trained_at: float = 0.0
    reductions: tuple[float, ...] = REDUCTIONS
    unit: str = "posting"

    def __post_init__(self) -> None:
        choices = {
            "loss": tuple(LOSSES),
            "features": ("all", "statistics", "vectors"),
            "unit": ("term", "posting"),
        }
        for name, legal in choices.items():
            if getattr(self, name) not in legal:
                raise TdvError(
                    f"no {name} '{getattr(self, name)}': choose one of {', '.join(map(str, legal))}"
                )
        if self.folds < 2:
            raise TdvError(f"folds is {self.folds}, and learning holds one out: pass 2 or more")
