"""Stage 0: an index of a collection, by Anserini's own IndexCollection; nothing of ours in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import TdvError
from ..output import Output
from ..progress import Progress, silent
from .config import BuildConfig


def build_index(
    output: str | os.PathLike[str],
    flags: Sequence[str],
    config: BuildConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Run Anserini's IndexCollection with ``flags`` and put the index at ``output``.

    Parameters
    ----------
    flags
        Anserini's, without ``-index``; Pyserini's ``--name`` is taken for ``-name``. For example
        ``["-collection", "JsonCollection", "-input", "docs", "-generator",
        "DefaultLuceneDocumentGenerator", "-threads", "2", "-storePositions"]``.
    config, options
        A :class:`BuildConfig`, or its options by name: ``overwrite`` replaces an empty
        folder. An index is never replaced: remove it yourself first.

    Returns
    -------
    dict
        ``output`` and Anserini's counters: ``indexed``, ``unindexable``, ``empty``, ``skipped``,
        ``errors`` (documents).

    Raises
    ------
    TdvError
        When ``output`` exists, Anserini refuses the flags or logs an error, or no document is
        indexed; nothing is left.
    """
    from ..jvm.indexer import run_index_collection

    overwrite = BuildConfig.of(config, options).overwrite
    flags = [f"-{flag[2:]}" if flag.startswith("--") else flag for flag in flags]
    if "-append" in flags:
        raise TdvError("-append would change an existing index: leave it out, or use Anserini")
    read = [flag for flag in flags if not flag.startswith("-")]
    place = Output.folder(output, None, inputs=read, overwrite=overwrite, option="index")
    with place as folder:
        counters = run_index_collection(flags, folder, progress)
        if not counters.get("indexed"):
            told = ", ".join(f"{name} {number:,}" for name, number in counters.items())
            raise TdvError(
                f"no document was indexed ({told or 'none was found'}): look whether -input holds "
                "files of this -collection; nothing was written"
            )
    return {"output": str(place.path), **counters}
