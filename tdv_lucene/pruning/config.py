"""The options of pruning, checked before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..arguments import (
    ANYTHING,
    Effect,
    changed,
    checked_reduction,
    checked_threads,
    parse_bytes,
    refuse_idle,
)
from ..errors import TdvError, argument
from ..values.term_values import UNITS
from .reduction_choice import check_loss
from .search_target import SearchTarget

MODES = ("scaled", "original")

EFFECTS = (
    Effect(("scale",), "tf", "frequencies stay as they are", only=("scaled",)),
    Effect(("field",), "values", "TDVs say which field they are of", only=(None,)),
    Effect(
        ("save_values",), "values", "TDVs that are given need not be saved", only=(None,),
    ),
    Effect(
        ("max_loss",), "values", "a loss is measured on judged queries, and none were",
        only=(ANYTHING,),
    ),
)  # fmt: skip
"""Beside what the options of pruning have an effect."""


@dataclass(frozen=True)
class PruneConfig:
    """How :func:`tdv_lucene.prune_index` prunes. Its options are explained there.

    Attributes
    ----------
    reduction : float or None, within [0, 1)
    max_loss : float or None, within [0, 1)
    max_bytes : int, str or None
        Such as ``"25MB"``. At most one of these three is given.
    scale : float above 0, or "auto"
    tf : "scaled" or "original"
    unit : "term", "posting" or None
    min_doc_freq : int, at least 1
    threads : int or None
    field : str
    optimize : bool
    search_as : "anserini", "lucene", "recorded", "K1,B", "MU" or None

    Raises
    ------
    TdvError
        When an option is out of its range, or two exclude each other.
    """

    reduction: float | None = None
    max_loss: float | None = None
    max_bytes: int | str | None = None
    scale: float | str = "auto"
    tf: str = "scaled"
    unit: str | None = None
    min_doc_freq: int = 1
    threads: int | None = None
    field: str = "contents"
    optimize: bool = False
    search_as: str | None = None

    def __post_init__(self) -> None:
        if self.tf not in MODES:
            raise TdvError(f"{argument('tf')} must be 'scaled' or 'original', got '{self.tf}'")
        if self.unit is not None and self.unit not in UNITS:
            raise TdvError(f"no unit '{self.unit}': choose one of {', '.join(UNITS)}")
        if self.min_doc_freq < 1:
            raise TdvError(
                f"{argument('min_doc_freq')} must be at least 1, got {self.min_doc_freq}: 1 keeps "
                "all terms, 2 drops those of one document"
            )
        self._check_amount()
        checked_threads(self.threads)
        _ = self.fixed_scale, self.target
        refuse_idle(EFFECTS, changed(self), vars(self))

    def _check_amount(self) -> None:
        amounts = {name: getattr(self, name) for name in ("reduction", "max_loss", "max_bytes")}
        named = [name for name, value in amounts.items() if value is not None]
        if len(named) > 1:
            names = " and ".join(map(argument, named))
            raise TdvError(f"{names} exclude each other: each of them sets the reduction")
        if self.reduction is not None:
            checked_reduction(self.reduction)
        if self.max_loss is not None:
            check_loss(self.max_loss)
        if self.max_bytes is not None:
            parse_bytes(self.max_bytes)

    @property
    def target(self) -> SearchTarget:
        """Whose parameters the index is written for."""
        return SearchTarget.of(self.search_as)

    @property
    def fixed_scale(self) -> float | None:
        """What frequencies are multiplied by; None for each field's own."""
        if self.scale == "auto":
            return None
        try:
            number = float(self.scale)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            raise TdvError(
                f"{argument('scale')} must be 'auto' or a number above 0, got '{self.scale}': try 4"
            )
        return number
