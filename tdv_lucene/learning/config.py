"""The options of learning, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass

from ..arguments import ANYTHING, Effect, changed, checked_seed, parse_bytes, refuse_idle
from ..errors import TdvError
from ..evaluation.topics import check_topic_field
from ..ranking import DEFAULT_MODEL, MODELS, SearchParameters, ranking_function
from ..values.term_orders import RANKING, preferred_order
from .pool_drawing import check_pool

EFFECTS = (
    Effect(
        ("topics", "qrels", "topic_field", "vectors", "trust_pickle", "prior",
         "term_values", "seed", "k1", "b", "mu", "pool", "memory", "plot"),
        "no_judgements", "nothing is learned, and nothing measured", only=(False,),
    ),
    *(
        Effect(names, "model", f"only {ranking_function(name).title} has such a parameter",
               only=(name,))
        for name, names in MODELS.items() if names
    ),
    Effect(("vectors",), "term_values", "only learned TDVs need vectors", only=(True,)),
    Effect(("trust_pickle",), "vectors", "nothing else may be a pickle", only=(ANYTHING,)),
)  # fmt: skip
"""Beside what the options of learning have an effect."""


@dataclass(frozen=True)
class LearnConfig:
    """How :func:`tdv_lucene.learn_from_index` learns. Its options are explained there.

    Attributes
    ----------
    topic_field : "title", "desc" or "narr"
    model : "bm25", "qld" or "tfidf"
    trust_pickle : bool
    field : str
    prior : bool
    lead : bool
        Whether to use the first-position boost. Options and files keep this older word for it.
    term_values : bool
    prefer : "ranking", "size" or "speed"
    no_judgements : bool
    seed : int, from 0 to 2^32 - 1
    k1 : float or None, at least 0
    b : float or None, within [0, 1]
    mu : float or None, above 0
    pool : int or None, at least 0
    memory : int, str or None
        Such as ``"4GB"``.

    Raises
    ------
    TdvError
        When an option is out of its range, or has no effect beside another.
    """

    topic_field: str = "title"
    model: str = DEFAULT_MODEL
    trust_pickle: bool = False
    field: str = "contents"
    prior: bool = True
    lead: bool = True
    term_values: bool = True
    prefer: str = RANKING
    no_judgements: bool = False
    seed: int = 0
    k1: float | None = None
    b: float | None = None
    mu: float | None = None
    pool: int | None = None
    memory: int | str | None = None

    def __post_init__(self) -> None:
        check_topic_field(self.topic_field)
        check_model(self.model)
        checked_seed(self.seed)
        check_pool(self.pool)
        preferred_order(self.prefer, self.model)
        _ = self.memory_bytes
        SearchParameters(None, **self.parameters)
        refuse_idle(EFFECTS, changed(self), vars(self))

    @property
    def memory_bytes(self) -> int | None:
        """What learning may take; None for as much as it does."""
        return None if self.memory is None else parse_bytes(self.memory, "memory")

    @property
    def parameters(self) -> dict[str, float]:
        """Those that the search will use in any case; learning may choose the others."""
        given = {"k1": self.k1, "b": self.b, "mu": self.mu}
        return {name: x for name, x in given.items() if x is not None}


def check_model(model: str) -> None:
    """Raise :class:`TdvError` when there is no such ranking function."""
    if model not in MODELS:
        raise TdvError(f"no model '{model}': choose one of {', '.join(MODELS)}")
