"""What the manifest of term values holds, and what must be there, and in the arrays, when read.

A fact is computed by who knows it, and passed to :func:`describe`; its type stands here. Keys keep
the words of earlier versions: ``lead`` is the boost. What an index records of a
pruning has the same names (see :mod:`..indexes.user_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError
from ..matrix.first_positions import kind_of_boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import ANSERINI_DEFAULTS, SearchParameters
from ..store import NUMBER, check_content, check_numbers
from ..vocabulary import StrPath
from .dropped_postings import PostingRule

_Types = Mapping[str, type | tuple[type, ...]]
_MANIFEST: _Types = {
    "field": str, "vocabulary_sha256": str, "model": str, "parameters": dict, "points": list,
    "recommended_reduction": (*NUMBER, type(None)),
}  # fmt: skip
_FURTHER: _Types = {
    "source": dict, "recipe": dict, "lead": (dict, type(None)), "posting_rule": dict, "unit": str,
    "folds": list, "self_supervised": dict, "queries": int, "full": dict, "pool": dict,
    "analysis": dict, "prior": dict, "seed": int, "vectors": dict, "tuned_on": int,
    "measure": str, "log": dict, "choice": dict,
}  # fmt: skip
_POINT: _Types = {"reduction": NUMBER, "scale": (*NUMBER, type(None)), "measures": dict,
          "scales": (list, dict)}  # fmt: skip
_OF_POINT: _Types = {
    "removed": NUMBER, "full": dict,
    "posting_bytes": NUMBER, "dictionary_bytes": NUMBER, "index_bytes": NUMBER, "visited": NUMBER,
    "difference": dict, "expected": dict,
}  # fmt: skip
_OF_SCALE: _Types = {"index_bytes": NUMBER}
_RULE: _Types = {
    "whole_terms": NUMBER, "fixed": NUMBER, "per_token": NUMBER, "factors_at": list,
    "reductions": list, "thresholds": list,
}  # fmt: skip
_OF_RULE: _Types = {"lead": (dict, type(None))}


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
        What not all TDVs have, by the names of ``_FURTHER``; None stands for nothing, but for
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
    check_content(folder, manifest, made_by, required=_MANIFEST, optional=_FURTHER)
    parameters = dict.fromkeys(ANSERINI_DEFAULTS, NUMBER)  # what is not there is as Anserini has it
    check_content(folder, manifest["parameters"], made_by, required={}, optional=parameters)
    reductions = [point.get("reduction") for point in manifest["points"] if isinstance(point, dict)]
    check_numbers(folder, "points", reductions, made_by, count=len(reductions) or 1)
    for point in manifest["points"]:
        check_content(folder, point, made_by, required=_POINT, optional=_OF_POINT)
        for name, difference in point.get("difference", {}).items():
            check_content(folder, point["difference"], made_by, required={name: dict})
            check_content(folder, difference, made_by, required={"mean": NUMBER, "ci95": list})
            check_numbers(folder, "ci95", difference["ci95"], made_by, count=2)
        for entry in point["scales"]:
            check_content(folder, entry, made_by, required={"scale": NUMBER}, optional=_OF_SCALE)
        for measures in (point["measures"], point.get("full", {})):
            check_content(folder, measures, made_by, required=dict.fromkeys(measures, NUMBER))
    _check_boost(folder, manifest, made_by)
    if by_posting:
        check_content(folder, manifest, made_by, required={"posting_rule": dict})
        rule = manifest["posting_rule"]
        check_content(folder, rule, made_by, required=_RULE, optional=_OF_RULE)
        _check_boost(folder, rule, made_by)
        check_numbers(folder, "factors_at", rule["factors_at"], made_by)
        reductions, thresholds = rule["reductions"], rule["thresholds"]
        check_numbers(folder, "reductions", reductions, made_by, count=len(thresholds) or 1)
        check_numbers(folder, "thresholds", thresholds, made_by)


def _check_boost(folder: StrPath, described: Mapping[str, Any], made_by: str) -> None:
    """Check the boost of TDVs or of their posting rule, if there is one."""
    if described.get("lead") is not None:
        kind = kind_of_boost(described["lead"])
        optional = dict.fromkeys(kind._field_defaults, NUMBER)
        required = dict.fromkeys({*kind._fields} - {*optional}, NUMBER)
        check_content(folder, described["lead"], made_by, required=required, optional=optional)


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
                "the folder is damaged or of an earlier version; learn it again"
            )
        kind, legal, holds = _ADMISSIBLE[name]
        if found.dtype.kind not in kind or not holds(np.asarray(found)):
            raise TdvError(
                f"term values: '{name}' must be {legal}; the folder is damaged or was edited: "
                "learn it again"
            )
