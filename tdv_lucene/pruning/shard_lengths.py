"""The average length of an index in shards: what the norms of each shard are made for.

A searcher computes BM25's length norm with the average of the whole. So before any shard is written
all of them are counted, in a fifth of the time that writing takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arguments import Shards
from ..indexes.shards.record import Part
from ..indexes.shards.workers import Workers
from ..progress import Progress
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .prune import plan_rewriting
from .rewriting import Rewriting, refuse_without_norms
from .search_target import baking_of

_COUNTED = "tokens", "documents"


def with_average_lengths(
    workers: Workers,
    shards: Shards,
    plans: Mapping[str, Rewriting],
    values: Mapping[str, Any],
    config: PruneConfig,
    progress: Progress,
) -> dict[str, Rewriting]:
    """The plans with what norms are made for: lengths of the whole, counted by all shards."""
    first = next(iter(plans.values()))
    points = first.points(config.reduction)
    if not any(
        baking_of(one, point.scale, config.target) for one, point in zip(first.fields, points)
    ):
        return dict(plans)
    tasks = {name: (plan.index, values[name], config, plan.part) for name, plan in plans.items()}
    where = dict(zip(shards.names, shards.resources))
    counts = workers.each(_count_shard, tasks, "count tokens", progress, where=where)
    averages = []
    for field in counts[0]:
        of_field = [count[field] for count in counts]
        if any(one["has_norms"] for one in of_field):
            tokens, documents = (sum(one[what] for one in of_field) for what in _COUNTED)
            averages.append((field, tokens / documents if documents else 1.0))
        else:
            refuse_without_norms(field, shards, config)
    return {name: _made_for(plan, tuple(averages)) for name, plan in plans.items()}


def _made_for(plan: Rewriting, averages: tuple[tuple[str, float], ...]) -> Rewriting:
    assert plan.part is not None  # a shard's plan has one
    return replace(plan, part=replace(plan.part, average_lengths=averages))


def _count_shard(
    source: str, values: Sequence[str | TermValues], config: PruneConfig, part: Part
) -> dict[str, dict[str, Any]]:
    """In a worker: see :meth:`.rewriting.Rewriting.count`."""
    return plan_rewriting(source, load_fields(values), config, part=part).count(config.reduction)
