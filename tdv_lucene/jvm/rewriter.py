"""A pruned index: written, compared with its source, and made to follow a source that changes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import TdvError
from ..plan import FieldPlan
from ..progress import Progress, silent
from ..vocabulary import ByteStrings
from ._jobs import JavaObject, TemporaryArrays, java_class, java_index, java_path, run_job


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
        Each of another field; all others stay as they are.
    threads
        Segments written at once.
    user_data
        For the new commit; ``tdv.reduction`` is added.
    one_segment
        Merge all segments into one; by default each stays one.
    is_shard, has_changed
        The vocabularies are those of a larger index, of which this one is a part; or of an earlier
        state of the index, which may lack some of their terms.
    counts_only
        Write nothing.

    Returns
    -------
    dict
        ``postings_before``, ``postings``, ``terms_before``, ``terms``, ``tokens``,
        ``documents_with_terms``, ``documents_without_terms``, ``segments``: of live documents and
        the first field; ``deleted_left_out``, all others; the ``bytes`` of the files, unless
        nothing is written. ``norms``, where k1 and b are written into them: how many documents are
        ``beyond`` what a norm can hold, and the ``mean_off`` and ``largest_off`` of their K, as
        shares of it. Of every field but the first, by name under ``fields``.
    """
    job = java_class("tdvlucene.prune.PruneJob")(java_index(index), java_path(folder), threads)
    job.oneSegment, job.isShard = one_segment, is_shard
    job.hasChanged, job.countsOnly = has_changed, counts_only
    return run_on_fields(job, fields, progress, user_data)


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

    ``has_followed`` says that ``pruned`` was updated since: its norms are made for the average
    length of before. Returns ``documents`` and ``postings`` compared; if they differ, in
    ``difference``, ``what`` was ``expected`` and ``found``, and where, by ``segment``, ``field``,
    ``term`` and ``document`` as far as they apply.
    """
    job = java_class("tdvlucene.verify.VerifyJob")(java_index(index), java_index(pruned), threads)
    job.isShard, job.hasFollowed = is_shard, has_followed
    return run_on_fields(job, fields, progress)


def run_on_fields(
    job: Any,
    fields: Sequence[FieldPlan],
    progress: Progress,
    user_data: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Tell a job the plans of its fields, run it, and return what it tells."""
    for key, value in user_data.items():
        job.putUserData(key, value)
    with ExitStack() as tables:
        for plan in fields:
            table = tables.enter_context(open_table(plan))
            job.addField(plan.field, plan.source_field, _rule(table, plan))
            if (norms := plan.norms) is not None:
                average = norms.average_length or 0
                job.bake(*map(float, (*norms.held, *norms.searched, average)))
        return json.loads(run_job(job, progress))


@contextmanager
def open_table(plan: FieldPlan) -> Iterator[Any]:
    """Return the ``TermTable`` of a plan, mapped from a temporary folder."""
    terms, boost, cut = plan.vocabulary.terms, plan.boost, plan.cut
    with TemporaryArrays() as arrays:
        arrays.write("terms", terms.data, "u1")
        arrays.write("terms_indptr", terms.indptr, "<i8")
        arrays.write("tdv", plan.tdv, "<f4")
        if boost is not None:
            name = "first_position_boost" if boost.reads_positions else "weight_boost"
            arrays.write(name, boost.factors, "<f4")
        if cut is not None:
            arrays.write("least_saturation", cut.least, "<f4")
            if cut.position_boost is not None:
                arrays.write("saturation_boost", cut.position_boost.factors, "<f4")
        with JavaObject("tdvlucene.rules.TermTable", arrays.folder) as table:
            yield table.java


def _rule(table: Any, plan: FieldPlan) -> Any:
    fixed, per_token, by_postings = (0, 0, False) if plan.cut is None else plan.cut.length_norm
    numbers = map(float, (plan.scale or 0, fixed, per_token))
    return java_class("tdvlucene.rules.TermRule")(table, *numbers, by_postings)


@dataclass(frozen=True, eq=False)
class FieldState:
    """A field's dictionary now, compared with a vocabulary of V terms made of it earlier.

    Counts of the field are Lucene's own, which include deleted documents that are not merged away.
    Counts of postings do not, unless deleted documents are less than a hundredth.
    """

    documents: int  # live ones, of the index
    doc_count: int  # documents with the field
    tokens: int
    postings: int  # the sum of doc_freq and unseen_doc_freq
    doc_freq: np.ndarray  # int64[V]: in how many documents the vocabulary's terms are now
    unseen: ByteStrings  # n terms that the vocabulary lacks, in Lucene's order
    places: np.ndarray  # int64[n]: before which term of the vocabulary each of them belongs
    unseen_doc_freq: np.ndarray  # int64[n]


class HeldIndex(JavaObject):
    """A pruned index that nobody else writes to meanwhile: its write lock is taken, which Lucene's
    own writers take too.

    Raises :class:`TdvError` when another has it, it cannot be written, or there is no such index.
    """

    def __init__(self, index: str | os.PathLike[str]) -> None:
        if os.path.isdir(index) and not os.access(index, os.W_OK):  # where no lock can be made
            raise TdvError(f"cannot update {index}: the folder is not writable")
        super().__init__("tdvlucene.prune.HeldIndex", java_path(index))
        self.index = index


def field_state(
    index: str | os.PathLike[str], plan: FieldPlan, progress: Progress = silent
) -> FieldState:
    """Compare a field's dictionary with the vocabulary of a plan."""
    with open_table(plan) as table, TemporaryArrays() as arrays:
        given = java_index(index), plan.source_field, table, arrays.folder
        job = java_class("tdvlucene.prune.UnseenTerms")(*given)
        return FieldState(
            **json.loads(run_job(job, progress)),
            doc_freq=arrays.read("doc_freq", np.int64),
            unseen=ByteStrings(arrays.read("terms"), arrays.read("terms_indptr")),
            places=arrays.read("places", np.int64),
            unseen_doc_freq=arrays.read("unseen_doc_freq", np.int64),
        )


def follow(
    index: str | os.PathLike[str],
    held: HeldIndex,
    fields: Sequence[FieldPlan],
    *,
    threads: int,
    user_data: Mapping[str, str],
    is_at_home: bool,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Make a pruned index what :func:`rewrite_index` would make of ``index``.

    ``user_data`` is all that the new commit is to say of how the index was pruned; ``is_at_home``
    says that ``index`` is the folder it was made of.

    Returns counts of the segments that were pruned now, as of ``rewrite_index``; how many
    ``segments`` there are, were ``segments_added`` and ``segments_dropped``; the ``deletions``
    carried over; and by field ``postings_in_all`` and ``postings_before_of_stayed``. Of segments
    that stayed, documents deleted since count in both; those deleted before, taken to be as long as
    others, in neither.
    """
    job = java_class("tdvlucene.prune.UpdateJob")(java_index(index), held.java, threads)
    job.isAtHome = is_at_home
    return run_on_fields(job, fields, progress, user_data)
