"""Proof that a pruned index is what its source and its values make, posting by posting."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ._field_rule import checksum, point_at, rule_of
from ._pruned_record import PREFIX
from ._threads import checked_threads
from .errors import TdvError
from .progress import Progress, silent
from .values import OperatingPoint, TermValues


def verify_pruned(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    values: str | os.PathLike | TermValues,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare the index ``pruned`` with what pruning ``index`` with ``values`` must give.

    How it was pruned is read from its commit's user data. Compared are the postings of the pruned
    field, each with its frequency (and positions, where they stay), its statistics and norms, and
    the values kept for the search where they are (``--tf similarity``); the
    postings and norms of all other fields; ids, stored fields, doc values and term vectors of
    every document; points. The two may be cut into segments differently, as long as documents
    come in the same order. Of k-NN vectors only the fields' descriptions are compared.

    Returns
    -------
    dict
        ``equal``, the ``documents`` and ``postings`` compared, and the first ``difference`` where
        there is one: ``what`` it is, what was ``expected`` and ``found``, and of ``segment`` (of
        the pruned index), ``field``, ``term`` and ``document`` those that say where.

    Raises
    ------
    TdvError
        When one of the two cannot be read, or ``pruned`` does not say how it was made.
    """
    from .jvm import rewriter
    from .jvm.index import identify, read_user_data

    threads = checked_threads(threads)
    if not isinstance(values, TermValues):
        values = TermValues.load(values)
    recorded = _recorded(pruned, read_user_data(pruned))
    point = _find_point(values, recorded)
    difference = _difference(recorded, identify(index), values, point)
    if point is None or difference:
        return {"equal": False, "documents": 0, "postings": 0, "difference": difference}
    found = rewriter.compare_indexes(
        index, pruned, [rule_of(values, point, recorded["tf"])],
        threads=threads, progress=progress,
    )  # fmt: skip
    return {"equal": "difference" not in found, "postings": 0, **found}


def _recorded(pruned: str | os.PathLike, user_data: Mapping[str, str]) -> dict[str, str]:
    """What the commit says of how it was made."""
    recorded = {
        key.removeprefix(PREFIX): value
        for key, value in user_data.items()
        if key.startswith(PREFIX)
    }
    if "values_sha256" not in recorded:
        raise TdvError(
            f"{pruned} does not say how it was pruned: it was not made by 'tdv-lucene prune', or "
            "its commit was replaced by another writer's"
        )
    others = sorted({key.split(".")[1] for key in recorded if key.startswith("fields.")})
    if others:
        raise TdvError(
            f"{pruned} was pruned in several fields ({', '.join([recorded['field'], *others])}): "
            "verify proves indexes pruned in one"
        )
    return recorded


def _find_point(values: TermValues, recorded: Mapping[str, str]) -> OperatingPoint | None:
    """The operating point whose checksum was recorded; None when the values have no such."""
    for reduction in _reductions(values, recorded):
        point = point_at(
            values,
            reduction,
            tf=recorded["tf"],
            scale=float(recorded["scale"]),
            unit=recorded.get("unit", "term"),
        )
        if checksum(point) == recorded["values_sha256"]:
            return point
    return None


def _reductions(values: TermValues, recorded: Mapping[str, str]) -> Iterator[float]:
    """The reduction asked for; indexes of earlier versions record only the one reached."""
    if "requested_reduction" in recorded:
        yield float(recorded["requested_reduction"])
        return
    yield values.manifest["recommended_reduction"]
    yield from (point["reduction"] for point in values.points)
    yield float(recorded["reduction"])


def _difference(
    recorded: Mapping[str, str],
    source: Mapping[str, Any],
    values: TermValues,
    point: OperatingPoint | None,
) -> dict[str, str]:
    """What shows without a look at the indexes; empty when nothing does."""
    expected = {
        "source_commit": source["commit"],
        "vocabulary_sha256": values.vocabulary.sha256,
        "field": values.vocabulary.field,
    }
    for name, value in expected.items():
        if recorded.get(name) != value:
            return {"what": f"user data {PREFIX}{name}", "expected": value,
                    "found": str(recorded.get(name))}  # fmt: skip
    if point is None:
        return {"what": f"user data {PREFIX}values_sha256",
                "expected": "the checksum of values that the folder holds",
                "found": recorded["values_sha256"]}  # fmt: skip
    return {}
