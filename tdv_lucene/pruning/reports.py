"""The types of pruning's reports, so that no key that a command prints can be missing.

A fact that does not apply is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class FieldDescription(TypedDict):
    """How a field is pruned, as the commit's user data say (:meth:`..plan.FieldPlan.record`)."""

    version: str
    field: str
    model: str
    learned_from: str
    tf: str
    unit: str
    scale: float
    search: Mapping[str, float]
    baked: Mapping[str, float] | None
    plan_sha256: str
    source_commit: str
    requested_reduction: float
    lead: Mapping[str, Any] | None


class Norms(TypedDict):
    """How far norms are off the k1 and b that they are to hold, in the documents that are beyond
    what a norm can hold."""

    beyond: int
    mean_off: float
    largest_off: float


class FieldReport(FieldDescription):
    """What was made of a field. The terms of shards together are not counted."""

    reduction: float
    postings_before: int
    postings: int
    terms_before: int | None
    terms: int | None
    tokens: int
    documents_with_terms: int
    documents_without_terms: int
    norm_kind: str
    norms: Norms | None


class IndexReport(FieldReport):
    """What was written: the field that is searched, and the index. The manifest of an index."""

    fields: dict[str, FieldReport]
    segments: int
    deleted_left_out: int
    bytes_before: int
    bytes: int
    lucene_version: str
    analysis: str
    validated: Mapping[str, Any]
    fidelity: dict[str, float] | None
    chosen: Mapping[str, Any] | None
    tiers: Mapping[str, Any] | None
    defaults: str
    source: Mapping[str, Any]
    shards: list[dict[str, Any]]


class PruneReport(IndexReport):
    """What :func:`tdv_lucene.prune_index` and :func:`tdv_lucene.tune_index` return."""

    output: str


def field_report(described: FieldDescription, counts: Mapping[str, Any]) -> FieldReport:
    """Return what was made of a field that Java counted."""
    before, left = counts["postings_before"], counts["postings"]
    return {
        **described,
        "reduction": 1 - left / before if before else 0.0,
        "postings_before": before,
        "postings": left,
        "terms_before": counts["terms_before"],
        "terms": counts["terms"],
        "tokens": counts["tokens"],
        "documents_with_terms": counts["documents_with_terms"],
        "documents_without_terms": counts["documents_without_terms"],
        "norm_kind": counts["norm_kind"],
        "norms": counts.get("norms"),
    }
