"""From TDVs and options to the plan of an index: the one place where a pruning is decided."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..index.analysis import IN_VALUES, FieldAnalysis, analysis_of, record_to_add
from ..index.index import Index
from ..index.parameters import Searcher
from ..index.record import (
    SEARCHER,
    SOURCE_PATH,
    ShardRecord,
    as_user_data,
    carried_over,
    shard_as_user_data,
)
from ..learning.selection import loss_of, most_loss_of, point_within_loss
from ..plan import FieldPlan, Plan
from ..ranking.postings import describe_boost
from ..report.wording import counted
from ..source import ID_FIELD
from ..values.posting_rule import OperatingPoint
from ..values.term_values import TUNE_RECIPE, TermValues, tdvs_of_unseen
from ..version import __version__
from .config import PruneConfig
from .targets import SearchTarget, baking_of, refuse_scale, scale_for, search_parameters


@dataclass(frozen=True)
class Reduction:
    """The share of the postings to drop, and how it was found out; ``chosen`` is None where it was
    asked for or recommended."""

    share: float
    chosen: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, values: TermValues, config: PruneConfig) -> Reduction:
        """Return the reduction that was asked for, as such or by a loss; else the one that a query
        log chooses, or the recommended one.

        Raises :class:`TdvError` when none is recommended, or every point may lose more.
        """
        if config.reduction is not None:
            return cls(config.reduction)
        log, max_loss, measure = values.manifest.get("log"), config.max_loss, values.measure
        if max_loss is not None:
            point = point_within_loss(values.points, max_loss, measure)
        elif log and config.max_bytes is None:
            max_loss, recommended = log["max_loss"], values.recommended_reduction
            point = next(p for p in values.points if p["reduction"] == recommended)
        else:
            return cls(values.recommended_reduction)
        return cls(
            float(point["reduction"]),
            {
                **({"log": log, "kept": point["kept"]} if log else {}),
                "max_loss": max_loss,
                "measure": measure,
                "loss": loss_of(point, measure),
                "loss_at_most": most_loss_of(point, measure),
                "measures": dict(point["measures"]),
                "full": dict(point["full"]),
                "reduction": point["reduction"],
            },
        )


def plan_field(
    values: TermValues,
    reduction: float,
    config: PruneConfig,
    target: SearchTarget,
    *,
    has_norms: bool,
    what: str,
) -> tuple[FieldPlan, OperatingPoint]:
    """Decide on every posting of a field; return the plan, and the operating point it is of.

    Parameters
    ----------
    reduction
        Share of the postings to drop.
    target
        Whose parameters the field is written for.
    has_norms
        Whether the field has norms to write k1 and b into.
    what
        The index, for errors.

    Raises
    ------
    TdvError
        When the scale does not suit the target, the field has no norms for it, or no term is left.
    """
    refuse_scale(values, target, config.tf, config.fixed_scale)
    # Rules for postings need the idf corrected, which original frequencies cannot do.
    by_term = config.tf == "original" and values.posting_factors is not None
    point = values.at_reduction(reduction, unit="term" if by_term else None)
    scale = config.fixed_scale
    if config.tf == "original":
        scale = None
    elif scale is None:
        scale = scale_for(values, point.scale, target, reduction)
    tdv = np.where(config.drops(np.asarray(values.doc_freq)), np.float32(0), point.tdv)
    if len(tdv) and not tdv.any():
        raise _nothing_left(values, point, reduction, config)
    norms = baking_of(values, scale, target)
    if norms is not None and not has_norms:
        target.refuse_lack_of_norms(values.vocabulary.field, what)
        norms = None
    facts = {
        "version": __version__,
        "field": values.vocabulary.field,
        "model": values.model,
        "learned_from": _learned_from(values),
        "tf": config.tf,
        "unit": "term" if point.cut is None else "posting",
        "search": search_parameters(values, scale, target, norms),
        "requested_reduction": reduction,
        "lead": describe_boost(point.position_boost),
    }
    boost = None if scale is None else point.position_boost
    unseen = tdvs_of_unseen(values)
    plan = FieldPlan(
        values.vocabulary, np.asarray(values.doc_freq, np.int64), np.asarray(tdv, np.float32),
        scale, boost, point.cut, unseen, norms, facts, _learned(values),
    )  # fmt: skip
    return plan, point


def user_data_of_plan(
    index: Index,
    plan: Plan,
    analysed: Mapping[str, FieldAnalysis],
    named_by: str | None,
    searcher: Searcher,
    shard: ShardRecord | None = None,
) -> dict[str, str]:
    """Return what the commit of the pruned index says of it, but for what Java adds: the reduction
    reached, average lengths and segments.

    Parameters
    ----------
    named_by
        The field that names documents, if one was asked for.
    searcher
        Whose defaults the source is searched with; a shard's are those of the whole.
    shard
        Where the index is a shard: of what.
    """
    fields = [plan.field for plan in plan.fields]
    described = [{**one.record(), "source_commit": index.commit} for one in plan.fields]
    said: dict[str, str] = {}
    for one in plan.fields:
        said |= record_to_add(analysed[one.field], one.field, is_new=one.name is not None)
    return {
        **carried_over(index.user_data, fields),
        **as_user_data(described),
        **shard_as_user_data(shard, index.user_data),
        **said,
        **({} if named_by is None else {ID_FIELD: named_by}),
        SEARCHER: searcher.name,
        SOURCE_PATH: os.path.abspath(index),
    }


def analyses_of(
    index: Index, plan: Plan, asked: Analysis | None, learned: Mapping[str, Any]
) -> dict[str, FieldAnalysis]:
    """Return how each field was analysed, by the name it is written to: as the TDVs of its source
    say (``learned``) where the index does not."""
    found = {}
    for one in plan.fields:
        field, source = one.field, one.source_field
        found[field] = analysis_of(index, source, asked)
        if source in learned and not found[field].is_certain:
            found[field] = FieldAnalysis.of_record(learned[source], IN_VALUES)
    return found


def _learned(values: TermValues) -> dict[str, Any]:
    """Return what learning measured, and on what."""
    points = values.points
    source = values.manifest.get("source", {})
    return {
        "points": [
            {"reduction": p["reduction"], "measures": dict(p["measures"])}
            for p in points
            if p["measures"]
        ],
        "full": dict(points[0].get("full", {})),
        "commit": source.get("commit"),
        "path": source.get("path"),
        "documents": source.get("documents"),
        "tokens": int(np.sum(values.total_term_freq)),
    }


def _learned_from(values: TermValues) -> str:
    """Return what the TDVs were learned from, in words."""
    manifest = values.manifest
    prior, queries = manifest.get("prior"), manifest.get("queries")
    if manifest.get("recipe", {}).get("name") == TUNE_RECIPE:
        by = f"by {_made_by_prior(prior)}" if prior else f"on {_judged(manifest['tuned_on'])}"
        return f"k1 and b tuned {by}"
    if prior and not queries:
        return _made_by_prior(prior)
    if queries:
        return _judged(queries)
    peer = manifest.get("recipe", {}).get("name")
    return "nothing" if peer is None else f"nothing (the peer {peer})"


def _judged(queries: int) -> str:
    return counted(queries, "judged query", "judged queries")


def _made_by_prior(prior: Mapping[str, Any]) -> str:
    name = f"prior {prior['name']} ({prior['sha256'][:12]})" if "sha256" in prior else prior["name"]
    return f"{name}, no judgements"


def _nothing_left(
    values: TermValues, point: OperatingPoint, reduction: float, config: PruneConfig
) -> TdvError:
    kept = point.tdv > 0
    if kept.any():
        largest = np.asarray(values.doc_freq)[kept].max()
        return TdvError(
            f"min_doc_freq {config.min_doc_freq} leaves no posting of "
            f"'{values.vocabulary.field}': {largest} is the largest that leaves some"
        )
    return emptied(values.vocabulary.field, reduction)


def emptied(field: str, reduction: float) -> TdvError:
    """Return the error of a field that has no posting left."""
    return TdvError(
        f"a reduction of {reduction:g} leaves no posting of '{field}': pass a smaller "
        "reduction, or a smaller min_doc_freq"
    )


def with_average_lengths(plan: Plan, lengths: Mapping[str, float]) -> Plan:
    """Return the plan of a shard: its norms are made for the average lengths of the whole, by
    field."""
    return Plan(
        [
            field
            if field.norms is None
            else replace(field, norms=replace(field.norms, average_length=lengths[field.field]))
            for field in plan.fields
        ]
    )
