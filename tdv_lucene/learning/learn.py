"""Stage 4: learn what each term is worth from judged queries.

:func:`learn_term_values` works on arrays and needs no Java; :func:`learn_from_index` starts from
an index and files, for which topics go through the index's analyzer on the JVM.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from ..arguments import checked_seed, gathered
from ..embedding.embed import TermVectors, latent_semantic_vectors, load_term_vectors
from ..errors import TdvError, argument
from ..evaluation.topics import read_qrels, read_topics
from ..interruption import deferred
from ..matrix.extract import open_matrix
from ..matrix.first_positions import DEFAULT_BOOST, FirstPositionBoost
from ..matrix.record import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from ..report.path_plot import check_plot, plot_points
from ..values.frontier import recommend
from ..values.term_values import KIND, TermValues
from .config import LearnConfig, check_model
from .default import learn_default
from .paper import learn_paper
from .parameter_choice import choose_parameters
from .points import Learned
from .predicted_sizes import with_index_bytes
from .prior import Prior, Settings, settings_for
from .prior_start import start_from_prior
from .prior_values import prior_values_of_index
from .problem import Problem
from .recipes import DefaultRecipe, PaperRecipe, Parameters, make_recipe
from .self_supervised import make_topics

_log = logging.getLogger(__name__)


def learn_term_values(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str = "bm25",
    recipe: str | DefaultRecipe | PaperRecipe = "default",
    vectors: TermVectors | None = None,
    parameters: Parameters | None = None,
    prior: Prior | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn a discrimination value for every term of ``matrix``.

    tdv_t = ReLU(w . x_t + b), with w and b fitted so that ``model``, computed on tf * tdv, ranks
    the judged documents well; the default recipe shrinks and averages several of these (see
    :class:`.stopping.Network`), and where the matrix has ``first_positions``, tf counts
    for more at a document's beginning (see :mod:`..matrix.first_positions`). Deterministic given
    ``seed`` on one machine.

    Parameters
    ----------
    topics
        Query id -> index terms (see :func:`tdv_lucene.analyze`), with repetitions.
    qrels
        Query id -> document id -> grade.
    model
        ``"bm25"``, ``"qld"`` or ``"tfidf"``.
    recipe
        ``"default"``, ``"paper"``, or one of their classes with other numbers in it.
    vectors
        Word vectors of the terms; None makes them from the matrix (LSA).
    parameters
        k1, b and mu that search will use; None lets the default recipe choose them, and how much
        places count, on the training queries (see :mod:`.parameter_choice`), and is Anserini's
        defaults otherwise.
    prior
        What the default recipe starts from; None for the one that comes with the package.

    Raises
    ------
    TdvError
        When topics, qrels, vectors and matrix do not belong together or are too few, or the matrix
        holds only some of the documents.
    """
    checked_seed(seed)
    check_model(model)
    chosen = make_recipe(recipe)
    matrix.require_whole("learning")
    if vectors is None:
        wanted = isinstance(chosen, PaperRecipe) or chosen.values
        none = {} if wanted else {"dimensions": 0}
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress, **none)
    known = _known(matrix, chosen, model, prior)
    boost = known[1].boost if known else _lead(matrix, chosen)
    first = parameters or (known[1].parameters if known else Parameters())
    counted = matrix.with_position_boost(boost)
    with deferred():  # JAX's callbacks bear no exception
        problem = Problem.of(counted, topics, qrels, vectors, model, first)
        start = start_from_prior(problem, *known) if known else None
        if start is not None and chosen.values:
            problem = start.problem
        if start is None and len(problem.queries) < 2:
            raise TdvError(
                "learning needs at least 2 judged queries with a relevant document in the index, "
                f"got {len(problem.queries)}: pass more topics and qrels"
            )
        if isinstance(chosen, DefaultRecipe):
            enough = start is None or len(problem.queries) >= chosen.fewest_queries
            if parameters is None and chosen.tuned and enough:
                problem = choose_parameters(problem, seed, progress)
            learned = learn_default(problem, chosen, seed, progress, start)
        else:
            learned = learn_paper(problem, chosen, seed, progress)
    _log.info("learned with %s from %d queries", problem.parameters.values(), len(problem.queries))
    rule = learned.final.rule
    return TermValues(
        vocabulary=matrix.vocabulary,
        doc_freq=np.asarray(matrix.doc_freq),
        total_term_freq=np.asarray(matrix.total_term_freq),
        weights=learned.final.weights,
        priority=learned.final.priority,
        manifest=_manifest(problem, chosen, learned, seed),
        posting_priority=None if rule is None else rule.priority,
        posting_factors=None if rule is None else rule.factors,
    )


