"""Stage 4: learn TDVs from judged queries; arrays in, arrays out, no Java needed.

An order of terms, TDVs for what is kept, and validated operating points.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from math import isfinite
from typing import Any, NamedTuple

import jax
import numpy as np

from ..evaluation.significance import t_test
from ..evaluation.topics import note_on_missing, note_on_own_documents, relevant_documents
from ..interruption import deferred
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_vectors import latent_semantic_vectors
from ..progress import Progress, silent
from ..ranking import SearchParameters, ranking_function
from ..ranking.postings import DEFAULT_BOOST, Boost, WeightPower, describe_boost
from ..simulation.collection import rule_of_order
from ..simulation.problem import JudgedMatrix, Problem, PrunedByFold, TermScores
from ..simulation.retrieval import MEASURES, find_documents, make_queries
from ..values.posting_rule import CORRECTED_AT, PostingRule, constants_of, count_thresholds
from ..values.term_values import MEASURE, TermValues
from . import scale, train
from .config import FEWEST_QUERIES, Recipe, TermValuesConfig
from .pool import Search, pool_of, pool_size
from .prior import AS_IT_IS, Prior, Settings, settings_for
from .selection import TOO_FEW
from .tune import PRICE, choose_parameters, tuning_queries
from .validate import measure_full, validate_points

_log = logging.getLogger(__name__)

_TELL_A_SCALE = 100  # fewer queries cannot show what a scale below the prior's would cost


def learn_term_values(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    config: TermValuesConfig | None = None,
    *,
    search: Search | None = None,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Learn the TDV of every term of ``matrix``.

    tdv_t = ReLU(w . x_t + b), with w and b fitted so that ``model``, computed on tf * tdv, ranks
    the judged documents well. It shrinks and averages several such networks (see
    :class:`.train.Network`) and, if the matrix has ``first_positions``, uses a first-position boost
    (see :mod:`..ranking.postings`). On one machine the same ``seed`` gives the same TDVs.

    Parameters
    ----------
    topics
        Query id -> index terms (see :func:`tdv_lucene.analyze`), with repetitions.
    qrels
        Query id -> document id -> grade.
    config, options
        How to learn: a :class:`TermValuesConfig`, or its options by name, as ``seed=1``.
    search
        Finds the documents of a pool, see :mod:`.pool`; None for NumPy, which holds all
        postings of the query terms.

    Raises
    ------
    TdvError
        When topics, qrels, vectors and matrix do not belong together, when there are too few
        queries, or when the matrix holds only some of the documents.
    """
    config = TermValuesConfig.of(config, options)
    model, seed, vectors = matrix.searched_by(config.model), config.seed, config.vectors
    recipe = config.recipe or Recipe()
    matrix.require_postings("learning")
    size = pool_size(matrix.documents, config.pool)
    whole, queries = matrix, make_queries(matrix, topics, qrels, config.remove_query)
    relevant, found = relevant_documents(topics, qrels), queries.judged_docs[queries.grades > 0]
    missing, index = len(relevant) - len(np.unique(found)), matrix.source.get("path", "the index")
    if note := note_on_missing(missing, len(relevant), "the qrels", str(index)):
        _log.warning("%s; queries that have no other are left out", note)
    matrix, queries = pool_of(whole, queries, model, search, size, seed, progress)
    if vectors is None:
        none = {} if recipe.values else {"dimensions": 0}
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress, **none)
    vectors.check(matrix)
    prior, start = config.prior or Prior.load(), None
    if recipe.prior and prior.knows(model):
        positions = recipe.lead and whole.first_positions is not None
        start = PriorStart(prior, settings_for(prior, whole, model, positions=positions)[0])
    boost: Boost | None = DEFAULT_BOOST
    if start is not None:
        boost = start.settings.boost
    elif ranking_function(model).of_weights:
        boost = WeightPower.one(matrix.doc_freq, matrix.total_term_freq)
    elif not recipe.lead or matrix.first_positions is None:
        boost = None
    asked = config.parameters
    given = asked.values() if isinstance(asked, SearchParameters) else dict(asked or {})
    first = (start.settings.parameters if start else SearchParameters()).with_values(given)
    counted = matrix.with_position_boost(boost)
    with deferred():  # JAX's callbacks must not raise
        problem = Problem(JudgedMatrix(counted, queries), vectors, model, first)
        _warn_of_own_documents(problem, qrels, config.remove_query)
        problem, (weights, rule), facts = learn_by_folds(
            problem, recipe, seed, progress, start, fixed=given, measure=config.measure
        )
    _log.info("learned with %s from %d queries", problem.parameters.values(), len(problem.queries))
    learned_from, pool = problem.matrix, None
    if size:
        progress("count all postings", 0, 0)
        rule = count_thresholds(rule, whole)
    if learned_from.pool is not None:  # measures in it are estimates
        drawn = learned_from.pool.drawn
        pool = {
            "documents": len(drawn),
            "of": whole.documents,
            "drawn": int(np.count_nonzero(drawn)),
            "postings": learned_from.postings,
        }
    return TermValues.of(
        learned_from,
        weights,
        rule.priority,
        rule,
        model=problem.model,
        parameters=problem.parameters,
        lead=describe_boost(learned_from.position_boost),
        positions=learned_from.first_positions is not None,
        seed=seed,
        vectors=dict(problem.vectors.origin),
        queries=len(problem.queries),
        pool=pool,
        measure=config.measure,
        **facts,
    )


