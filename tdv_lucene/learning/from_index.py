"""Stage 4 from an index and files: the topics go through the index's analyzer, on the JVM."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from ..analysis import Analysis
from ..embedding.embed import load_term_vectors
from ..errors import TdvError, argument
from ..evaluation.chance import note_on_chance
from ..evaluation.topics import read_qrels, read_topics, relevant_documents
from ..indexes.analysis import analysis_of
from ..indexes.field_analysis import FieldAnalysis
from ..indexes.inspection import inspect_fields, require_prunable
from ..indexes.queries import searchable_topics
from ..indexes.query_terms import check_query_terms
from ..indexes.search_parameters import suiting_model
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..prior.alone import prior_values, prior_values_of_index
from ..progress import Progress, silent
from ..report.path_plot import check_plot, plot_points
from ..simulation.predicted_sizes import with_index_bytes
from ..simulation.queries import find_documents
from ..source import named_by
from ..values.operating_point import CORRECTED_AT
from ..values.term_values import KIND, TermValues
from .by_log import drawn, values_by_log
from .config import LearnConfig, TermValuesConfig
from .learn import learn_term_values
from .memory import Extent, fitting_pool, within
from .pool_search import Search, search_lucene
from .recipes import DefaultRecipe

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
        ``no_judgements``. Without qrels the topics are a log: see :mod:`.by_log`.
    config, options
        How to learn: a :class:`LearnConfig`, or its options by name, as ``seed=1``.

    The result is that of :func:`learn_term_values`.

    Raises
    ------
    TdvError
        For anything a user can fix, options without an effect beside the others included, before
        anything is written.
    """
    config = LearnConfig.of(config, options, topics=topics, qrels=qrels)
    index = named_by(index, config.id_field)
    read = [index, topics, qrels, config.vectors, config.matrix]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite, made_by="learn")
    picture = None
    if config.plot is not None:
        picture = check_plot(config.plot, overwrite=config.overwrite, inputs=[*read, place])
    if config.no_judgements:
        prior_values_of_index(
            index, model=config.model, matrix=config.matrix, field=config.field,
            lead=config.lead, prefer=config.prefer, progress=progress,
        ).save(place)  # fmt: skip
        return TermValues.load(output)
    if topics is None:
        raise TdvError(
            f"pass the queries to learn from ({argument('topics')}) and their judgements "
            f"({argument('qrels')}); pass {argument('topics')} alone to choose a reduction by a "
            f"query log, or {argument('no_judgements')} to use the prior"
        )
    with values_from_index(index, topics, qrels, config, progress) as values:
        values.save(place)
    if picture is not None:
        recommended, full = (values.manifest[key] for key in ("recommended_reduction", "full"))
        plot_points(values.points, full, recommended, picture)
    return TermValues.load(output)


@contextmanager
def values_from_index(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str] | None,
    config: LearnConfig,
    progress: Progress = silent,
) -> Iterator[TermValues]:
    """Yield the TDVs that are learned, or without ``qrels`` the prior's, measured by the topics as
    a log. Their vocabulary is mapped from a folder that is removed in the end.
    """
    model = suiting_model(index, config.field, config.model)
    config = replace(config, model=model)
    recipe = _recipe(config.recipe or DefaultRecipe(), config)
    analysed = analysis_of(index, config.field, config.analysis)
    asked = _read_questions(topics, qrels, config, analysed.analysis)
    if config.memory_bytes is not None:
        judged = asked.topics if asked.qrels is None else asked.qrels
        extent = _extent(index, config.field).with_topics(asked.topics, judged)
        fitting_pool(extent, config.pool, config.memory_bytes)
    require_prunable(index, config.field)
    check_query_terms(index, config.field, analysed, asked.texts.values())
    watched = within(config.memory_bytes, progress)
    with open_matrix(
        index, config.matrix, field=config.field, positions=recipe.lead, progress=watched
    ) as counts:
        counts.require_postings("learning")
        if asked.qrels is not None:
            _warn_of_missing(counts, asked.texts, asked.qrels, f"{qrels}")
        search = search_lucene(index, asked.texts, model, config.field, analysed.analysis, watched)
        learned = _learn(counts, asked, recipe, config, search, progress)
        if asked.qrels is not None:
            grades = [asked.qrels[name] for name in asked.texts]
            mean, documents = learned.points[0]["full"]["nDCG@5"], counts.shape[1]
            if note := note_on_chance(mean, grades, documents, f"{index}", f"{qrels} for {topics}"):
                _log.warning("%s", note)
        yield _with_analysis(with_index_bytes(learned, index), analysed)


