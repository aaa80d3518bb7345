"""Stage 0: an index of a collection, by Anserini's own IndexCollection; nothing of ours in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import TdvError
from ..progress import Progress, silent
from ..store import new_folder, refuse_overlap


def build_index(
    output: str | os.PathLike,
    flags: Sequence[str],
    *,
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run Anserini's IndexCollection with ``flags`` and put the index at ``output``.

    Parameters
    ----------
    flags
        Anserini's, without ``-index``; Pyserini's ``--name`` is taken for ``-name``. For example
        ``["-collection", "JsonCollection", "-input", "docs", "-generator",
        "DefaultLuceneDocumentGenerator", "-threads", "2", "-storePositions"]``.

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
    flags = [f"-{flag[2:]}" if flag.startswith("--") else flag for flag in flags]
    if "-append" in flags:
        raise TdvError("-append would change an existing index: leave it out, or use Anserini")
    if "-input" in flags[:-1]:
        refuse_overlap(output, flags[flags.index("-input") + 1])
    with new_folder(output, overwrite=overwrite) as folder:
        from ..jvm.indexer import run_index_collection

        counters = run_index_collection(flags, folder, progress)
        if not counters.get("indexed"):
            told = ", ".join(f"{name} {number:,}" for name, number in counters.items())
            raise TdvError(
                f"no document was indexed ({told or 'none was found'}): look whether -input holds "
                "files of this -collection; nothing was written"
            )
    return {"output": os.path.abspath(output), **counters}
