"""What the manifest of term values holds, and what must be there, and in the arrays, when read.

A fact is computed by who knows it, and passed to :func:`describe`; its type stands here. The key
``lead`` is the boost. What an index records of a
pruning has the same names (see :mod:`..indexes.user_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import ANSERINI_DEFAULTS, SearchParameters
from ..ranking.boosts import kind_of_boost
from ..store import NUMBER, cannot_be, check_content
from ..vocabulary import StrPath
from .dropped_postings import PostingRule

_MEASURES = {"*": NUMBER}
_POINT = {
    "reduction": NUMBER, "scale": (*NUMBER, type(None)), "measures": _MEASURES,
    "scales": [{"scale": NUMBER, "index_bytes?": NUMBER}],
    "removed?": NUMBER, "full?": _MEASURES, "posting_bytes?": NUMBER, "dictionary_bytes?": NUMBER,
    "index_bytes?": NUMBER, "visited?": NUMBER,
    "difference?": {"*": {"mean": NUMBER, "ci95": [NUMBER]}}, "expected?": dict,
}  # fmt: skip
_RULE = {
    "whole_terms": NUMBER, "fixed": NUMBER, "per_token": NUMBER, "factors_at": [NUMBER],
    "reductions": [NUMBER], "thresholds": [NUMBER],
}  # fmt: skip
_MANIFEST = {
    "field": str, "vocabulary_sha256": str, "model": str, "points": [_POINT],
    "parameters": {f"{name}?": NUMBER for name in ANSERINI_DEFAULTS},  # else as Anserini has it
    "recommended_reduction": (*NUMBER, type(None)),
    "source?": dict, "recipe?": dict, "posting_rule?": dict, "unit?": str, "folds?": list,
    "queries?": int, "full?": dict, "pool?": dict, "analysis?": dict,
    "prior?": dict, "seed?": int, "vectors?": dict, "tuned_on?": int, "measure?": str, "log?": dict,
    "choice?": dict, "recommended_because?": str,
}  # fmt: skip


LONG = ("folds", "points", "posting_rule", "files")
"""Entries with tables, which are left out where a manifest is printed."""


def describe(
    matrix: TermDocumentMatrix,
    rule: PostingRule | None,
    *,
    model: str,
    parameters: SearchParameters,
    recipe: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    recommended_reduction: float | None,
    queries: int,
    folds: Sequence[Mapping[str, Any]] = (),
    unit: str = "posting",
    **further: Any,
) -> dict[str, Any]:
    """Return the manifest of TDVs of ``matrix``, but for what is the same of all results.

    Parameters
    ----------
    rule
        How single postings are dropped; None if only whole terms are.
    unit
        What is dropped by default, if there is a rule.
    further
        What not all TDVs have, by the names in ``_MANIFEST``; None stands for nothing, but for
        ``lead``.
    """
    by_posting = {} if rule is None else {"unit": unit, "posting_rule": rule.describe()}
    return {
        **by_posting,
        "field": matrix.vocabulary.field,
        "source": matrix.source,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "model": model,
        "parameters": parameters.values(),
        **{name: fact for name, fact in further.items() if name == "lead" or fact is not None},
        "recipe": dict(recipe),
        "queries": queries,
        "folds": list(folds),
        "points": list(points),
        "recommended_reduction": recommended_reduction,
    }


def check_manifest(
    folder: StrPath, manifest: Mapping[str, Any], made_by: str, *, by_posting: bool
) -> None:
    """Raise :class:`TdvError` when an entry that is used later is missing or of another type.

    ``by_posting``: whether there is a ``posting_priority``, which needs its rule.
    """
    check_content(folder, manifest, made_by, {**_MANIFEST, **_boost_in(manifest)})
    if not manifest["points"]:
        raise cannot_be(folder, "points", [], made_by)
    for point in manifest["points"]:
        for of in point.get("difference", {}).values():
            if len(of["ci95"]) != 2:
                raise cannot_be(folder, "ci95", of["ci95"], made_by)
    if by_posting:
        rule = manifest.get("posting_rule", {})
        check_content(folder, rule, made_by, {**_RULE, **_boost_in(rule)}, "posting_rule")
        if not rule["thresholds"] or len(rule["reductions"]) != len(rule["thresholds"]):
            raise cannot_be(folder, "reductions", rule["reductions"], made_by)


def _boost_in(described: Any) -> dict[str, Any]:
    """What the boost of TDVs, or of their posting rule, must be, if there is one."""
    lead = described.get("lead") if isinstance(described, dict) else None
    if not isinstance(lead, dict):
        return {"lead?": type(None)}
    kind = kind_of_boost(lead)
    optional = kind._field_defaults
    return {"lead?": {f"{n}?" if n in optional else n: NUMBER for n in kind._fields}}


def _finite_from_0(array: np.ndarray) -> bool:
    return bool(np.isfinite(array).all() and np.all(array >= 0))


_ADMISSIBLE: dict[str, tuple[str, str, Callable[[np.ndarray], bool]]] = {
    "doc_freq": ("iu", "whole numbers from 0", _finite_from_0),
    "total_term_freq": ("iu", "whole numbers from 0", _finite_from_0),
    "weights": ("f", "finite and not negative", _finite_from_0),
    "priority": ("f", "numbers, none of them NaN", lambda array: not bool(np.isnan(array).any())),
    "posting_priority": (
        "f", "finite and above 0", lambda array: _finite_from_0(array) and bool(np.all(array > 0))
    ),
    "posting_factors": ("f", "finite and not negative", _finite_from_0),
}  # fmt: skip
"""Of every array: kinds of dtype, what its numbers must be in words, and whether they are."""


def check_arrays(arrays: Mapping[str, np.ndarray | None], terms: int, factors: int) -> None:
    """Check shapes and numbers of the arrays there are; ``posting_factors`` has ``factors`` rows.

    Raises :class:`TdvError` when one is not as it must be.
    """
    for name, found in arrays.items():
        if found is None:
            continue
        expected = (factors, terms) if name == "posting_factors" else (terms,)
        if found.shape != expected:
            raise TdvError(
                f"term values: '{name}' has shape {found.shape}, expected {expected}: "
                "the folder is damaged: learn it again"
            )
        kind, legal, holds = _ADMISSIBLE[name]
        if found.dtype.kind not in kind or not holds(np.asarray(found)):
            raise TdvError(
                f"term values: '{name}' must be {legal}; the folder is damaged or was edited: "
                "learn it again"
            )