def _learn(
    counts: TermDocumentMatrix,
    asked: _Questions,
    recipe: DefaultRecipe,
    config: LearnConfig,
    search: Search,
    progress: Progress,
) -> TermValues:
    if asked.qrels is None:
        values = prior_values(
            counts,
            model=config.model,
            lead=recipe.lead,
            prefer=config.prefer,
            reductions=CORRECTED_AT,  # of which the log chooses
        )
        return values_by_log(
            values, counts, asked.topics, seed=config.seed, pool=config.pool,
            memory=config.memory_bytes, search=search, progress=progress,
        )  # fmt: skip
    vectors = None
    if config.vectors is not None:
        watched = within(config.memory_bytes, progress)
        vectors = load_term_vectors(
            config.vectors, counts, asked.analysis, watched, trust_pickle=config.trust_pickle
        )
    training = TermValuesConfig(
        model=config.model, recipe=recipe, vectors=vectors, parameters=config.parameters,
        seed=config.seed, pool=config.pool, memory=config.memory_bytes, measure=config.measure,
    )  # fmt: skip
    return learn_term_values(
        counts, asked.topics, asked.qrels, training, search=search, progress=progress
    )


def _warn_of_missing(
    counts: TermDocumentMatrix,
    topics: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    file: str,
) -> None:
    """Say how many relevant documents the index lacks; of all of them learning does."""
    relevant = relevant_documents(topics, qrels)
    missing = len(relevant) - len(find_documents(counts.doc_ids, relevant))
    if 0 < missing < len(relevant):
        _log.warning(
            "%s of the %s relevant documents of %s are not in %s: they count as not found, and "
            "queries that have no other are left out",
            f"{missing:,}", f"{len(relevant):,}", file, counts.source["path"],
        )  # fmt: skip


class _Questions(NamedTuple):
    """What is learned from: ids to index terms, ids to grades (None: a log), ids to what Lucene is
    asked, and how that becomes terms."""

    topics: Mapping[str, Sequence[str]]
    qrels: Mapping[str, Mapping[str, int]] | None
    texts: Mapping[str, str]
    analysis: Analysis


def _read_questions(
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str] | None,
    config: LearnConfig,
    analysis: Analysis,
) -> _Questions:
    from ..jvm.analysis import analyze_topics

    texts = read_topics(topics, config.topic_field)
    if qrels is None:
        texts = searchable_topics(drawn(texts, config.seed), config.field, analysis)
        return _Questions(analyze_topics(texts, config.field, analysis), None, texts, analysis)
    judgements = read_qrels(qrels)
    texts = searchable_topics(texts, config.field, analysis)
    terms = analyze_topics(texts, config.field, analysis)
    judged = {name: text for name, text in texts.items() if name in judgements}
    return _Questions(terms, judgements, judged, analysis)


def _with_analysis(values: TermValues, analysed: FieldAnalysis) -> TermValues:
    """The TDVs with a word on how the field was analysed, where that can be told."""
    if not analysed.is_certain:
        return values
    from ..jvm.analysis import as_record

    said = {**values.manifest, "analysis": as_record(analysed.analysis)}
    return replace(values, manifest=said)


def _recipe(recipe: DefaultRecipe, config: LearnConfig) -> DefaultRecipe:
    """The recipe with what the other options change about it."""
    return replace(
        recipe,
        lead=config.lead and recipe.lead,
        values=config.term_values and recipe.values,
        prior=config.prior and recipe.prior,
        prefer=config.prefer or recipe.prefer,
    )


def _extent(index: str | os.PathLike[str], field: str) -> Extent:
    """How large the field is, as the index tells it without reading its postings."""
    for found in inspect_fields(index):
        if found["name"] == field:
            return Extent(found["terms"], found["documents"], found["postings"])
    return Extent(0, 0, 0)  # no such field: extracting it tells so
