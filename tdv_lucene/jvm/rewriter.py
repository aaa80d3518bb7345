"""The rewriter: a new index with one field's frequencies changed, and Lucene's own check of it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..plan import FieldPlan
from ..progress import Progress, silent
from ..store import save_array
from ._jobs import JavaObject, java_class, java_index, java_path, run_job


def rewrite_index(
    index: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    fields: Sequence[FieldPlan],
    *,
    threads: int,
    user_data: Mapping[str, str],
    one_segment: bool = False,
    is_shard: bool = False,
    has_changed: bool = False,
    counts_only: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the pruned index into ``folder`` (existing, empty) and return its counts.

    Raises :class:`TdvError` when the index cannot be read or pruned, is locked, or a field has
    another vocabulary.

    Parameters
    ----------
    fields
        One or more, each of another field; all others stay as they are. The counts of the first
        stand at the top of the result.
    threads
        Segments written at once.
    user_data
        For the new commit; ``tdv.reduction`` is added.
    one_segment
        Merge all segments into one; by default each stays one.
    is_shard
        The vocabularies are those of a larger index, of which this one is a part.
    has_changed
        The index has changed since the vocabularies were made: it may lack some of their terms.
    counts_only
        Write nothing.

    Returns
    -------
    dict
        ``postings_before``, ``postings``, ``terms_before``, ``terms``, ``tokens``,
        ``documents_with_terms``, ``documents_without_terms``, ``segments``: of live documents;
        ``deleted_left_out``, all others; the ``bytes`` of the files, unless nothing is written.
        ``norms``, where k1 and b are written into them: how many documents are ``beyond`` what a
        norm can hold, and the ``mean_off`` and ``largest_off`` of their K, as shares of it. Of
        every field but the first, by name under ``fields``.
    """
    job = java_class("tdvlucene.prune.PruneJob")(java_index(index), java_path(folder), threads)
    if one_segment:
        job.mergeToOneSegment()
    if is_shard:
        job.isShard()
    if has_changed:
        job.hasChanged()
    if counts_only:
        job.countOnly()
    for key, value in user_data.items():
        job.putUserData(key, value)
    return run_on_fields(job, fields, progress)


def prove_pruned(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    fields: Sequence[FieldPlan],
    *,
    threads: int,
    is_shard: bool = False,
    has_followed: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare ``pruned`` with what :func:`rewrite_index` would make of ``index``.

    Parameters
    ----------
    has_followed
        ``pruned`` was updated since: its norms are made for the average length of before.

    Returns
    -------
    dict
        ``documents`` and ``postings`` compared; if they differ, ``difference``: ``what`` was
        ``expected`` and ``found``, and where, by ``segment``, ``field``, ``term`` and ``document``
        as far as they apply.
    """
    job = java_class("tdvlucene.verify.VerifyJob")(java_index(index), java_index(pruned), threads)
    if is_shard:
        job.isShard()
    if has_followed:
        job.hasFollowed()
    return run_on_fields(job, fields, progress)


def run_on_fields(job: Any, fields: Sequence[FieldPlan], progress: Progress) -> dict[str, Any]:
    """Tell a job the plans of its fields, run it, and return what it tells."""
    with ExitStack() as tables:
        for plan in fields:
            table = tables.enter_context(open_table(plan))
            job.addField(plan.field, plan.source_field, table, _rule(table, plan))
            if (norms := plan.norms) is not None:
                average = norms.average_length or 0
                job.bake(*map(float, (*norms.held, *norms.searched, average)))
        return json.loads(run_job(job, progress))


@contextmanager
def open_table(plan: FieldPlan) -> Iterator[Any]:
    """The ``TermTable`` of a plan, mapped from a temporary folder."""
    terms, boost, cut = plan.vocabulary.terms, plan.boost, plan.cut
    arrays = {
        "terms": (terms.data, "u1"),
        "terms_indptr": (terms.indptr, "<i8"),
        "tdv": (plan.tdv, "<f4"),
    }
    if boost is not None:
        name = "first_position_boost" if boost.reads_positions else "weight_boost"
        arrays[name] = boost.factors, "<f4"
    if cut is not None:
        arrays["least_saturation"] = cut.least, "<f4"
        if cut.position_boost is not None:
            arrays["saturation_boost"] = cut.position_boost.factors, "<f4"
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        for name, (array, dtype) in arrays.items():
            save_array(Path(folder) / f"{name}.npy", np.ascontiguousarray(array, dtype))
        with JavaObject("tdvlucene.rules.TermTable", folder) as table:
            yield table.java


def _rule(table: Any, plan: FieldPlan) -> Any:
    length_norm = (0, 0) if plan.cut is None else plan.cut.length_norm
    scale = 0 if plan.scale is None else plan.scale
    return java_class("tdvlucene.rules.TermRule")(table, *map(float, (scale, *length_norm)))
