"""The ways of pruning that the table compares, and what is searched on the indexes they make."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from table_rows import QueryData, Split

import tdv_lucene
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.paper.pairwise import PaperRecipe
from tdv_lucene.values.term_values import TermValues

_LEARNED_BY = ("learning", "core", "embedding", "matrix", "values", "ranking")
_PAPER_BY = ("paper/learn.py", "paper/pairwise.py", "paper/similarities.py")
_READ_BY_PRUNING = ("unit", "posting_rule", "lead")
"""Of a manifest, what pruning reads."""
_ORDERED_BY = ("peers", "core/scoring.py", "values")


@dataclass(frozen=True)
class Method:
    """A way of pruning.

    Attributes
    ----------
    name : str
    recipe : DefaultRecipe, PaperRecipe or None
        None: unlearned, made by ``tdv-lucene peers --name NAME``.
    binary : bool
        The learned order, and first-position boost if there is one, with TDVs of 1.
    min_doc_freq : int
        Of pruning.
    values_of : str or None
        The method whose TDVs these are; None for its own.
    tuned : bool
        Searched with k1 and b (or mu) tuned on a row's training queries; learned TDVs have their
        own.
    """

    name: str
    recipe: DefaultRecipe | PaperRecipe | None = None
    binary: bool = False
    min_doc_freq: int = 1
    values_of: str | None = None
    tuned: bool = False

    @property
    def trained(self) -> bool:
        """Whether judged queries are learned from."""
        return self.recipe is not None

    @property
    def positions(self) -> bool:
        """Whether it is learned on, and prunes, an index with positions."""
        return self.trained and isinstance(self.recipe, DefaultRecipe) and self.recipe.lead

    @property
    def code(self) -> str:
        """Stands for the parts of the package that decide what the TDVs are."""
        if self.recipe is None:
            return _source(*_ORDERED_BY)
        return _source(*(_PAPER_BY if self.recipe.name == "paper" else _LEARNED_BY))

    def within(self, split: Split | None) -> Method:
        """Return the method with the split's own number of inner folds, if it has one."""
        fewer = split is not None and split.inner_folds
        if not fewer or self.recipe is None or self.recipe.folds <= fewer:
            return self
        return replace(self, recipe=replace(self.recipe, folds=fewer))

    @property
    def changes_nothing_at_zero(self) -> bool:
        """At 0 % removed such a pruning is the full index itself."""
        return self.recipe is None or (self.binary and not self.positions)


class Search(NamedTuple):
    """What is searched on an index, with parameters other than its own where some are given."""

    queries: QueryData
    model: str
    parameters: Mapping[str, float] = MappingProxyType({})


@cache
def _source(*parts: str) -> str:
    package = Path(tdv_lucene.__file__).parent
    found = hashlib.sha256()
    for part in parts:
        path = package / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def values_digest(values: TermValues) -> str:
    """Stands for all that pruning reads of term values."""
    found = hashlib.sha256(values.vocabulary.sha256.encode())
    for name, array in sorted(vars(values).items()):
        if isinstance(array, np.ndarray):
            found.update(name.encode() + np.ascontiguousarray(array).tobytes())
    chosen = [(p["reduction"], p["scale"]) for p in values.points]
    rest = {k: v for k, v in values.manifest.items() if k in _READ_BY_PRUNING}
    found.update(json.dumps([chosen, rest, values.parameters]).encode())
    return found.hexdigest()[:16]
