"""The options of comparisons, checked before anything is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..analysis import Analysed
from ..arguments import LARGEST_SEED, MOST_HITS, MOST_SECONDS, MOST_THREADS
from ..errors import TdvError
from ..options import PYTHON_ONLY, Named, OfField, Overwrite, option
from ..ranking.parameters import OfTiers, SearchedModel
from ..searching.config import Asking

_TIMING = "Timing"


def _check_measures(measures: str | Sequence[str], name: str) -> None:
    from ..evaluation.measures import parse_measures

    parse_measures(measures)


@dataclass(frozen=True, kw_only=True)
class CompareConfig(Asking, Overwrite):
    """Options of :func:`tdv_lucene.compare_indexes`."""

    measures: str | Sequence[str] = option(
        (), "Add measures to nDCG@5, nDCG@10, MAP and R@1000 by their ir-measures names, such as "
        "'RR@10 R@100 P@5'.",
        metavar="NAMES", multiple=True, check=_check_measures,
    )  # fmt: skip
    names: tuple[str, str] = option(
        ("full", "pruned"), "Call the two indexes this in the report.", flag=PYTHON_ONLY
    )
    further_indexes: Mapping[str, str | os.PathLike[str]] | None = option(
        None,
        "Name -> index, for more columns in the same tables; each is compared with the first.",
        flag=PYTHON_ONLY,
    )
    further_queries: Sequence[tuple[Any, Any]] = option(
        (), "More (topics, qrels) to measure on. Latency is measured on the first topics only.",
        flag=PYTHON_ONLY,
    )  # fmt: skip
    tune: tuple[Any, Any] | None = option(
        None,
        "Training (topics, qrels). The first index is then also searched with k1 and b (or mu) "
        "tuned on them, as the system NAME-tuned, and timed like an index of its own.",
        flag=PYTHON_ONLY,
    )
    threads: int | None = option(
        None, "Search this many queries at once, except while latency is measured.",
        least=1, most=MOST_THREADS, group=_TIMING,
    )  # fmt: skip
    latency_budget_seconds: float = option(
        60.0, "Limit the time for measuring latency. Times fewer queries if needed.",
        flag="latency-budget", metavar="SECONDS", least=0.001, most=MOST_SECONDS, group=_TIMING,
    )  # fmt: skip
    seed: int = option(
        0, "Set the random seed that chooses and orders the timed queries.",
        least=0, most=LARGEST_SEED, group=_TIMING,
    )  # fmt: skip

    def validate(self) -> None:
        """Refuse names that cannot be names of files, or are keys of a measure in the report."""
        from ..evaluation.significance import PairedComparison

        names = [*self.names, *(self.further_indexes or {})]
        reserved = {"means", "tests", *(figure.name for figure in fields(PairedComparison))}
        for name in names:
            if not re.fullmatch(r"\w[\w.+-]*", name) or name in reserved:
                raise TdvError(
                    f"name '{name}' is not usable: write letters, digits, '_', '-', '+', '.', and "
                    f"none of {', '.join(sorted(reserved))}"
                )
            if names.count(name) > 1:
                raise TdvError(f"two indexes are named '{name}': give two different names")


@dataclass(frozen=True, kw_only=True)
class ExplainConfig(SearchedModel, OfTiers, Analysed, OfField, Named):
    """Options of :func:`tdv_lucene.explain_query`."""

    hits: int = option(10, "Show this many documents.", least=1, most=MOST_HITS)
