"""Tune parameters on training queries, and write k1 and b into the norms, dropping nothing."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..evaluation import topics as reading
from ..evaluation.measures import evaluate_run, note_on_chance
from ..evaluation.topics import Qrels
from ..evaluation.tuning import OBJECTIVE, tune
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import Described, recorded_parameters
from ..index.queries import check_query_terms
from ..index.sharded import ShardedIndex, look_at_shards, open_index
from ..jvm.analysis import TermsInMemory
from ..jvm.searcher import known_documents
from ..learning.prior import Prior, settings_for, with_network
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from ..pruning.config import PruneConfig
from ..pruning.prune import write_pruned
from ..pruning.shards import check_shards
from ..pruning.targets import RECORDED, target_of
from ..ranking import DEFAULT_MODEL, MODELS, Baking, SearchParameters, ranking_function
from ..simulation.retrieval import numbers_of
from ..source import Source
from ..values.term_values import tuned_values
from .config import TuneConfig
from .run_lines import Listing
from .search import RUN, Searched, search_with

_log = logging.getLogger(__name__)

_HITS = 10  # more than the objective needs: equal scores are ordered before they are cut off
_MOST_OFF = 0.02
"""Largest mean error of length norms, for lack of norms below one token: the standard deviation of
rounding norms to a byte."""


def refuse_weights(index: Described, field: str) -> None:
    """Raise :class:`TdvError` for an impact index."""
    if index.holds_weights(field):
        raise TdvError(
            f"the field '{field}' of {index} is of an impact index. It has no k1 and b to tune: "
            "'tdv-lucene learn' chooses a power of its weights"
        )


def tune_index(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str] | Mapping[str, str] | None,
    qrels: str | os.PathLike[str] | Qrels | None,
    output: str | os.PathLike[str],
    config: TuneConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Write ``index`` again with tuned k1 and b in its norms, as the new index ``output``.

    Frequencies, positions, term vectors and all else stay. A searcher with the parameters of
    ``search_as`` (by default Anserini's) ranks as with the tuned ones.

    It is tuned on ``topics`` and ``qrels`` as :func:`tdv_lucene.compare_indexes` tunes its
    baseline. Both None takes the parameters predicted from other judged collections. The best are
    taken that norms, the shortest of which have one token, can hold for the searcher. Options are
    those of :class:`TuneConfig`, as a config or by name; ``search_as`` may not be ``"recorded"``.

    Returns what :func:`tdv_lucene.prune_index` does; the tuned parameters are under ``baked``.

    Raises :class:`TdvError` as :func:`tdv_lucene.prune_index` and
    :func:`tdv_lucene.tune_parameters`; also when only one of topics and qrels is given, the field
    has no norms, no relevant document is in the index, or norms can hold none of the parameters for
    the searcher.
    """
    config = TuneConfig.of(config, options, topics=topics)
    if (topics is None) != (qrels is None):
        raise TdvError(
            "tuning needs topics and qrels, or neither: without them "
            "it takes the parameters that other judged collections give this one"
        )
    if config.search_as == RECORDED:
        raise TdvError(
            f"search_as {RECORDED} would leave the index as it is: tuned parameters "
            "go into its norms; name a searcher, or leave it out"
        )
    field, threads = config.field, config.threads
    copied = PruneConfig(
        reduction=0, tf="original", search_as=config.search_as, threads=threads,
        field=field, overwrite=config.overwrite, id_field=config.id_field, **config.asked_analysis,
    )  # fmt: skip
    if (source := Source.of(index)).is_sharded:
        check_shards(source, Path(output).absolute(), (), copied)
    with open_index(
        index, field, id_field=config.id_field, analysis=config.analysis, output=output,
        progress=progress,
    ) as opened:  # fmt: skip
        opened.require_prunable(field)
        refuse_weights(opened, field)
        if not opened.fields[field].has_norms:
            raise TdvError(
                f"field {field} of {index} has no norms, which k1 and b are written "
                "into: index it with norms, or search it with a k1 of its own and b 0"
            )
        searched = target_of(opened.searcher, copied.target).parameters(DEFAULT_MODEL)
        assert searched is not None  # norms that are lengths were refused
        with open_matrix(opened, field=field, positions=False, progress=progress) as matrix:
            if topics is not None and qrels is not None:
                tried, about = _by_judgements(opened, matrix, topics, qrels, config, progress)
            else:
                prior = Prior.load()
                settings, unlike = settings_for(prior, matrix, DEFAULT_MODEL, positions=False)
                tried = [{"k1": settings.parameters.k1, "b": settings.parameters.b}]
                about = {"prior": {**prior.describe(), "unlike": unlike}}
            best = _best_held(tried, matrix, (searched["k1"], searched["b"]))
            values = with_network(tuned_values(matrix, best, about), opened)
        return write_pruned(opened, values, output, copied, made_by="tune", progress=progress)


