"""Proof that a pruned index is what its source and its values make, posting by posting."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..arguments import checked_threads
from ..errors import TdvError, argument
from ..indexes.record import FieldRecord, read_records
from ..indexes.shards.record import shard_name
from ..progress import Progress, silent
from ..records import Shards
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .field_rule import load_fields, rule_of
from .recorded_values import find_point
from .unjudged import values_again

_log = logging.getLogger(__name__)


def verify_pruned(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    values: str | os.PathLike | TermValues | None,
    *,
    others: Sequence[str | os.PathLike | TermValues] = (),
    threads: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare the index ``pruned`` with what pruning ``index`` with ``values`` must give.

    How it was pruned is read from its commit's user data. Compared are the postings of each pruned
    field, each with its frequency (and positions, where they stay), its statistics and norms, and
    the values kept for the search where they are (``--tf similarity``); the
    postings and norms of all other fields; ids, stored fields, doc values and term vectors of
    every document; points. The two may be cut into segments differently, as long as documents
    come in the same order. Of k-NN vectors only the fields' descriptions are compared.

    Parameters
    ----------
    index, pruned
        Folders, or :class:`..records.Shards` both.
    values, others
        What ``pruned`` was pruned with: values of each field that was, in any order. None where it
        was pruned without judgements: they are made again from ``index``.

    Returns
    -------
    dict
        ``equal``, the ``documents`` and (of the pruned fields) ``postings`` compared, and the first
        ``difference`` where there is one: ``what`` it is, what was ``expected`` and ``found``, and
        of ``segment`` (of the pruned index), ``field``, ``term`` and ``document`` those that say
        where.

    Raises
    ------
    TdvError
        When one of the two cannot be read, ``pruned`` does not say how it was made, or the values
        given are not those of the fields that it says were pruned.
    """
    from ..jvm import rewriter
    from ..jvm.index import identify, read_user_data

    checked = checked_threads(threads)
    if isinstance(index, Shards) or isinstance(pruned, Shards):
        from .verify_shards import verify_shards

        given_values = [] if values is None else [values, *others]
        return verify_shards(index, pruned, given_values, threads=threads, progress=progress)
    user_data = read_user_data(pruned)
    records = read_records(pruned, user_data)
    loaded = [] if values is None else load_fields([values, *others])
    given = {values.vocabulary.field: [values] for values in loaded}
    if values is not None:
        _refuse_other_fields(pruned, [record.field for record in records], list(given))
    source = identify(index)
    rules = []
    for record in records:
        _refuse_earlier(pruned, record)
        possible = given.get(record.field) or values_again(index, record, progress)
        values, point = find_values(possible, record)
        difference = _difference(record, source, values, point)
        if point is None or difference:
            return {"equal": False, "documents": 0, "postings": 0, "difference": difference}
        rules.append(rule_of(values, point, record.tf))
    _log.info("%s says it was pruned in %s", pruned, ", ".join(r.field for r in records))
    found = rewriter.compare_indexes(
        index, pruned, rules,
        threads=checked, is_shard=shard_name(user_data) is not None, progress=progress,
    )  # fmt: skip
    return {"equal": "difference" not in found, "postings": 0, **found}


def _refuse_other_fields(
    pruned: str | os.PathLike, recorded: Sequence[str], given: Sequence[str]
) -> None:
    """Refuse values of a field that was not pruned, and a pruned field without values."""
    was = f"{pruned} was pruned in {', '.join(repr(field) for field in recorded)}"
    for field in recorded:
        if field not in given:
            raise TdvError(
                f"{was}, and no values are given for '{field}': pass those it was pruned "
                f"with, too (a further {argument('values')})"
            )
    for field in given:
        if field not in recorded:
            raise TdvError(f"{was}, not in '{field}', for which values are given: leave them out")


def find_values(
    possible: Iterable[TermValues], record: FieldRecord
) -> tuple[TermValues, OperatingPoint | None]:
    """The values with the point whose checksum was recorded; the last ones where none has it."""
    for values in possible:
        point = find_point(values, record)
        if point is not None:
            break
    return values, point


def _refuse_earlier(pruned: str | os.PathLike, record: FieldRecord) -> None:
    """Refuse an index whose frequencies were rounded by another rule."""
    if record.content["tf"] == "scaled" and "least_freq" not in record.content:
        raise TdvError(
            f"{pruned} was pruned in '{record.field}' by tdv-lucene "
            f"{record.content.get('version')} of before frequencies were at least 1: prune its "
            "source again, or verify it with the version that made it"
        )


def _difference(
    record: FieldRecord,
    source: Mapping[str, Any],
    values: TermValues,
    point: OperatingPoint | None,
) -> dict[str, str]:
    """What shows without a look at the indexes; empty when nothing does."""
    expected = {
        "source_commit": (source["commit"], record.source_commit),
        "vocabulary_sha256": (values.vocabulary.sha256, record.vocabulary_sha256),
    }
    for name, (value, found) in expected.items():
        if found != value:
            what = f"user data {record.prefix}{name}"
            return {"what": what, "expected": value, "found": str(found)}
    if point is None:
        return {"what": f"user data {record.prefix}values_sha256",
                "expected": "the checksum of values that the folder holds",
                "found": record.values_sha256}  # fmt: skip
    return {}
