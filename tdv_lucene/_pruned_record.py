"""What an index records, in its commit's user data, of how it was pruned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import __version__
from ._field_rule import checksum
from .errors import TdvError
from .search import ANSERINI_DEFAULTS
from .values import OperatingPoint, TermValues

PREFIX = "tdv."
_OTHERS = f"{PREFIX}fields."
_CHECKSUM = "values_sha256"


def describe_field(
    values: TermValues,
    point: OperatingPoint,
    tf: str,
    reduction: float | None,
    min_doc_freq: int,
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """Return how a field was made, and how it is to be searched; read by :func:`read_records`.

    Parameters
    ----------
    point
        What decided, as :func:`._field_rule.point_at` returned it.
    reduction
        The one asked for; None for the one that the values recommend.
    min_doc_freq
        Terms in fewer documents went as well.
    source
        The identity of the index that is pruned.
    """
    if reduction is None:
        reduction = values.manifest["recommended_reduction"]
    trained = {**ANSERINI_DEFAULTS, **values.parameters}
    scale = 1.0 if point.scale is None else float(point.scale)
    return {
        "version": __version__,
        "field": values.vocabulary.field,
        "model": values.manifest["model"],
        "learned_from": _learned_from(values),
        "tf": tf,
        "unit": "term" if point.cut is None else "posting",
        "scale": scale,
        **{name: trained[name] for name in ANSERINI_DEFAULTS},
        "search": {"k1": trained["k1"] * scale, "b": trained["b"], "mu": trained["mu"] * scale},
        _CHECKSUM: checksum(point),
        "vocabulary_sha256": values.vocabulary.sha256,
        "source_commit": source["commit"],
        "requested_reduction": reduction,
        "min_doc_freq": min_doc_freq,
        **({} if point.lead is None else {"lead": point.lead._asdict()}),
    }


def as_user_data(described: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The user data that says this of each field: of the first as ``tdv.*``, the one searched, of
    the others as ``tdv.fields.NAME.*``; nested names are joined by dots.
    """
    first, *others = described
    content = [(PREFIX, first)]
    content += [(_prefix_of(about["field"]), about) for about in others]
    return {prefix + name: str(value) for prefix, about in content for name, value in _flat(about)}


@dataclass(frozen=True)
class FieldRecord:
    """What an index says of one of its pruned fields.

    Attributes
    ----------
    field : str
    prefix : str
        Of the names of its entries in the user data.
    content : mapping
        Its entries, by the names that :func:`describe_field` gives them.
    """

    field: str
    prefix: str
    content: Mapping[str, str]


def read_records(index: str | os.PathLike, user_data: Mapping[str, str]) -> list[FieldRecord]:
    """What the commit of ``index`` says of the fields that the last rewrite pruned.

    User data outlives rewrites: what an earlier one said of a field that this one left alone is
    known by its other source.

    Raises
    ------
    TdvError
        When it says nothing.
    """
    if f"{PREFIX}{_CHECKSUM}" not in user_data:
        raise TdvError(
            f"{index} does not say how it was pruned: it was not made by 'tdv-lucene prune', or "
            "its commit was replaced by another writer's"
        )
    first = _record(user_data[f"{PREFIX}field"], PREFIX, user_data)
    names = sorted(
        key.removeprefix(_OTHERS).removesuffix(f".{_CHECKSUM}")
        for key in user_data
        if key.startswith(_OTHERS) and key.endswith(f".{_CHECKSUM}")
    )
    others = [_record(name, _prefix_of(name), user_data) for name in names]
    commit = first.content.get("source_commit")
    return [first, *(other for other in others if other.content.get("source_commit") == commit)]


def _record(field: str, prefix: str, user_data: Mapping[str, str]) -> FieldRecord:
    content = {
        key.removeprefix(prefix): value
        for key, value in user_data.items()
        if key.startswith(prefix)
    }
    return FieldRecord(field, prefix, content)


def _prefix_of(field: str) -> str:
    """Of the names of a further field's entries."""
    return f"{_OTHERS}{field}."


def _learned_from(values: TermValues) -> str:
    """What supervised the values."""
    made = values.manifest.get("self_supervised")
    if made:
        return f"self-supervised: {made['topics']} {made['method']} of the index, no judgements"
    queries = values.manifest.get("queries")
    return f"{queries} judged queries" if queries else "nothing"


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((prefix + key, value))
    return pairs