def _warn_of_own_documents(
    problem: Problem, qrels: Mapping[str, Mapping[str, int]], removed: bool
) -> None:
    ids = problem.queries.ids
    own = find_documents(problem.matrix, ids)
    unjudged = [q for q, qid in enumerate(ids) if qid in own and qrels[qid].get(qid, 0) <= 0]
    if removed or not unjudged:
        return
    some = np.array(unjudged)
    best = problem.postings.top(problem.impacts(problem.plain), 1, some)[:, 0]
    first = int(np.count_nonzero(best == [own[ids[query]] for query in unjudged]))
    if note := note_on_own_documents(first, len(ids), removed):
        _log.warning("%s", note)


class PriorStart(NamedTuple):
    """A prior to start from, and its settings for the collection at hand."""

    prior: Prior
    settings: Settings


def learn_by_folds(
    problem: Problem,
    recipe: Recipe,
    seed: int,
    progress: Progress,
    start: PriorStart | None,
    *,
    fixed: Collection[str],
    measure: str,
) -> tuple[Problem, TermScores, dict[str, Any]]:
    """Choose parameters, order the terms, learn their TDVs, and average over the folds.

    Return the problem with the parameters that were chosen, its TDVs and rule, and facts of the
    manifest (see :class:`..values.term_values.TermValues`).

    Everything is chosen and learned once for each fold, from the other folds' queries, so that each
    query measures a training it took no part in. What is dropped is decided first, apart from the
    TDVs: otherwise rescaling them would pass for sparsity. With a ``start`` the problem has the
    prior's parameters and boost, and training begins at its network; too few queries only measure
    the prior. The problem's own parameters that are ``fixed``, by name, stay for all folds. Points
    are recommended by ``measure``.
    """
    if start is None:
        problem.require_queries()
    few = start is not None and len(problem.queries) < FEWEST_QUERIES
    at_prior, price = problem, None
    if start is not None:
        base = start.prior.weights(problem.matrix, start.settings.slope)
        at_prior = replace(problem, base=base)
        price = 0.0 if start.settings is AS_IT_IS else PRICE  # of short documents it knows none
    if recipe.values:
        problem = at_prior
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    queries = tuning_queries(problem, seed)
    tuned = [problem] * (1 + len(folds))
    if not few:
        tuned = choose_parameters(problem, folds, queries, progress, price=price, fixed=fixed)
    rules = _rules(tuned, recipe.reductions)
    weights = [of.base_values for of in tuned]
    if recipe.values and not few:
        weights = _learn_values(recipe, start, tuned, folds, rng, progress)
    choose_scale = _scale_choice(problem, start, few)
    tradeoffs: list[scale.Tradeoff] = []
    if not few:
        first = TermScores(weights[0], rules[0])
        tradeoffs = scale.choose_tradeoffs(tuned[0], first, queries, folds, choose_scale, progress)
    if tradeoffs:
        powers = {each.per_byte for each in tradeoffs} - {0.0}
        by_power = {0.0: rules} | {x: _rules(tuned, recipe.reductions, x) for x in powers}
        rules = [by_power[each.per_byte][i] for i, each in enumerate(tradeoffs)]
        choose_scale = scale.limit_scale(choose_scale, tradeoffs[0], tradeoffs[1:])
    scores = [*map(TermScores, weights, rules)]
    tuned_full = measure_full(problem, folds, queries, progress)
    at = PrunedByFold(tuned, scores, folds)
    prior_reduction = (start.settings.reduction if start else None) or 0.0
    facts = validate_points(
        at, tuned_full, recipe.reductions, choose_scale, progress, measure, prior_reduction
    )
    if few:  # they choose no reduction either: the measured one below the prior's
        measured = max((each for each in recipe.reductions if each <= prior_reduction), default=0.0)
        facts |= {"choice": None, "first_ten": None}
        facts |= {"recommended_reduction": measured, "recommended_because": TOO_FEW}
    if start is not None:
        facts["prior"] = _moved(start, at_prior, at, choose_scale)
    facts["recipe"] = {"name": recipe.name, **asdict(recipe)}
    if tradeoffs:
        per_byte, finest = tradeoffs[0]
        facts["recipe"] |= {"per_byte": per_byte, "finest": finest if isfinite(finest) else None}
    return tuned[0], scores[0], facts


def _scale_choice(problem: Problem, start: PriorStart | None, few: bool) -> scale.ScaleChoice:
    """Return how operating points get their scales; too ``few`` queries leave the prior's."""
    if constants_of(problem.model).scale_ranks:
        first = 1.0 if start is None else start.settings.scale
        others = () if few else scale.RANKING_SCALES
        return partial(scale.best_ranking_scale, first=first, others=others)
    if start is None or len(problem.queries) >= _TELL_A_SCALE:
        return _remembered(scale.faithful_scale)
    settings = start.settings
    return lambda at: scale.faithful_scale(at, least=settings.scale_at(at.reduction))


