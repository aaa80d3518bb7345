"""Indexes as Java sees them: identity, a field's matrix, its text."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..progress import Progress, silent
from ..source import ID_FIELD, Source
from ._jobs import ask, call, java_class, java_path, run_job
from .analysis import make_analyzer

_log = logging.getLogger(__name__)

_IDENTITY = "tdvlucene.inspect.Identity"


def identify(index: str | os.PathLike[str]) -> dict[str, Any]:
    """The identity of an index: path, commit id, segments file, Lucene version, documents.

    Of shards as :func:`whole_identity` has it.
    """
    source = Source.of(index)
    if source.is_sharded:
        return whole_identity(source, [identify(folder) for folder in source.folders_here])
    return _identity(index, ask(java_class(_IDENTITY).of, java_path(index)))


def _identity(index: str | os.PathLike[str], found: Mapping[str, Any]) -> dict[str, Any]:
    _log.info("%s is at commit %s, of Lucene %s", index, found["commit"], found["lucene_version"])
    id_field = Source.of(index).id_field
    return {"path": os.path.abspath(index), **found, **({ID_FIELD: id_field} if id_field else {})}


def require_current(index: str | os.PathLike[str], commit: str) -> None:
    """Raise :class:`TdvError` when ``index`` is not at this commit any more."""
    if identify(index)["commit"] != commit:
        raise TdvError(
            f"{index} was changed by another process while it was read: run the command again"
        )


def whole_identity(source: Source, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The identity of an index in shards, from those of its ``parts``, in order.

    Its commit is a digest of theirs; under ``shards`` stand names, commits and documents.
    """
    commits = b"".join(bytes.fromhex(part["commit"]) for part in parts)
    return {
        "path": source.absolute,
        "commit": hashlib.sha256(commits).hexdigest()[:32],
        "lucene_version": " ".join(sorted({part["lucene_version"] for part in parts})),
        "documents": sum(part["documents"] for part in parts),
        "shards": [
            {"name": part.name, "commit": about["commit"], "documents": about["documents"]}
            for part, about in zip(source.parts, parts)
        ],
    }


def holds_weights(index: str | os.PathLike[str], field: str) -> bool | None:
    """Whether the frequencies of a field are weights; None without norms, which tell it."""
    return ask(java_class(_IDENTITY).holdsWeights, java_path(index), field)


def why_not_anserinis(index: str | os.PathLike[str]) -> str:
    """Say why an index, or one in shards, is not Anserini's; empty where it is."""
    return str(call(java_class(_IDENTITY).whyNotAnserinis, java_path(index)))


def written_lucene_version() -> str:
    """The version of the Lucene in use, which is that of every index it writes."""
    return java_class("org.apache.lucene.util.Version").LATEST.toString()


def read_user_data(index: str | os.PathLike[str]) -> dict[str, str]:
    """The commit's user data; empty for an index Anserini wrote."""
    return ask(java_class(_IDENTITY).userData, java_path(index))


def add_user_data(index: str | os.PathLike[str], entries: Mapping[str, str]) -> None:
    """Commit user data beside what the index says already; all else stays as it is."""
    rows = json.dumps(list(entries.items()))
    call(java_class("tdvlucene.prune.UserData").add, java_path(index), rows)


def inspect(
    index: str | os.PathLike[str], checksums: bool | None, progress: Progress = silent
) -> dict[str, Any]:
    """What ``InspectJob`` finds; ``files`` are bytes by extension.

    ``checksums`` says whether to compare those of all files; None where they are cheap to read.
    """
    job = java_class("tdvlucene.inspect.InspectJob")(java_path(index))
    if checksums is not None:
        job.compareChecksums(checksums)
    return json.loads(run_job(job, progress))


def require_prunable(index: str | os.PathLike[str], field: str) -> None:
    """Refuse what no pruning can be applied to, before anything is made for it.

    Raises :class:`TdvError` when the index cannot be read, a document has no id, or the field has
    no frequencies or norms that cannot be rewritten.
    """
    call(java_class("tdvlucene.prune.PrunableField").require, java_path(index), field)


def hash_ids(
    index: str | os.PathLike[str], hashes_of: Sequence[int] = ()
) -> tuple[list[str], np.ndarray]:
    """The ids that have one of ``hashes_of``, and int64[D], a hash of each live document's id."""
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        hashes = Path(folder) / "hashes.npy"
        job = java_class("tdvlucene.inspect.ShardJob")(java_path(index), str(hashes))
        job.findIds(json.dumps(list(map(str, hashes_of))))
        return json.loads(run_job(job)), np.load(hashes)


def extract_arrays(
    index: str | os.PathLike[str],
    field: str,
    folder: Path,
    *,
    threads: int,
    positions: bool = False,
    sequences: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the arrays of ``field`` as ``.npy`` files into ``folder`` (an existing folder).

    With ``positions`` also ``first_positions``, with ``sequences`` also ``tokens`` and
    ``tokens_indptr``, where the field has positions. Returns the identity, as :func:`identify`
    has it, of the commit that was read; of shards, whose commits are several, it is empty.
    """
    job = java_class("tdvlucene.extract.ExtractJob")(
        java_path(index), field, java_path(folder), threads
    )
    if positions:
        job.readPositions()
    if sequences:
        job.readSequences()
    found = json.loads(run_job(job, progress))
    return _identity(index, found) if found else {}


def write_tokens(
    index: str | os.PathLike[str],
    output: Path,
    analysis: Analysis,
    progress: Progress = silent,
    *,
    number_lines: bool = False,
) -> int:
    """Write a line of analysed tokens for each document with stored text; return how many.

    ``number_lines`` writes a line for every live document, an empty one where there is no text.

    Raises :class:`TdvError` when the index stores no text, unless ``number_lines``.
    """
    job = java_class("tdvlucene.extract.TokensJob")(
        java_path(index), make_analyzer(analysis), java_path(output)
    )
    if number_lines:
        job.numberLines()
    return int(run_job(job, progress))
