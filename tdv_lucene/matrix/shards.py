"""The matrix of an index in shards: each shard's is extracted by a worker, and all are merged.

What comes of it is what extraction writes of one index with the same documents in the same order,
byte by byte but for the manifest.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..arguments import Shards
from ..errors import TdvError
from ..indexes.shards.survey import survey_shards
from ..indexes.shards.workers import open_workers
from ..output import remove_abandoned
from ..progress import Progress
from .merge import merge_matrices
from .term_document_matrix import TermDocumentMatrix


def extract_shards(
    shards: Shards,
    folder: Path,
    beside: Path,
    *,
    field: str,
    positions: bool,
    threads: int | None,
    progress: Progress,
) -> dict[str, Any]:
    """Write the arrays of the whole into ``folder`` and return the whole's identity.

    The shards' own matrices lie in ``beside``, which is made and goes again in the end; when a run
    was interrupted or failed, the next goes on with those that are there.

    Raises
    ------
    TdvError
        As :func:`..indexes.shards.survey.survey_shards`, and as :func:`.extract.extract_matrix`.
    """
    sources = shards.folders_here
    places = [beside / f"{number:06}" for number in range(len(sources))]
    try:
        with open_workers(shards.scheduler, len(sources)) as workers:
            workers.check(folder)
            whole = survey_shards(workers, shards, field, progress)
            beside.mkdir(exist_ok=True)
            given = {
                source: (source, str(place), field, positions, threads or workers.threads)
                for source, place in zip(sources, places)
            }
            workers.each(_extract, given, "extract shards", progress)
        merge_matrices(_open(places), folder, progress)
        _remove(places)
    finally:
        _tidy(beside, places)
    return whole


def _extract(source: str, place: str, field: str, positions: bool, threads: int | None) -> None:
    """In a worker: extract a shard, unless that was done by a run before."""
    from ..jvm.index import identify
    from .extract import extract_shard, load_matrix

    with contextlib.suppress(TdvError):
        found = load_matrix(place)
        same_field = found.vocabulary.field == field
        has_positions = found.first_positions is not None or not positions
        if same_field and has_positions and found.source["commit"] == identify(source)["commit"]:
            return
    extract_shard(source, place, field=field, positions=positions, threads=threads)


def _open(places: Sequence[Path]) -> list[TermDocumentMatrix]:
    from .extract import load_matrix

    return [load_matrix(place) for place in places]


def _remove(places: Sequence[Path]) -> None:
    for place in places:
        shutil.rmtree(place)


def _tidy(beside: Path, places: Sequence[Path]) -> None:
    """Remove what workers left that died, and the folder if nothing was finished in it."""
    if beside.is_dir():
        for place in places:
            remove_abandoned(place)
        with contextlib.suppress(OSError):
            beside.rmdir()
