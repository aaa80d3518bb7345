"""Stage 4 from an index and files: topics go through the index's analyzer, on the JVM."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import Any

from ..errors import TdvError
from ..evaluation.measures import note_on_chance
from ..evaluation.topics import drawn, read_qrels, read_topics
from ..index.index import Index
from ..index.sharded import ShardedIndex, open_index
from ..matrix.embed import load_term_vectors
from ..matrix.extract import open_matrix
from ..output import Output
from ..progress import Progress, silent
from ..ranking import model_for
from ..simulation.bytes import with_index_bytes
from ..values.posting_rule import CORRECTED_AT
from ..values.term_values import KIND, TermValues
from .config import LearnConfig, Recipe
from .learn import learn_term_values
from .log import values_by_log
from .pool import search_lucene
from .prior import prior_values, prior_values_of_index, with_network

_log = logging.getLogger(__name__)


def learn_from_index(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str] | None,
    qrels: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    config: LearnConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Learn from a Lucene index, a topics file and a qrels file, and write the folder ``output``.

    Parameters
    ----------
    topics, qrels
        See :func:`tdv_lucene.read_topics` and :func:`tdv_lucene.read_qrels`. Both are None with
        ``no_judgements``. Without qrels the topics are a log: see :mod:`.log`.
    config, options
        How to learn: a :class:`LearnConfig`, or its options by name, as ``seed=1``.

    The result is that of :func:`learn_term_values`.

    Raises
    ------
    TdvError
        For anything a user can fix, including options without an effect, before anything is
        written.
    """
    config = LearnConfig.of(config, options, topics=topics, qrels=qrels)
    read = [index, topics, qrels, config.vectors, config.matrix]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite, made_by="learn")
    if topics is None and not config.no_judgements:
        raise TdvError(
            "pass the queries to learn from (topics) and their judgements "
            "(qrels); pass topics alone to choose a reduction by a "
            "query log, or no_judgements to use the prior"
        )
    with open_index(
        index, config.field, id_field=config.id_field, analysis=config.analysis, progress=progress
    ) as opened:
        if topics is None:
            values = prior_values_of_index(
                opened, model=config.model, matrix=config.matrix, field=config.field,
                lead=config.lead, progress=progress,
            )  # fmt: skip
        else:
            values = values_from_index(opened, topics, qrels, config, progress)
        values.save(place)
    return TermValues.load(output)


def values_from_index(
    index: Index | ShardedIndex,
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str] | None,
    config: LearnConfig,
    progress: Progress = silent,
) -> TermValues:
    """Return learned TDVs, or without ``qrels`` the prior's, measured by the topics as a log."""
    from ..index.analysis import analysis_of
    from ..index.inspection import inspect_index
    from ..index.queries import check_query_terms, searchable_topics
    from ..jvm.analysis import TermsInMemory, analyze_topics, as_record

    weights = index.holds_weights(config.field)
    model = model_for(weights, config.model, f"the field '{config.field}' of {index}")
    recipe = config.recipe or Recipe()
    recipe = replace(
        recipe,
        lead=config.lead and recipe.lead,
        values=config.term_values and recipe.values,
        prior=config.prior and recipe.prior,
    )
    analysed = analysis_of(index, config.field, config.analysis)
    texts = read_topics(topics, config.topic_field, config.topic_reader, is_log=qrels is None)
    judged = None if qrels is None else read_qrels(qrels)
    texts = drawn(texts, config.seed) if judged is None else texts
    texts = searchable_topics(texts, config.field, analysed.analysis)
    terms = analyze_topics(texts, config.field, analysed.analysis)
    if judged is not None:
        texts = {name: text for name, text in texts.items() if name in judged}
    index.require_prunable(config.field, recipe.lead)
    if isinstance(index, Index):
        check_query_terms(index, config.field, analysed, texts.values())
    with open_matrix(
        index, config.matrix, field=config.field, positions=recipe.lead, progress=progress
    ) as counts:
        counts.require_postings("learning")
        if isinstance(index, ShardedIndex):
            merged = TermsInMemory(counts.vocabulary)
            check_query_terms(index, config.field, analysed, texts.values(), merged)
        search = search_lucene(index, texts, model, config.field, analysed.analysis, progress)
        given: dict[str, Any] = {
            "seed": config.seed, "pool": config.pool, "search": search,
            "remove_query": config.remove_query, "progress": progress,
        }  # fmt: skip
        if judged is None:  # the log chooses of these reductions
            prior = prior_values(counts, model=model, lead=recipe.lead, reductions=CORRECTED_AT)
            learned = values_by_log(prior, counts, terms, **given)
        else:
            vectors = None
            if config.vectors is not None:
                vectors = load_term_vectors(config.vectors, counts, analysed.analysis, progress)
            learned = learn_term_values(
                counts, terms, judged, model=model, recipe=recipe, vectors=vectors,
                parameters=config.parameters, measure=config.measure, **given,
            )  # fmt: skip
            grades = [judged[name] for name in texts]
            mean, documents = learned.points[0]["full"]["nDCG@5"], counts.documents
            if note := note_on_chance(mean, grades, documents, f"{index}", f"{qrels} for {topics}"):
                _log.warning("%s", note)
        if isinstance(index, ShardedIndex):
            found = index.inspect(counts.shape[0])
        else:
            found = inspect_index(index)
        learned = with_index_bytes(learned, found)
        if analysed.is_certain:
            said = {**learned.manifest, "analysis": as_record(analysed.analysis)}
            learned = replace(learned, manifest=said)
        return with_network(learned, index)
