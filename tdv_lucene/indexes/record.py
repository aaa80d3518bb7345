"""What an index records, in its commit's user data, of how it was pruned and is to be searched."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import TdvError
from ..ranking import ANSERINI_DEFAULTS, MODELS, SearchParameters

_log = logging.getLogger(__name__)

PREFIX = "tdv."
_OTHERS = f"{PREFIX}fields."
CHECKSUM = "values_sha256"
_RECORDED = f"{PREFIX}search."


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
    if f"{PREFIX}{CHECKSUM}" not in user_data:
        raise TdvError(
            f"{index} does not say how it was pruned: it was not made by 'tdv-lucene prune', or "
            "its commit was replaced by another writer's"
        )
    first = _record(user_data[f"{PREFIX}field"], PREFIX, user_data)
    names = sorted(
        key.removeprefix(_OTHERS).removesuffix(f".{CHECKSUM}")
        for key in user_data
        if key.startswith(_OTHERS) and key.endswith(f".{CHECKSUM}")
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


def recorded_parameters(
    index: str | os.PathLike,
    model: str = "bm25",
    *,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
) -> SearchParameters:
    """The parameters an index is to be searched with.

    A pruned index with scaled frequencies records them (k1 * s, mu * s) in its commit; any other
    gets Anserini's defaults, k1 0.9, b 0.4, mu 1000. A parameter given here takes precedence.

    Raises
    ------
    TdvError
        When there is no such index or model, the model has no such parameter, or a value is out
        of its range.
    """
    from ..jvm.index import read_user_data

    recorded = read_user_data(index)
    given = {name: value for name, value in (("k1", k1), ("b", b), ("mu", mu)) if value is not None}
    defaults = {
        name: float(recorded.get(_RECORDED + name, ANSERINI_DEFAULTS[name]))
        for name in MODELS.get(model, ())
    }
    parameters = SearchParameters(model, **{**defaults, **given})
    _log.info("search %s with %s", index, parameters.describe())
    return parameters


def java_similarity(parameters: SearchParameters, index: str | os.PathLike | None = None) -> Any:
    """The Java ``Similarity`` (starts the JVM) to search ``index`` with.

    It applies the term values that an index made with ``--tf similarity`` keeps; to any other,
    or without an index, the model's own.

    Raises
    ------
    TdvError
        When the index should keep term values and does not, or has changed since.
    """
    from ..jvm.index import read_user_data
    from ..jvm.searcher import make_similarity, weigh_similarity

    plain = make_similarity(**asdict(parameters))
    made = {} if index is None else read_user_data(index)
    if made.get(f"{PREFIX}tf") != "similarity":
        return plain
    return weigh_similarity(plain, index, made[f"{PREFIX}field"])


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((prefix + key, value))
    return pairs
