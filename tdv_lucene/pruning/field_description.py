"""How a field was pruned, in the words its index records.

Keys keep the words of earlier versions: ``lead`` is the first-position boost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ranking import Baking
from ..report.wording import counted
from ..simulation.quantisation import LEAST_FREQUENCY
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from ..values.unvalidated import TUNE_RECIPE
from ..version import __version__
from .config import PruneConfig
from .field_rule import checksum
from .reports import FieldDescription
from .search_target import SearchTarget, search_parameters

TUNED = "k1 and b tuned"
"""How the origin of parameters begins in an index of which nothing is dropped."""

NO_JUDGEMENTS = ", no judgements"
"""In the origin of TDVs that are made from an index alone."""


def describe_field(
    values: TermValues,
    point: OperatingPoint,
    config: PruneConfig,
    source: Mapping[str, Any],
    target: SearchTarget,
    baking: Baking | None,
) -> FieldDescription:
    """Return how a field was pruned, and how to search it; :func:`read_records` reads it again.

    Parameters
    ----------
    point
        What decided, as :func:`.field_rule.point_at` returned it.
    source
        The identity of the index that is pruned.
    target
        Whose parameters it is written for.
    baking
        What its norms hold; None where they are lengths.
    """
    reduction = config.reduction
    if reduction is None:
        reduction = values.recommended_reduction
    scale = 1.0 if point.scale is None else float(point.scale)
    return {
        "version": __version__,
        "field": values.vocabulary.field,
        "model": values.model,
        "learned_from": _learned_from(values),
        "tf": config.tf,
        "unit": "term" if point.cut is None else "posting",
        "scale": scale,
        "least_freq": LEAST_FREQUENCY if config.tf == "scaled" else None,
        "k1": values.parameters["k1"],
        "b": values.parameters["b"],
        "mu": values.parameters["mu"],
        "search": search_parameters(values, point.scale, target, baking),
        "baked": None if baking is None else baking.describe(),
        "values_sha256": checksum(point),
        "vocabulary_sha256": values.vocabulary.sha256,
        "source_commit": source["commit"],
        "requested_reduction": reduction,
        "min_doc_freq": config.min_doc_freq,
        "values_folder": values.folder,
        "lead": None if point.position_boost is None else point.position_boost._asdict(),
    }


def _learned_from(values: TermValues) -> str:
    """What the TDVs were learned from."""
    manifest = values.manifest
    prior, queries = manifest.get("prior"), manifest.get("queries")
    if manifest.get("recipe", {}).get("name") == TUNE_RECIPE:
        by = f"by {made_by_prior(prior)}" if prior else f"on {_judged(manifest['tuned_on'])}"
        return f"{TUNED} {by}"
    if prior and not queries:
        return made_by_prior(prior)
    made = manifest.get("self_supervised")  # by an earlier version
    if made:
        return f"self-supervised: {made['topics']} {made['method']} of the index, no judgements"
    if queries:
        return _judged(queries)
    peer = manifest.get("recipe", {}).get("name")
    return "nothing" if peer is None else f"nothing (the peer {peer})"


def _judged(queries: int) -> str:
    return counted(queries, "judged query", "judged queries")


def made_by_prior(prior: Mapping[str, Any]) -> str:
    """What TDVs that come from a prior alone were learned from."""
    preferred = prior.get("prefer")
    # TDVs of before 2026-11-24 have "ranking" where nothing was preferred.
    then = "" if preferred in (None, "ranking") else f", for {preferred}"
    name = f"prior {prior['name']} ({prior['sha256'][:12]})" if "sha256" in prior else prior["name"]
    return f"{name}{NO_JUDGEMENTS}{then}"
