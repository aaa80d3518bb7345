"""How a field was pruned, in the words its index records.

Keys keep the words of earlier versions: ``lead`` is the first-position boost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..indexes.shards.record import CHECKSUM, VALUES_FOLDER
from ..ranking import ANSERINI_DEFAULTS, Baking
from ..report.wording import counted
from ..simulation.quantisation import LEAST_FREQUENCY
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from ..values.unvalidated import TUNE_RECIPE
from ..version import __version__
from .field_rule import checksum
from .search_target import SearchTarget, search_parameters

TUNED = "k1 and b tuned"
"""How the origin of parameters begins in an index of which nothing is dropped."""


def describe_field(
    values: TermValues,
    point: OperatingPoint,
    tf: str,
    reduction: float | None,
    min_doc_freq: int,
    source: Mapping[str, Any],
    target: SearchTarget,
    baking: Baking | None,
) -> dict[str, Any]:
    """Return how a field was pruned, and how to search it; :func:`read_records` reads it again.

    Parameters
    ----------
    point
        What decided, as :func:`.field_rule.point_at` returned it.
    reduction
        The one asked for; None for the recommended one.
    min_doc_freq
        Terms in fewer documents were dropped as well.
    source
        The identity of the index that is pruned.
    target
        Whose parameters it is written for.
    baking
        What its norms hold; None where they are lengths.
    """
    if reduction is None:
        reduction = values.recommended_reduction
    scale = 1.0 if point.scale is None else float(point.scale)
    return {
        "version": __version__,
        "field": values.vocabulary.field,
        "model": values.model,
        "learned_from": _learned_from(values),
        "tf": tf,
        "unit": "term" if point.cut is None else "posting",
        "scale": scale,
        **({"least_freq": LEAST_FREQUENCY} if tf == "scaled" else {}),
        **{name: values.parameters[name] for name in ANSERINI_DEFAULTS},
        "search": search_parameters(values, point.scale, target, baking),
        **({} if baking is None else {"baked": baking.describe()}),
        CHECKSUM: checksum(point),
        "vocabulary_sha256": values.vocabulary.sha256,
        "source_commit": source["commit"],
        "requested_reduction": reduction,
        "min_doc_freq": min_doc_freq,
        **({} if values.folder is None else {VALUES_FOLDER: values.folder}),
        **({} if point.position_boost is None else {"lead": point.position_boost._asdict()}),
    }


def _learned_from(values: TermValues) -> str:
    """What the TDVs were learned from."""
    if values.manifest.get("recipe", {}).get("name") == TUNE_RECIPE:
        return made_by_tuning(values.manifest)
    prior = values.manifest.get("prior")
    if prior and not values.manifest.get("queries"):
        return made_by_prior(prior)
    made = values.manifest.get("self_supervised")  # by an earlier version
    if made:
        return f"self-supervised: {made['topics']} {made['method']} of the index, no judgements"
    queries = values.manifest.get("queries")
    return counted(queries, "judged query", "judged queries") if queries else "nothing"


def made_by_tuning(manifest: Mapping[str, Any]) -> str:
    """What the parameters of an index that is only tuned were learned from."""
    if "prior" in manifest:
        return f"{TUNED} by {made_by_prior(manifest['prior'])}"
    return f"{TUNED} on {counted(manifest['tuned_on'], 'judged query', 'judged queries')}"


def made_by_prior(prior: Mapping[str, Any]) -> str:
    """What TDVs that come from a prior alone were learned from."""
    preferred = prior.get("prefer")
    # TDVs of before 2026-11-24 have "ranking" where nothing was preferred.
    then = "" if preferred in (None, "ranking") else f", for {preferred}"
    name = f"prior {prior['name']} ({prior['sha256'][:12]})" if "sha256" in prior else prior["name"]
    return f"{name}, no judgements{then}"
