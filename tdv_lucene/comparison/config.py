"""The options of a comparison, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arguments import checked_seed, checked_threads
from ..evaluation.further_measures import parse_measures
from ..evaluation.topics import check_topic_field
from ..ranking import check_model
from ..timing.latency import LatencyPlan
from .content import FIXED_KEYS
from .systems import check_names


@dataclass(frozen=True)
class CompareConfig:
    """How :func:`tdv_lucene.compare_indexes` compares. Its options are explained there.

    Attributes
    ----------
    topic_field : "title", "desc" or "narr"
    model : "bm25", "qld", "tfidf" or None
    field : str
    names : (str, str)
        Of the two indexes in the report.
    measures : str or sequence of str
        By their names in ir-measures.
    throughput_threads : int or None
    end_to_end : bool
    threads : int or None
        Queries searched at once where nothing is timed; None for one a core.
    latency_budget_seconds : float, above 0
    seed : int, from 0 to 2^32 - 1

    Raises
    ------
    TdvError
        When an option is out of its range.
    """

    topic_field: str = "title"
    model: str | None = None
    field: str = "contents"
    names: tuple[str, str] = ("full", "pruned")
    measures: str | Sequence[str] = ()
    throughput_threads: int | None = None
    end_to_end: bool = False
    threads: int | None = None
    latency_budget_seconds: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_topic_field(self.topic_field)
        if self.model is not None:
            check_model(self.model)
        check_names(self.names, FIXED_KEYS)
        parse_measures(self.measures)
        if self.throughput_threads is not None:
            checked_threads(self.throughput_threads, "throughput_threads")
        checked_threads(self.threads)
        checked_seed(self.seed)
        _ = self.latency_plan

    @property
    def latency_plan(self) -> LatencyPlan:
        """How latency is measured."""
        return LatencyPlan(budget_seconds=self.latency_budget_seconds, seed=self.seed)
