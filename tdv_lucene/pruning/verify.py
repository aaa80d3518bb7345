"""Proof, posting by posting, that a pruned index is what pruning its source must give."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import Shards, cores
from ..errors import TdvError, argument
from ..indexes.shards.record import shard_name
from ..indexes.user_data import FieldRecord, read_records
from ..progress import Progress, silent
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import VerifyConfig
from .field_rule import load_fields, rule_of
from .recorded_values import find_values, recorded_baking
from .unjudged import values_again

_log = logging.getLogger(__name__)


def verify_pruned(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    config: VerifyConfig | None = None,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Compare the index ``pruned`` with what pruning ``index`` with ``values`` must give.

    The commit's user data says how it was pruned. For every pruned field this compares the
    postings with their frequencies (and positions, if they were kept), the statistics and the
    norms. It also compares the postings and norms of all other fields; ids, stored fields, doc
    values and term vectors of every document; and points. The two indexes may have different
    segments, as long as documents come in the same order. Of k-NN vectors only the fields'
    descriptions are compared.

    Parameters
    ----------
    index, pruned
        Folders, or :class:`..arguments.Shards` both.
    values, others
        The TDVs of every field that was pruned, in any order. None if it was pruned without
        judgements: they are then made again from ``index``.
    config, options
        A :class:`.config.VerifyConfig`, or its options by name, as ``threads=2``.

    Returns
    -------
    dict
        ``equal``; how many ``documents`` and ``postings`` of the pruned fields were compared; and
        the first ``difference``, if any: ``what`` differs, what was ``expected`` and ``found``,
        and where: ``segment`` (of the pruned index), ``field``, ``term``, ``document``, as far as
        they apply.

    Raises
    ------
    TdvError
        When one of the two cannot be read, ``pruned`` does not record how it was pruned, or the
        TDVs given are not those of the fields it records.
    """
    from ..jvm import rewriter
    from ..jvm.index import identify, read_user_data

    threads = VerifyConfig.of(config, options).threads
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
    nothing_compared = {"equal": False, "documents": 0, "postings": 0}
    rules = []
    for record in records:
        _refuse_earlier(pruned, record)
        difference = _another_source(record, source)
        if difference:
            return {**nothing_compared, "difference": difference}
        possible = given.get(record.field) or [values_again(index, record, progress)]
        values, point = find_values(possible, record)
        difference = _other_values(record, values, point)
        if point is None or difference:
            return {**nothing_compared, "difference": difference}
        rules.append(rule_of(values, point, recorded_baking(record)))
    _log.info("%s says it was pruned in %s", pruned, ", ".join(r.field for r in records))
    found = rewriter.prove_pruned(
        index, pruned, rules,
        threads=cores(threads), is_shard=shard_name(user_data) is not None,
        progress=progress,
    )  # fmt: skip
    return {"equal": "difference" not in found, "postings": 0, **found}


def _refuse_other_fields(
    pruned: str | os.PathLike[str], recorded: Sequence[str], given: Sequence[str]
) -> None:
    """Refuse TDVs of a field that was not pruned, and a pruned field without TDVs."""
    was = f"{pruned} was pruned in {', '.join(repr(field) for field in recorded)}"
    for field in recorded:
        if field not in given:
            raise TdvError(
                f"{was}, and no TDVs are given for '{field}': pass those it was pruned with, too "
                f"(a further {argument('values')})"
            )
    for field in given:
        if field not in recorded:
            raise TdvError(f"{was}, not in '{field}', for which TDVs are given: leave them out")


def _refuse_earlier(pruned: str | os.PathLike[str], record: FieldRecord) -> None:
    """Refuse an index whose frequencies were rounded by an older rule."""
    if record.content["tf"] == "scaled" and "least_freq" not in record.content:
        raise TdvError(
            f"{pruned} was pruned in '{record.field}' by tdv-lucene "
            f"{record.content.get('version')} of before frequencies were at least 1: prune its "
            "source again, or verify it with the version that made it"
        )


def _another_source(record: FieldRecord, source: Mapping[str, Any]) -> dict[str, str]:
    """The difference if the field was pruned from another index, or another state of it."""
    if record.source_commit == source["commit"]:
        return {}
    return {"what": "pruned from another index", "field": record.field,
            "expected": f"commit {source['commit']}, of {source['path']}",
            "found": f"commit {record.source_commit}"}  # fmt: skip


def _other_values(
    record: FieldRecord, values: TermValues, point: OperatingPoint | None
) -> dict[str, str]:
    """The difference if the field was pruned by other TDVs than these, ``point`` of which fits."""
    name, given = "checksum", "of no point of the TDVs given"
    if values.vocabulary.sha256 != record.vocabulary_sha256:
        name, given = "vocabulary", values.vocabulary.sha256
    elif point is not None:
        return {}
    recorded = {"checksum": record.values_sha256, "vocabulary": record.vocabulary_sha256}[name]
    return {"what": "pruned by other TDVs", "field": record.field,
            "expected": f"{name} {given}", "found": f"{name} {recorded}"}  # fmt: skip
