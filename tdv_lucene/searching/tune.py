"""An index with k1 and b that suit its collection, written into its norms; nothing is dropped."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from ..errors import TdvError, argument
from ..evaluation.chance import note_on_chance
from ..evaluation.topics import (
    Qrels,
    judged_queries,
    note_on_missing,
    read_qrels,
    read_topics,
    relevant_documents,
)
from ..evaluation.tuning import OBJECTIVE
from ..indexes.analysis import analysis_of
from ..indexes.query_terms import check_query_terms
from ..jvm.index import identify, require_prunable
from ..jvm.searcher import known_documents
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..prior.alone import in_memory
from ..prior.prior import Prior, settings_for
from ..progress import Progress, silent
from ..pruning.config import PruneConfig
from ..pruning.prune import write_pruned
from ..pruning.search_target import RECORDED
from ..ranking import DEFAULT_MODEL, SearchParameters
from ..source import Source, named_by
from ..values.term_values import TermValues
from ..values.unvalidated import tuned_values
from .baseline_tuning import refuse_weights, tune_parameters
from .config import TuneConfig

_log = logging.getLogger(__name__)


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

    Parameters
    ----------
    topics, qrels
        To tune on, by the tuner of the baseline of :func:`tdv_lucene.compare_indexes`. Both None
        takes the parameters that other judged collections give this one, which needs no judgements.
    config, options
        A :class:`TuneConfig`, or its options by name, as ``search_as="lucene"``. There is
        no ``"recorded"`` here.

    Returns
    -------
    dict
        As :func:`tdv_lucene.prune_index`; the tuned parameters are under ``baked``.

    Raises
    ------
    TdvError
        As :func:`tdv_lucene.prune_index` and :func:`tdv_lucene.tune_parameters`; also when only
        one of topics and qrels is given.
    """
    config = TuneConfig.of(config, options, topics=topics)
    if Source.of(index).is_sharded:
        raise TdvError(f"tuning is for one folder, and the shards are several: prune {index}")
    if (topics is None) != (qrels is None):
        raise TdvError(
            f"tuning needs {argument('topics')} and {argument('qrels')}, or neither: without them "
            "it takes the parameters that other judged collections give this one"
        )
    if config.search_as == RECORDED:
        raise TdvError(
            f"{argument('search_as', RECORDED)} would leave the index as it is: tuned parameters "
            "go into its norms; name a searcher, or leave it out"
        )
    field, threads = config.field, config.threads
    index = named_by(index, config.id_field)
    require_prunable(index, field)
    refuse_weights(index, field)
    copied = PruneConfig(
        reduction=0, tf="original", search_as=config.search_as, threads=threads,
        field=field, overwrite=config.overwrite, id_field=config.id_field, **config.asked_analysis,
    )  # fmt: skip
    tuned: SearchParameters | None = None
    about: dict[str, Any] = {}
    if topics is not None and qrels is not None:
        queries = (
            topics
            if isinstance(topics, Mapping)
            else read_topics(topics, config.topic_field, config.topic_reader)
        )
        judged = qrels if isinstance(qrels, Mapping) else read_qrels(qrels)
        analysed = analysis_of(index, field, config.analysis)
        check_query_terms(index, field, analysed, queries.values())
        found, tried = tune_parameters(
            index, queries, judged, DEFAULT_MODEL, field=field, analysis=config.analysis,
            threads=threads, progress=progress,
        )  # fmt: skip
        are_named = not isinstance(topics, Mapping) and not isinstance(qrels, Mapping)
        files = f"{qrels} for {topics}" if are_named else "the qrels"
        _warn_of_judgements(index, queries, judged, tried[0][OBJECTIVE], files)
        tuned = SearchParameters(k1=found.k1, b=found.b)
        about = {"tuned_on": len(judged.keys() & queries.keys())}
    with open_matrix(index, field=field, positions=False, progress=progress) as matrix:
        values = in_memory(tuned_values(matrix, tuned, about) if tuned else _by_prior(matrix))
    return write_pruned(index, values, output, copied, made_by="tune", progress=progress)


def _warn_of_judgements(
    index: str | os.PathLike[str],
    queries: Mapping[str, str],
    judged: Qrels,
    untuned: float,
    files: str,
) -> None:
    """Say where the index lacks relevant documents, or ranks them (``untuned``, its mean nDCG@5) by
    chance only."""
    relevant = relevant_documents(queries, judged)
    missing = len(relevant) - len(set(known_documents(index, sorted(relevant))))
    grades = [judged[name] for name in judged_queries(queries, judged)]
    documents = identify(index)["documents"]
    for note in (
        note_on_missing(missing, len(relevant), "the qrels", f"{index}"),
        note_on_chance(untuned, grades, documents, f"{index}", files),
    ):
        if note:
            _log.warning("%s", note)


def _by_prior(matrix: TermDocumentMatrix) -> TermValues:
    """The parameters that other judged collections give this one, without first positions."""
    prior = Prior.load()
    settings, differences = settings_for(prior, matrix, DEFAULT_MODEL, positions=False)
    about = {"prior": {**prior.describe(), "unlike": differences}}
    return tuned_values(matrix, settings.parameters, about)