def _remembered(choose: scale.ScaleChoice) -> scale.ScaleChoice:
    """Return a choice that is made once a rule and reduction: the same for all folds."""
    known: dict[tuple[PostingRule, float], scale.ChosenScale] = {}

    def choose_once(at: PrunedByFold) -> scale.ChosenScale:
        key = at.scores[0].rule, at.reduction
        if key not in known:
            known[key] = choose(at)
        found = known[key]
        return found._replace(of_folds=[found.entry["scale"]] * len(at.folds))

    return choose_once


def _rules(
    tuned: Sequence[Problem], reductions: Collection[float], per_byte: float = 0.0
) -> list[PostingRule]:
    """Return the posting rules of all queries and of each fold, with their parameters."""
    made = {}
    for problem in dict.fromkeys(tuned):
        made[problem] = rule_of_order(
            problem.matrix, problem.model, problem.parameters,
            {*reductions, *(CORRECTED_AT if problem is tuned[0] else ())},  # what pruning gets
            per_byte,
        )  # fmt: skip
    return [made[problem] for problem in tuned]


def _learn_values(
    recipe: Recipe,
    start: PriorStart | None,
    tuned: Sequence[Problem],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    progress: Progress,
) -> list[np.ndarray]:
    """Train a network for each fold, on the others; return TDVs for all and by fold.

    TDVs for all are the mean of the networks as they are best for all folds; a fold's are of its
    network as it is best for the *other* folds, so that its own queries chose nothing. Folds with
    the same problem follow one another and share their task, which is then freed: it is as large as
    the matrix.
    """
    whole, *of_folds = tuned
    features = jax.tree.map(jax.numpy.asarray, train.term_features(whole.matrix, whole.vectors))
    done, steps, linear = count(1), recipe.max_steps * len(folds), None
    if start is not None:
        linear = start.prior.linear(whole.matrix, features, start.settings.slope)
    by_number: dict[int, train.Trained] = {}
    for problem in dict.fromkeys(of_folds):
        task = train.make_task(problem.apart(), recipe, features, linear)
        for k in (k for k, other in enumerate(of_folds) if other is problem):
            queries = np.sort(np.concatenate(folds[:k] + folds[k + 1 :]))
            checkpoints = train.train(
                task, queries, rng, lambda: progress("train", next(done), steps)
            )
            by_number[k] = train.measure_checkpoints(task, checkpoints, folds[k])
        del task
    trained = [by_number[k] for k in range(len(folds))]
    if ranking_function(whole.model).of_weights:
        others, everyone = train.choose_mildly(trained)
    else:
        others, everyone = train.choose(
            [of.gains for of in trained], 0.0 if start is None else train.CAUTION
        )
    networks = [of_fold.networks[everyone] for of_fold in trained]
    out_of_fold = [of_fold.networks[choice] for of_fold, choice in zip(trained, others)]
    mean = np.mean([network.values(features) for network in networks], axis=0)
    values = [mean, *(network.values(features) for network in out_of_fold)]
    return [v * of.judged.start_values for v, of in zip(values, tuned)]


def _moved(
    start: PriorStart, at_prior: Problem, to: PrunedByFold, choose_scale: scale.ScaleChoice
) -> dict[str, Any]:
    """Return how far learning moved away from the prior, and what that gained.

    ``parameters``, ``lead`` (the first-position boost) and ``reduction`` are the prior's own.
    ``values`` is the mean over tokens of |tdv - prior's tdv|, both of mean 1. ``gain`` is what
    held-out queries gain in nDCG@5 over the prior alone, at the prior's reduction, with its 95 %
    interval (see :func:`..evaluation.significance.t_test`). The real-valued models are compared,
    except for TF-IDF, whose scale does more than round.
    """
    tokens = np.asarray(to.problem.matrix.total_term_freq, np.float64)
    away = np.abs(to.scores[0].weights - at_prior.base_values)
    reduction = start.settings.reduction or 0.0
    learned = to.at(reduction)
    rule = rule_of_order(at_prior.matrix, at_prior.model, at_prior.parameters, (reduction,))
    scores = TermScores(at_prior.base_values, rule)
    before = PrunedByFold.in_one_fold(at_prior, scores, reduction)
    if constants_of(at_prior.model).scale_ranks:
        ours = learned.held_out(choose_scale(learned).of_folds)
        differences = ours - before.held_out([start.settings.scale_at(reduction)])
    else:
        differences = learned.held_out([None] * len(to.folds)) - before.held_out([None])
    gains = differences[:, MEASURES.index(MEASURE)]
    return {
        **start.prior.describe(),
        "parameters": at_prior.parameters.values(),
        "lead": describe_boost(at_prior.matrix.position_boost),
        "reduction": reduction,
        "values": float(tokens @ away / max(1.0, tokens.sum())),
        "gain": {"measure": MEASURE, "mean": float(gains.mean()), "interval": t_test(gains)[1]},
    }
