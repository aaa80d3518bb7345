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

from .._saturation import Cut
from ..errors import TdvError
from ..progress import Progress, silent
from ..records import Vocabulary
from ..store import save_array
from ._jobs import java_class, run_job, translate_errors


@dataclass(frozen=True, eq=False)
class FieldValues:
    """What becomes of one field: see :func:`rewrite_index`."""

    vocabulary: Vocabulary
    tdv: np.ndarray
    scale: float | None
    cut: Cut | None = None
    keep_values: float | None = None


def rewrite_index(
    index: str | os.PathLike,
    folder: str | os.PathLike,
    vocabulary: Vocabulary,
    tdv: np.ndarray,
    scale: float | None,
    cut: Cut | None = None,
    *,
    keep_values: float | None = None,
    threads: int,
    user_data: Mapping[str, str],
    others: Sequence[FieldValues] = (),
    one_segment: bool = False,
    postings_in_memory: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the pruned index into ``folder`` (existing, empty) and return its counts.

    Parameters
    ----------
    tdv : float32[V]
        Finite, not negative; one value for each term of ``vocabulary``.
    scale
        Frequencies become rint(scale * tf * tdv); None keeps them and drops terms of value 0.
    cut
        The postings that go beside those of terms of value 0.
    keep_values
        Leave the weighting to the search: the index gets ``tdv`` (at most 65,536 distinct values),
        and lengths of weighted frequencies. Given is about the mean value of the tokens that stay.
        Needs ``scale`` None.
    threads
        Segments are written side by side.
    user_data
        For the new commit; ``tdv.reduction`` is added.
    others
        Further fields to prune in the same rewrite.
    one_segment
        Merge all segments into one; by default each has its counterpart.
    postings_in_memory
        Held by a thread to make term vectors of; None for a share of the heap.

    Returns
    -------
    dict
        ``postings_before``, ``postings``, ``terms_before``, ``terms``, ``tokens``,
        ``documents_without_terms``, ``segments``: of live documents. With ``others``, theirs by
        name under ``fields``.
    """
    with ExitStack() as tables:
        table, rule = tables.enter_context(_open_rule(vocabulary, tdv, scale, cut))
        job = java_class("tdvlucene.index.PruneJob")(
            os.fspath(index), vocabulary.field, table, rule, os.fspath(folder), threads
        )
        _add_fields(job, keep_values, others, tables)
        if one_segment:
            job.mergeToOneSegment()
        if postings_in_memory is not None:
            job.setPostingsInMemory(postings_in_memory)
        for key, value in user_data.items():
            job.putUserData(key, value)
        return json.loads(run_job(job, progress))


def compare_indexes(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    vocabulary: Vocabulary,
    tdv: np.ndarray,
    scale: float | None,
    cut: Cut | None = None,
    keep_values: float | None = None,
    *,
    others: Sequence[FieldValues] = (),
    threads: int,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare ``pruned`` with what :func:`rewrite_index` would make of ``index``.

    Returns
    -------
    dict
        ``documents`` and ``postings`` compared; where they differ, ``difference``: ``what`` was
        ``expected`` and ``found``, and of ``segment``, ``field``, ``term`` and ``document`` those
        that say where.
    """
    with ExitStack() as tables:
        table, rule = tables.enter_context(_open_rule(vocabulary, tdv, scale, cut))
        job = java_class("tdvlucene.index.VerifyJob")(
            os.fspath(index), os.fspath(pruned), vocabulary.field, table, rule, threads
        )
        _add_fields(job, keep_values, others, tables)
        return json.loads(run_job(job, progress))


def _add_fields(
    job: Any, keep_values: float | None, others: Sequence[FieldValues], tables: ExitStack
) -> None:
    """Complete the first field of a job and add the others."""
    if keep_values is not None:
        job.keepValues(keep_values)
    for other in others:
        table, rule = tables.enter_context(
            _open_rule(other.vocabulary, other.tdv, other.scale, other.cut)
        )
        job.addField(other.vocabulary.field, table, rule)
        if other.keep_values is not None:
            job.keepValues(other.keep_values)


@contextmanager
def _open_rule(
    vocabulary: Vocabulary, tdv: np.ndarray, scale: float | None, cut: Cut | None
) -> Iterator[tuple[Any, Any]]:
    """The ``TermTable`` of the values and the ``PostingRule`` made of them."""
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as values:
        _write_table(Path(values), vocabulary, tdv, cut)
        with translate_errors():
            table = java_class("tdvlucene.index.TermTable")(values)
        try:
            yield table, _rule(table, scale, cut)
        finally:
            table.close()


def _rule(table: Any, scale: float | None, cut: Cut | None) -> Any:
    if scale is None:
        rule = java_class("tdvlucene.index.GateRule")(table)
    else:
        rule = java_class("tdvlucene.index.ScaledRule")(table, float(scale))
    if cut is None:
        return rule
    return java_class("tdvlucene.index.SaturationRule")(rule, table, *map(float, cut.room))


def _write_table(folder: Path, vocabulary: Vocabulary, tdv: np.ndarray, cut: Cut | None) -> None:
    """Write what ``TermTable`` reads."""
    save_array(folder / "terms.npy", np.ascontiguousarray(vocabulary.terms.data, np.uint8))
    save_array(folder / "terms_indptr.npy", np.ascontiguousarray(vocabulary.terms.indptr, "<i8"))
    save_array(folder / "tdv.npy", np.ascontiguousarray(tdv, "<f4"))
    if cut is not None:
        save_array(folder / "least_saturation.npy", np.ascontiguousarray(cut.least, "<f4"))


def check_index(index: str | os.PathLike, progress: Progress = silent) -> None:
    """Run Lucene's CheckIndex with its slow checks (vectors against postings among them).

    Raises
    ------
    TdvError
        When it finds anything wrong, with what it printed.
    """
    report = json.loads(run_job(java_class("tdvlucene.index.CheckJob")(os.fspath(index)), progress))
    if not report["clean"]:
        raise TdvError(f"{index} is damaged; CheckIndex says:\n{report['output']}")
