"""Tuning of the full index's parameters on training queries, for a strong baseline."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..evaluation.measures import evaluate_run
from ..evaluation.topics import Qrels
from ..evaluation.tuning import OBJECTIVE, tune
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import Described, recorded_parameters
from ..index.sharded import ShardedIndex, look_at_shards
from ..output import Output
from ..progress import Progress, silent
from ..ranking import MODELS, SearchParameters, ranking_function
from .listing import Listing
from .search import RUN, Searched, search_with

_log = logging.getLogger(__name__)

_HITS = 10  # more than the objective needs: equal scores are ordered before they are cut off


def refuse_weights(index: Described, field: str) -> None:
    """Raise :class:`TdvError` for an impact index."""
    if index.holds_weights(field):
        raise TdvError(
            f"the field '{field}' of {index} is of an impact index. It has no k1 and b to tune: "
            "'tdv-lucene learn' chooses a power of its weights"
        )


def tune_parameters(
    index: str | os.PathLike[str],
    topics: Mapping[str, str],
    qrels: Qrels,
    model: str | None = None,
    *,
    field: str = "contents",
    analysis: Analysis | None = None,
    threads: int | None = None,
    listing: Listing = Listing(),  # noqa: B008 - frozen
    progress: Progress = silent,
) -> tuple[SearchParameters, list[dict[str, float]]]:
    """Choose the parameters with the best mean nDCG@5 over the judged training queries.

    See :mod:`..evaluation.tuning`. ``model`` None takes the one the index records, ``analysis``
    None analyses queries as the index was analysed. Runs list hits by the rules of ``listing``.

    Returns the parameters (the index's own unless others are better) and a list of all that were
    tried: dicts of the parameters and ``nDCG@5``.

    Raises
    ------
    TdvError
        As :func:`tdv_lucene.search_index` and :func:`tdv_lucene.evaluate_run`; also for an impact
        index or a ranking function without a parameter to tune.
    """
    opening: AbstractContextManager[Index | ShardedIndex] = Index.open(index)
    if isinstance(index, ShardedIndex):
        given = index.workers, index.source, field, progress, analysis, topics
        opening = nullcontext(look_at_shards(*given))
    with opening as opened, tempfile.TemporaryDirectory() as folder:
        refuse_weights(opened, field)
        own = recorded_parameters(opened, model, field=field)
        assert own.model is not None  # the recorded one, else BM25
        tunable = [m for m in MODELS if any(each.is_tuned for each in ranking_function(m).takes)]
        if own.model not in tunable:
            raise TdvError(
                f"model {own.model} has no parameter to tune: pass "
                f"{' or '.join(tunable)}, or leave out the topics and qrels to tune on"
            )
        analysed = analysis_of(opened, field, analysis)
        run, found = Path(folder) / "run", list[Searched]()

        def measure(choice: dict[str, float]) -> np.ndarray:
            place = Output(run, RUN, is_folder=False, inputs=[opened.source], overwrite=True)
            made = search_with(
                opened, topics, place, SearchParameters(own.model, **choice), hits=_HITS,
                threads=threads, field=field, analysed=analysed, listing=listing, keep_run=True,
            )  # fmt: skip
            found.append(made)
            return evaluate_run(made.run(), topics, qrels).values[OBJECTIVE]

        tuning = tune(own.model, own.values(), measure, progress)
        for note in found[0].notes(f"{index}", listing.remove_query, qrels):
            _log.warning("%s", note)
        return SearchParameters(own.model, **tuning.best()), tuning.table()
