"""The full index's parameters, tuned on training queries, so that the baseline is no straw man."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..evaluation.evaluate import evaluate_run
from ..evaluation.topics import Qrels
from ..indexes.user_data import recorded_parameters
from ..output import Output
from ..progress import Progress, silent
from ..ranking import GRIDS, SearchParameters
from .search import RUN, write_run

MEASURE = "nDCG@10"
_HITS = 10


def candidates(
    index: str | os.PathLike[str], model: str, field: str | None = None
) -> list[dict[str, float]]:
    """Return the parameters to try: the index's own, then the grid's."""
    choices = [recorded_parameters(index, model, field=field).values()]
    grid = GRIDS[model]
    for values in itertools.product(*grid.values()):
        candidate = dict(zip(grid, values))
        if candidate not in choices:
            choices.append(candidate)
    return choices


def tune_parameters(
    index: str | os.PathLike[str],
    topics: Mapping[str, str],
    qrels: Qrels,
    model: str | None = None,
    *,
    field: str = "contents",
    threads: int | None = None,
    progress: Progress = silent,
) -> tuple[SearchParameters, list[dict[str, float]]]:
    """Choose the parameters with the best mean nDCG@10 over the training queries.

    ``model`` None takes the one the index records.

    Returns the parameters (the index's own unless others are better) and a list of all that were
    tried: dicts of the parameters and ``nDCG@10``.

    Raises
    ------
    TdvError
        As :func:`tdv_lucene.search_index` and :func:`tdv_lucene.evaluate_run`.
    """
    model = recorded_parameters(index, model, field=field).model
    assert model is not None  # the recorded one, else BM25
    choices = candidates(index, model, field)
    tried = []
    with tempfile.TemporaryDirectory() as folder:
        for number, candidate in enumerate(choices):
            run = Path(folder) / "run"
            write_run(
                index, topics, Output.file(run, RUN, inputs=[index], overwrite=True),
                SearchParameters(model, **candidate), hits=_HITS, threads=threads, field=field,
            )  # fmt: skip
            tried.append({**candidate, MEASURE: evaluate_run(run, topics, qrels).means()[MEASURE]})
            progress("tuning", number + 1, len(choices))
    best = max(range(len(tried)), key=lambda i: tried[i][MEASURE])  # the first of equals
    return SearchParameters(model, **choices[best]), tried