def _known(
    matrix: TermDocumentMatrix,
    recipe: DefaultRecipe | PaperRecipe,
    model: str,
    prior: Prior | None,
) -> tuple[Prior, Settings] | None:
    """The prior and what it says of this collection; None where learning starts without."""
    if not (isinstance(recipe, DefaultRecipe) and recipe.prior):
        return None
    prior = prior or Prior.load()
    positions = recipe.lead and matrix.first_positions is not None
    return prior, settings_for(prior, matrix, model, positions=positions)[0]


def _lead(
    matrix: TermDocumentMatrix, recipe: DefaultRecipe | PaperRecipe
) -> FirstPositionBoost | None:
    """What learning starts from without a prior."""
    wanted = isinstance(recipe, DefaultRecipe) and recipe.lead
    return DEFAULT_BOOST if wanted and matrix.first_positions is not None else None


def learn_from_index(
    index: str | os.PathLike,
    topics: str | os.PathLike | None,
    qrels: str | os.PathLike | None,
    output: str | os.PathLike,
    *,
    self_supervised: str | None = None,
    no_judgements: bool = False,
    topic_field: str = "title",
    model: str = "bm25",
    recipe: str | DefaultRecipe | PaperRecipe = "default",
    vectors: str | os.PathLike | None = None,
    trust_pickle: bool = False,
    matrix: str | os.PathLike | None = None,
    field: str = "contents",
    lead: bool = True,
    term_values: bool = True,
    seed: int = 0,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
    config: LearnConfig | None = None,
    plot: str | os.PathLike | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> TermValues:
    """Learn from a Lucene index, a topics file and a qrels file, and write the folder ``output``.

    Parameters
    ----------
    topics, qrels, topic_field
        See :func:`tdv_lucene.read_topics` and :func:`tdv_lucene.read_qrels`; both None with
        ``self_supervised``.
    self_supervised
        ``"titles"``, ``"pairs"`` or ``"auto"``: topics are made from the index, see
        :mod:`.self_supervised`. The points' measures are then those of such topics.
    no_judgements
        With ``topics`` and ``qrels`` None: write what judged collections say of this one (see
        :func:`.prior_values.prior_values`), and learn nothing.
    vectors, trust_pickle
        A folder from :func:`embed_terms` or a file of word vectors; None for LSA of the matrix.
        A gensim pickle, which can run any command, is read only with ``trust_pickle``.
    matrix
        A folder from :func:`extract_matrix` of this index; None extracts it on the way.
    lead
        Let frequencies count for more where a term stands first early in its document (see
        :mod:`..matrix.first_positions`); no matter where the index has no positions, or
        ``self_supervised`` is given.
    term_values
        Learn what terms are worth. Without, all are worth the same: what then remains suits
        queries of other kinds than those at hand.
    k1, b, mu
        Of the search. All None: what serves the training queries best, Anserini's defaults
        unless something else is clearly better; with ``self_supervised`` Anserini's defaults.
    config
        In place of all options from ``self_supervised`` to ``mu`` but ``vectors`` and ``matrix``.
    plot
        A ``.svg`` or ``.png`` file for the picture of the validated points.

    The other parameters and the result are those of :func:`learn_term_values`.

    Raises
    ------
    TdvError
        For everything a user can mend, before anything is written.
    """
    config = gathered(LearnConfig, config, locals())
    from ..jvm.index import analyze

    read = [index, topics, qrels, vectors, matrix]
    place = Output.folder(output, KIND, inputs=read, overwrite=overwrite)
    picture = None
    if plot is not None:
        picture = check_plot(plot, overwrite=overwrite, inputs=[*read, place])
    recipe, method = make_recipe(config.recipe), config.self_supervised
    if isinstance(recipe, DefaultRecipe):
        # Titles stand first: topics made of them would only learn that.
        wanted = config.lead and recipe.lead and method is None
        recipe = replace(recipe, lead=wanted, values=config.term_values and recipe.values)
        if method is not None:
            recipe = replace(recipe, prior=False)
    _check_supervision(topics, qrels, method, config.no_judgements)
    if config.no_judgements:
        return prior_values_of_index(
            index, output=output, model=config.model, matrix=matrix, field=config.field,
            lead=config.lead, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    if method is None:
        texts, judgements = read_topics(topics, config.topic_field), read_qrels(qrels)
    positions = isinstance(recipe, DefaultRecipe) and recipe.lead
    with open_matrix(
        index, matrix, field=config.field, positions=positions, progress=progress
    ) as counts:
        counts.require_whole("learning")
        word_vectors = None
        if vectors is not None:
            word_vectors = load_term_vectors(
                vectors, counts, progress, trust_pickle=config.trust_pickle
            )
        options = {
            "model": config.model, "recipe": recipe, "vectors": word_vectors,
            "parameters": config.parameters, "seed": config.seed, "progress": progress,
        }  # fmt: skip
        if method is None:
            tokens = analyze(list(texts.values()), config.field)
            values = learn_term_values(counts, dict(zip(texts, tokens)), judgements, **options)
        else:
            made = make_topics(index, counts, method, seed=config.seed, progress=progress)
            values = learn_term_values(made.matrix, made.topics, made.qrels, **options)
            values = _of_whole_matrix(values, counts, made.describe())
        values = with_index_bytes(values, index)
        values.save(place)
    if picture is not None:
        recommended, full = (values.manifest[of] for of in ("recommended_reduction", "full"))
        plot_points(values.points, full, recommended, picture)
    return TermValues.load(output)


def _check_supervision(
    topics: str | os.PathLike | None,
    qrels: str | os.PathLike | None,
    self_supervised: str | None,
    no_judgements: bool,
) -> None:
    given = [what for what in (topics, qrels) if what is not None]
    if no_judgements and (given or self_supervised is not None):
        raise TdvError(
            f"{argument('no_judgements')} learns nothing: leave it out with {argument('topics')}, "
            f"{argument('qrels')} or {argument('self_supervised')}"
        )
    if no_judgements:
        return
    if self_supervised is not None and given:
        raise TdvError(
            f"{argument('self_supervised')} makes its own topics: leave out {argument('topics')} "
            f"and {argument('qrels')}"
        )
    if self_supervised is None and len(given) < 2:
        raise TdvError(
            f"learning needs {argument('topics')} and {argument('qrels')}; "
            f"{argument('no_judgements')} does without"
        )


def _of_whole_matrix(
    values: TermValues, matrix: TermDocumentMatrix, about: dict[str, object]
) -> TermValues:
    """Values learned from a matrix with less in it, with the counts of the index itself."""
    return replace(
        values,
        doc_freq=np.asarray(matrix.doc_freq),
        total_term_freq=np.asarray(matrix.total_term_freq),
        manifest={**values.manifest, "self_supervised": about},
    )


def _manifest(
    problem: Problem, recipe: DefaultRecipe | PaperRecipe, learned: Learned, seed: int
) -> dict:
    matrix, rule = problem.matrix, learned.final.rule
    by_paper = isinstance(recipe, PaperRecipe)
    by_posting = {} if rule is None else {"unit": recipe.unit, "posting_rule": rule.describe()}
    return {
        **by_posting,
        "field": matrix.vocabulary.field,
        "source": matrix.source,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "model": problem.model,
        "parameters": problem.parameters.values(),
        "lead": None if matrix.position_boost is None else matrix.position_boost._asdict(),
        "positions": matrix.first_positions is not None,
        "recipe": {"name": recipe.name, **asdict(recipe)},
        "seed": seed,
        "vectors": dict(problem.vectors.origin),
        "queries": len(problem.queries),
        "folds": learned.folds,
        "points": learned.points,
        **({} if learned.moved is None else {"prior": learned.moved}),
        "full": learned.full,
        # The paper's is what its zeros remove.
        "recommended_reduction": 0.0 if by_paper else recommend(learned.points),
    }
