"""The rewriter: a new index with one field's frequencies changed, and Lucene's own check of it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..progress import Progress, silent
from ..ranking import Baking
from ..store import save_array
from ..vocabulary import Vocabulary
from ._jobs import JavaObject, call, java_class, java_path, run_job


@dataclass(frozen=True, eq=False)
class FieldValues:
    """What is done with one field.

    Attributes
    ----------
    vocabulary : Vocabulary of V terms
        Of the field, in the index that is rewritten: all its terms, and no others.
    tdv : float32[V]
        Finite, not negative; a term with 0 is dropped.
    scale : float or None
        Frequencies become max(1, rint(scale * tf * tdv)), and positions are dropped; None keeps
        both.
    least_saturation : float32[V] or None
        A term's postings with a smaller tf / (tf + K_d) are dropped as well.
    length_norm : (fixed, per token)
        K_d is the first, plus the second times the document's length.
    saturation_factors : float32[P] or None
        The first-position boost of tf in that saturation, as ``position_factors`` is in what is
        stored. Needs a field with positions.
    position_factors : float32[P] or None
        The first-position boost: what tf is multiplied by, by the term's first position; the last
        factor also serves all later positions. Needs a field with positions. None for no boost.
    weight_factors : float32[W] or None
        What tf, the weight of an impact index, is multiplied by in place of ``position_factors``,
        by the weight itself; the last factor also serves all larger ones.
    baking : Baking or None
        BM25's parameters that norms are to hold; None for norms that hold lengths. Needs a field
        with norms.
    """

    vocabulary: Vocabulary
    tdv: np.ndarray
    scale: float | None
    least_saturation: np.ndarray | None = None
    length_norm: tuple[float, float] | None = None
    saturation_factors: np.ndarray | None = None
    position_factors: np.ndarray | None = None
    weight_factors: np.ndarray | None = None
    baking: Baking | None = None


def has_norms(index: str | os.PathLike[str], field: str) -> bool:
    """Whether a field of an index, or of its shards, stores norms."""
    return bool(call(java_class("tdvlucene.prune.PrunableField").hasNorms, java_path(index), field))


def rewrite_index(
    index: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    fields: Sequence[FieldValues],
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
        ``deleted_left_out``, all others. ``norms``, where k1 and b are written into them: how many
        documents are ``beyond`` what a norm can hold, and the ``mean_off`` and ``largest_off`` of
        their K, as shares of it. Of every field but the first, by name under ``fields``.
    """
    job = java_class("tdvlucene.prune.PruneJob")(java_path(index), java_path(folder), threads)
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
    fields: Sequence[FieldValues],
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
    job = java_class("tdvlucene.verify.VerifyJob")(java_path(index), java_path(pruned), threads)
    if is_shard:
        job.isShard()
    if has_followed:
        job.hasFollowed()
    return run_on_fields(job, fields, progress)


def run_on_fields(job: Any, fields: Sequence[FieldValues], progress: Progress) -> dict[str, Any]:
    """Tell a job its fields, run it, and return what it tells."""
    with ExitStack() as tables:
        for values in fields:
            table = tables.enter_context(open_table(values))
            job.addField(values.vocabulary.field, table, _rule(table, values))
            if values.baking is not None:
                new_parameters = java_class("tdvlucene.common.BakedNorms$Parameters")
                held = new_parameters(*map(float, values.baking.held))
                searched = new_parameters(*map(float, values.baking.searched))
                job.bake(held, searched, float(values.baking.average_length or 0))
        return json.loads(run_job(job, progress))


@contextmanager
def open_table(values: FieldValues) -> Iterator[Any]:
    """The ``TermTable`` of the values."""
    terms = values.vocabulary.terms
    arrays = {
        "terms": (terms.data, "u1"),
        "terms_indptr": (terms.indptr, "<i8"),
        "tdv": (values.tdv, "<f4"),
        "first_position_boost": (values.position_factors, "<f4"),
        "weight_boost": (values.weight_factors, "<f4"),
        "least_saturation": (values.least_saturation, "<f4"),
        "saturation_boost": (values.saturation_factors, "<f4"),
    }
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        for name, (array, dtype) in arrays.items():
            if array is not None:
                save_array(Path(folder) / f"{name}.npy", np.ascontiguousarray(array, dtype))
        with JavaObject("tdvlucene.rules.TermTable", folder) as table:
            yield table.java


def _rule(table: Any, values: FieldValues) -> Any:
    if values.scale is None:
        rule = java_class("tdvlucene.rules.UnscaledRule")(table)
    else:
        rule = java_class("tdvlucene.rules.ScaledRule")(table, float(values.scale))
    if values.least_saturation is None or values.length_norm is None:
        return rule
    return java_class("tdvlucene.rules.SaturationRule")(
        rule, table, *map(float, values.length_norm)
    )
