"""Indexes as Java sees them: identity, a field's matrix, its text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..progress import Progress, silent
from ..source import Source
from ._jobs import (
    JavaObject,
    TemporaryArrays,
    ask,
    call,
    java_class,
    java_index,
    java_path,
    run_job,
)
from .analysis import make_analyzer

_IDENTITY = "tdvlucene.inspect.Identity"


class OpenedIndex(JavaObject):
    """The last commit of an index or of its shards, which stays open while writers go on.

    ``found`` has the ``commits``, of each shard what identifies it and its ``user_data``;
    ``fields`` by name, as Lucene describes them; bytes of ``files`` by extension;
    ``why_not_anserinis``, empty where it is. Raises :class:`TdvError` when there is no index, or
    this Lucene cannot read it.
    """

    def __init__(self, source: Source) -> None:
        self.java = java_index(source)
        self.found: dict[str, Any] = ask(java_class(_IDENTITY).open, self.java)

    def frequencies(self, field: str) -> str:
        """Return the kind of a field's frequencies: ``counts``, ``weights``, or ``likely weights``.
        Looks at all its norms.

        Raises :class:`TdvError` for features, which are neither.
        """
        return str(call(java_class(_IDENTITY).frequencies, self.java, field))

    def require_prunable(self, field: str, lead: bool) -> None:
        """Raise :class:`TdvError` when a document has no id, or the field has no frequencies, norms
        that cannot be rewritten, or term vectors that lack the positions ``lead`` reads."""
        call(java_class("tdvlucene.rules.PlannedField").require, self.java, field, lead)


def written_lucene_version() -> str:
    """Return the version of the Lucene in use, which is that of every index it writes."""
    return java_class("org.apache.lucene.util.Version").LATEST.toString()


def add_user_data(index: str | os.PathLike[str], entries: Mapping[str, str]) -> None:
    """Commit user data beside what the index says already; all else stays as it is."""
    rows = json.dumps(list(entries.items()))
    call(java_class("tdvlucene.prune.PruneJob").addUserData, java_path(index), rows)


def inspect(
    index: str | os.PathLike[str], checksums: bool | None, progress: Progress = silent
) -> dict[str, Any]:
    """Run ``InspectJob``.

    ``checksums`` says whether to compare those of all files; None where they are cheap to read.
    """
    job = java_class("tdvlucene.inspect.InspectJob")(java_index(index))
    if checksums is not None:
        job.compareChecksums(checksums)
    return json.loads(run_job(job, progress))


def hash_ids(
    index: str | os.PathLike[str], hashes_of: Sequence[int] = ()
) -> tuple[list[str], np.ndarray]:
    """Return the ids that have one of ``hashes_of``, and int64[D], a hash of each live document's
    id."""
    with TemporaryArrays() as arrays:
        wanted = json.dumps(list(map(str, hashes_of)))
        job = java_class("tdvlucene.inspect.ShardJob")(java_index(index), arrays.folder, wanted)
        return json.loads(run_job(job)), arrays.read("hashes", np.int64)


def extract_arrays(
    index: str | os.PathLike[str],
    field: str,
    folder: Path,
    *,
    threads: int,
    positions: bool = False,
    sequences: bool = False,
    progress: Progress = silent,
) -> bool:
    """Write the arrays of ``field`` as ``.npy`` files into ``folder`` (an existing folder); return
    whether its norms leave out tokens at the place of others.

    With ``positions`` also ``first_positions``, with ``sequences`` also ``tokens`` and
    ``tokens_indptr``, where the field has positions.
    """
    given = java_index(index), field, java_path(folder), threads, positions, sequences
    job = java_class("tdvlucene.extract.ExtractJob")(*given)
    return bool(json.loads(run_job(job, progress)))


def write_tokens(
    index: str | os.PathLike[str],
    output: Path,
    analysis: Analysis,
    progress: Progress = silent,
) -> int:
    """Write a line of analysed tokens for each document with stored text; return how many.

    Raises :class:`TdvError` when the index stores no text.
    """
    given = java_index(index), make_analyzer(analysis), java_path(output)
    return int(run_job(java_class("tdvlucene.extract.TokensJob")(*given), progress))
