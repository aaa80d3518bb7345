"""From TDVs and options to the plan of an index: the one place where a pruning is decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import TdvError
from ..index.index import Index
from ..index.sharded import ShardedIndex
from ..learning.selection import loss_of, most_loss_of, point_within_loss
from ..plan import FieldPlan
from ..ranking.postings import describe_boost
from ..report.wording import counted
from ..values.posting_rule import OperatingPoint
from ..values.term_values import TUNE_RECIPE, TermValues, tdvs_of_unseen
from ..version import __version__
from .config import PruneConfig
from .targets import baking_of, refuse_scale, scale_for, search_parameters, target_of


def reduction_of(values: TermValues, config: PruneConfig) -> tuple[float, Mapping[str, Any] | None]:
    """Return the share of the postings to drop that was asked for, as such or by a loss; else the
    one that a query log chooses, or the recommended one. Also return how it was chosen; None where
    it was asked for or recommended.

    Raises :class:`TdvError` when none is recommended, or every point may lose more.
    """
    if config.reduction is not None:
        return config.reduction, None
    log, max_loss, measure = values.manifest.get("log"), config.max_loss, values.measure
    if max_loss is not None:
        point = point_within_loss(values.points, max_loss, measure)
    elif log and config.max_bytes is None:
        max_loss, recommended = log["max_loss"], values.recommended_reduction
        point = next(p for p in values.points if p["reduction"] == recommended)
    else:
        return values.recommended_reduction, None
    return float(point["reduction"]), {
        **({"log": log, "kept": point["kept"]} if log else {}),
        "max_loss": max_loss,
        "measure": measure,
        "loss": loss_of(point, measure),
        "loss_at_most": most_loss_of(point, measure),
        "measures": dict(point["measures"]),
        "full": dict(point["full"]),
        "reduction": point["reduction"],
    }


def plan_field(
    values: TermValues,
    reduction: float,
    config: PruneConfig,
    index: Index | ShardedIndex,
) -> tuple[FieldPlan, OperatingPoint]:
    """Decide on every posting of a field of ``index``, of which the share ``reduction`` is dropped;
    return the plan, and the operating point it is of.

    Raises :class:`TdvError` when the scale does not suit the target, the field has no norms for it,
    or no term is left.
    """
    target = target_of(index.searcher, config.target)
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
        if (kept := point.tdv > 0).any():
            largest = np.asarray(values.doc_freq)[kept].max()
            raise TdvError(
                f"min_doc_freq {config.min_doc_freq} leaves no posting of "
                f"'{values.vocabulary.field}': {largest} is the largest that leaves some"
            )
        raise emptied(values.vocabulary.field, reduction)
    norms = baking_of(values, scale, target)
    known = index.fields.get(values.vocabulary.field)  # one that is not there is refused as that
    if norms is not None and known is not None and not known.has_norms:
        if target.given:
            raise TdvError(
                f"the field '{values.vocabulary.field}' of {index} has no norms to write k1 and b "
                "into: leave out search_as"
            )
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


def _learned(values: TermValues) -> dict[str, Any]:
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
    manifest = values.manifest
    prior, name = manifest.get("prior"), manifest.get("recipe", {}).get("name")
    is_tuned = name == TUNE_RECIPE
    queries = manifest.get("tuned_on" if is_tuned else "queries")
    if queries:
        by = counted(queries, "judged query", "judged queries")
    elif prior:
        digest = f" ({prior['sha256'][:12]})" if "sha256" in prior else ""
        by = f"{'prior ' if digest else ''}{prior['name']}{digest}, no judgements"
    else:
        return "nothing" if name is None else f"nothing (the peer {name})"
    return f"k1 and b tuned {'on' if queries else 'by'} {by}" if is_tuned else by


def emptied(field: str, reduction: float) -> TdvError:
    """Return the error of a field that has no posting left."""
    return TdvError(
        f"a reduction of {reduction:g} leaves no posting of '{field}': pass a smaller "
        "reduction, or a smaller min_doc_freq"
    )
