"""A source that changes: what its dictionary has now, and a pruned index that follows it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import load_array
from ..errors import TdvError
from ..plan import FieldPlan
from ..progress import Progress, silent
from ..vocabulary import ByteStrings
from ._jobs import JavaObject, java_class, java_index, java_path, run_job
from .rewriter import open_table, run_on_fields


@dataclass(frozen=True, eq=False)
class FieldState:
    """A field's dictionary now, compared with a vocabulary of V terms made of it earlier.

    Counts of the field are Lucene's own, which include deleted documents that are not merged away.
    Counts of postings do not, unless deleted documents are less than a hundredth.

    Attributes
    ----------
    documents : int
        Live documents of the index.
    doc_count, tokens : int
        Documents with the field, and its tokens.
    postings : int
        The sum of ``doc_freq`` and ``unseen_doc_freq``.
    doc_freq : int64[V]
        In how many documents the vocabulary's terms are now.
    unseen : ByteStrings of n terms
        Terms that the vocabulary lacks, in Lucene's order.
    places : int64[n]
        Before which term of the vocabulary each of them belongs.
    unseen_doc_freq : int64[n]
    """

    documents: int
    doc_count: int
    tokens: int
    postings: int
    doc_freq: np.ndarray
    unseen: ByteStrings
    places: np.ndarray
    unseen_doc_freq: np.ndarray


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
    with open_table(plan) as table, tempfile.TemporaryDirectory(prefix="tdv-lucene-") as at:
        job = java_class("tdvlucene.prune.UnseenTerms")(
            java_index(index), plan.source_field, table, at
        )
        counts = json.loads(run_job(job, progress))
        names = ("doc_freq", "terms", "terms_indptr", "places", "unseen_doc_freq")
        found = {name: np.array(load_array(Path(at) / f"{name}.npy")) for name in names}
    return FieldState(
        **counts,
        doc_freq=found["doc_freq"].astype(np.int64),
        unseen=ByteStrings(found["terms"], found["terms_indptr"]),
        places=found["places"].astype(np.int64),
        unseen_doc_freq=found["unseen_doc_freq"].astype(np.int64),
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
    """Make a pruned index what :func:`.rewriter.rewrite_index` would make of ``index``.

    Parameters
    ----------
    user_data
        All that the new commit is to say of how the index was pruned.
    is_at_home
        This is the folder that it was made of.

    Returns
    -------
    dict
        Counts of the segments that were pruned now, as of ``rewrite_index``; how many
        ``segments`` there are, were ``segments_added`` and ``segments_dropped``; the
        ``deletions`` carried over; and by field ``postings_in_all`` and
        ``postings_before_of_stayed``. Of segments that stayed, documents deleted since count in
        both; those deleted before, taken to be as long as others, in neither.
    """
    job = java_class("tdvlucene.prune.UpdateJob")(java_index(index), held.java, threads)
    if is_at_home:
        job.isAtHome()
    for key, value in user_data.items():
        job.putUserData(key, value)
    return run_on_fields(job, fields, progress)
