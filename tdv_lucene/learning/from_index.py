"""Stage 4 from an index and files: the topics go through the index's analyzer, on the JVM."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..arguments import gathered, refuses_idle
from ..embedding.embed import load_term_vectors
from ..errors import TdvError, argument
from ..evaluation.topics import read_qrels, read_topics
from ..indexes.analysis import warn_of_another_analyzer
from ..indexes.inspection import inspect_fields, require_prunable
from ..indexes.queries import searchable_topics
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..prior.alone import prior_values_of_index
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL
from ..report.path_plot import check_plot, plot_points
from ..simulation.predicted_sizes import with_index_bytes
from ..values.term_orders import RANKING
from ..values.term_values import KIND, TermValues
from .config import EFFECTS, LearnConfig
from .learn import learn_term_values
from .memory import Extent, fitting_pool, within
from .pool_search import search_lucene
from .recipes import DefaultRecipe


@refuses_idle(*EFFECTS)
def learn_from_index(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str] | None,
    qrels: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    no_judgements: bool = False,
    topic_field: str = "title",
    model: str = DEFAULT_MODEL,
    recipe: DefaultRecipe | None = None,
    vectors: str | os.PathLike[str] | None = None,
    trust_pickle: bool = False,
    matrix: str | os.PathLike[str] | None = None,
    field: str = "contents",
    prior: bool = True,
    lead: bool = True,
    term_values: bool = True,
    prefer: str = RANKING,
    seed: int = 0,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
    pool: int | None = None,
    memory: int | str | None = None,
    config: LearnConfig | None = None,
    plot: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> TermValues:
    """Learn from a Lucene index, a topics file and a qrels file, and write the folder ``output``.

    Parameters
    ----------
    topics, qrels, topic_field
        See :func:`tdv_lucene.read_topics` and :func:`tdv_lucene.read_qrels`. Both are None with
        ``no_judgements``.
    no_judgements
        Learn nothing, and write the TDVs that other judged collections give this one (see
        :func:`..prior.alone.prior_values`).
    vectors, trust_pickle
        A folder from :func:`embed_terms` or a file of word vectors; None for LSA of the matrix.
        A gensim pickle, which can run any command, is read only with ``trust_pickle``.
    matrix
        A folder from :func:`extract_matrix` of this index; None extracts a temporary one.
    prior
        Start from what other judged collections say of this one. Leave it out to measure on queries
        of the collections that the prior was made from.
    lead
        Use a first-position boost: frequencies count for more if the term first occurs early in its
        document (see :mod:`..matrix.first_positions`). It has no effect if the index has no
        positions.
    term_values
        Learn TDVs. Without, they are all the same, and the pruned index suits other kinds of query
        than those at hand.
    prefer
        ``"ranking"``, or ``"size"`` (BM25, QLD) or ``"speed"`` (BM25): an order of postings that
        ranks better in few bytes, or leaves searches fewer postings to visit, at the cost of recall
        and, in collections of short documents, of the ranking.
    k1, b, mu
        Of the search. Learning chooses those that are None on the training queries, to suit the
        others (see :mod:`.tuning_before_learning`).
    pool
        Documents to learn from: a pool of the judged ones, those that searches find and others
        drawn at random, with the statistics of all. 0 for all; None for all of up to 300,000, and
        100,000 of more.
    memory
        What learning may take, such as ``"4GB"``, Java's included and mapped files not (see
        :mod:`.memory`). It takes a pool, or a smaller one, to keep to it, and ends with an error,
        without a result, if it takes more all the same.
    config
        All options from ``no_judgements`` to ``memory`` in one object, but for ``recipe``,
        ``vectors`` and ``matrix``.
    plot
        A ``.svg`` or ``.png`` file for a picture of the validated points.

    The other parameters and the result are those of :func:`learn_term_values`.

    Raises
    ------
    TdvError
        For anything a user can fix, options without an effect beside the others included (see
        :data:`.config.EFFECTS`), before anything is written.
    """
    config = gathered(LearnConfig, config, locals())
    read = [index, topics, qrels, vectors, matrix]
    place = Output.folder(output, KIND, inputs=read, overwrite=overwrite, made_by="learn")
    picture = None
    if plot is not None:
        picture = check_plot(plot, overwrite=overwrite, inputs=[*read, place])
    _check_judgements(topics, qrels, config)
    if config.no_judgements:
        return prior_values_of_index(
            index, output=output, model=config.model, matrix=matrix, field=config.field,
            lead=config.lead, prefer=config.prefer, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    recipe = _recipe(recipe or DefaultRecipe(), config)
    asked = _read_questions(topics, qrels, config)
    if config.memory_bytes is not None:
        extent = _extent(index, config.field).with_topics(asked.topics, asked.qrels)
        fitting_pool(extent, config.pool, config.memory_bytes)
    require_prunable(index, config.field)
    warn_of_another_analyzer(index, config.field, asked.texts.values())
    watched = within(config.memory_bytes, progress)
    with open_matrix(
        index, matrix, field=config.field, positions=recipe.lead, progress=watched
    ) as counts:
        counts.require_whole("learning")
        options: dict[str, Any] = {"recipe": recipe, "progress": progress}
        if vectors is not None:
            options["vectors"] = load_term_vectors(
                vectors, counts, watched, trust_pickle=config.trust_pickle
            )
        values = with_index_bytes(_learn(index, counts, asked, config, watched, options), index)
        values.save(place)
    if picture is not None:
        recommended, full = (values.manifest[key] for key in ("recommended_reduction", "full"))
        plot_points(values.points, full, recommended, picture)
    return TermValues.load(output)


class _Questions(NamedTuple):
    """What is learned from: ids to index terms, ids to grades, ids to what Lucene is asked."""

    topics: Mapping[str, Sequence[str]]
    qrels: Mapping[str, Mapping[str, int]]
    texts: Mapping[str, str]


def _read_questions(
    topics: str | os.PathLike[str] | None, qrels: str | os.PathLike[str] | None, config: LearnConfig
) -> _Questions:
    from ..jvm.index import analyze_topics

    assert topics is not None and qrels is not None  # _check_judgements saw to it
    texts, judgements = read_topics(topics, config.topic_field), read_qrels(qrels)
    texts = searchable_topics(texts, config.field)
    terms = analyze_topics(texts, config.field)
    judged = {name: text for name, text in texts.items() if name in judgements}
    return _Questions(terms, judgements, judged)


def _recipe(recipe: DefaultRecipe, config: LearnConfig) -> DefaultRecipe:
    """The recipe with what the other options change about it."""
    return replace(
        recipe,
        lead=config.lead and recipe.lead,
        values=config.term_values and recipe.values,
        prior=config.prior and recipe.prior,
        prefer=recipe.prefer if config.prefer == RANKING else config.prefer,
    )


def _learn(
    index: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    asked: _Questions,
    config: LearnConfig,
    watched: Progress,
    options: Mapping[str, Any],
) -> TermValues:
    search = search_lucene(index, asked.texts, config.model, config.field, watched)
    return learn_term_values(
        matrix, asked.topics, asked.qrels, search=search, model=config.model,
        parameters=config.parameters, seed=config.seed, pool=config.pool,
        memory=config.memory_bytes, **options,
    )  # fmt: skip


def _extent(index: str | os.PathLike[str], field: str) -> Extent:
    """How large the field is, as the index tells it without reading its postings."""
    for found in inspect_fields(index):
        if found["name"] == field:
            return Extent(found["terms"], found["documents"], found["postings"])
    return Extent(0, 0, 0)  # no such field: extracting it tells so


def _check_judgements(
    topics: str | os.PathLike[str] | None, qrels: str | os.PathLike[str] | None, config: LearnConfig
) -> None:
    if not config.no_judgements and None in (topics, qrels):
        raise TdvError(
            f"name the judged queries to learn from, by {argument('topics')} and "
            f"{argument('qrels')}, or pass {argument('no_judgements')} to learn from none"
        )