def _by_judgements(
    index: Index | ShardedIndex, matrix: TermDocumentMatrix,
    topics: str | os.PathLike[str] | Mapping[str, str], qrels: str | os.PathLike[str] | Qrels,
    config: TuneConfig, progress: Progress,
) -> tuple[list[dict[str, float]], dict[str, Any]]:  # fmt: skip
    """Return the parameters tried on judged queries, with their worth, and how many queries."""
    queries = (
        topics
        if isinstance(topics, Mapping)
        else reading.read_topics(topics, config.topic_field, config.topic_reader)
    )
    judged = qrels if isinstance(qrels, Mapping) else reading.read_qrels(qrels)
    analysed, own = analysis_of(index, config.field, config.analysis), None
    if isinstance(index, ShardedIndex):
        own = TermsInMemory(matrix.vocabulary)

        def known(asked: Iterable[str], passages: bool = False) -> list[str]:
            return [] if passages else [*numbers_of(matrix, asked)]  # it has none
    else:
        known = partial(known_documents, index)
    check_query_terms(index, config.field, analysed, queries.values(), own)
    if config.max_passage:
        known = partial(known, passages=True)
    missing, relevant = reading.check_overlap(queries, judged, known)
    _, tried = tune_parameters(
        index, queries, judged, DEFAULT_MODEL, field=config.field, analysis=config.analysis,
        threads=config.threads, listing=config.listing, progress=progress,
    )  # fmt: skip
    are_named = not isinstance(topics, Mapping) and not isinstance(qrels, Mapping)
    files = f"{qrels} for {topics}" if are_named else "the qrels"
    grades = [judged[name] for name in reading.judged_queries(queries, judged)]
    for note in (
        reading.note_on_missing(missing, relevant, "the qrels", f"{index}"),
        note_on_chance(tried[0][OBJECTIVE], grades, matrix.documents, f"{index}", files),
    ):
        if note:
            _log.warning("%s", note)
    return tried, {"tuned_on": len(judged.keys() & queries.keys())}


def _best_held(
    tried: Sequence[Mapping[str, float]], matrix: TermDocumentMatrix, searched: tuple[float, float]
) -> SearchParameters:
    """Return the best of the parameters tried that norms can hold, with a warning if others were
    better.

    Raises :class:`TdvError` when norms can hold none of them.
    """
    lengths = _lengths(matrix)
    bakings = [Baking((one["k1"], one["b"]), searched) for one in tried]
    ranked = sorted(zip(tried, bakings), key=lambda one: -one[0].get(OBJECTIVE, 0.0))
    best, baking = ranked[0]
    held = [one for one, of in ranked if of.mean_off(*lengths) <= _MOST_OFF]
    if held[:1] != [best]:
        problem = (
            f"norms for a searcher with k1 {searched[0]:g} and b {searched[1]:g} cannot hold "
            f"{_named(best)}: length norms would be off by {baking.mean_off(*lengths):.0%} on "
            "average"
        )
        if not held:
            raise TdvError(f"{problem}; pass search_as with a smaller K1 (1 - B)")
        _log.warning(
            "%s. Took the best that they can hold, %s. For the better ones, write the norms for a "
            "searcher with a smaller k1 (1 - b)", problem, _named(held[0])
        )  # fmt: skip
    return SearchParameters(k1=held[0]["k1"], b=held[0]["b"])


def _lengths(matrix: TermDocumentMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of documents with terms, and how many have each."""
    lengths, counts = map(np.concatenate, zip(*matrix.each(_lengths_here)))
    different, places = np.unique(lengths, return_inverse=True)
    return different, np.bincount(places, counts, minlength=len(different))


def _lengths_here(matrix: TermDocumentMatrix) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.asarray(matrix.doc_len)
    different, counts = np.unique(lengths[lengths > 0], return_counts=True)
    return different, counts


def _named(choice: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in choice.items())


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

    Raises :class:`TdvError` as :func:`tdv_lucene.search_index` and :func:`tdv_lucene.evaluate_run`;
    also for an impact index or a ranking function without a parameter to tune.
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
