"""Learning: an order of terms, TDVs for what is kept, validated operating points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import jax
import numpy as np

from ..core import tdv
from ..prior.as_start import PriorStart
from ..progress import Progress
from ..ranking import ranking_function
from ..simulation.choice_of_scale import (
    RANKING_SCALES,
    ChosenScale,
    ScaleChoice,
    best_ranking_scale,
    faithful_scale,
)
from ..simulation.full_index import measure_full
from ..simulation.posting_rules import rule_of_order
from ..simulation.problem import Left, Problem, Tuned
from ..simulation.reduced import Reduced
from ..simulation.term_scores import TermScores
from ..values.dropped_postings import PostingRule
from ..values.dropped_terms import drop_terms
from ..values.losses import TOO_FEW, Recommended
from ..values.operating_point import CORRECTED_AT
from .choice_of_order import Way, choose_ways, may_choose, no_finer
from .features import term_features
from .listwise import train
from .points import Learned, validate_points
from .recipes import DefaultRecipe
from .stopping import Stopped, Trained, measure_checkpoints, stop, stop_mildly
from .training_task import make_task
from .tuning_before_learning import choose_parameters, tuning_queries

_TELL_A_SCALE = 100
"""Fewer queries cannot show what a scale below the prior's would cost."""


def learn_default(
    problem: Problem,
    recipe: DefaultRecipe,
    seed: int,
    progress: Progress,
    start: PriorStart | None = None,
    *,
    fixed: Collection[str] = (),
) -> Learned:
    """Choose parameters, order the terms, learn their TDVs, and average over the folds.

    Everything is chosen and learned once for each fold, from the other folds' queries, so that each
    query measures a training it took no part in. What is dropped is decided first, apart from the
    TDVs: otherwise rescaling them would pass for sparsity. With a ``start`` training begins at the
    prior's network; too few queries only measure what the prior gives.
    The problem's own parameters that are ``fixed``, by name, stay for all folds.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    some = tuning_queries(problem, seed)
    few = start is not None and len(problem.queries) < recipe.fewest_queries
    if recipe.tuned and not few:
        chosen = choose_parameters(
            problem, folds, some, progress, from_prior=start is not None, fixed=fixed
        )
    else:
        chosen = Tuned.untuned(problem, folds)
    made = term_features(problem.matrix, problem.vectors, recipe.features)
    features = jax.tree.map(jax.numpy.asarray, made)
    rules = _rules(chosen, recipe)
    problems = [chosen.of_all, *chosen.of_folds]
    if recipe.values and not few:
        linear = None if start is None else start.linear(problem.matrix, made)
        done, steps = count(1), recipe.max_steps * len(folds)
        stopped = _train_values(
            recipe, features, linear, chosen, rules, folds, rng,
            lambda: progress("train", next(done), steps),
        )  # fmt: skip
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        of_networks = [mean, *(network.values(features) for network in stopped.out_of_fold)]
        weights = [v * of.judged.start_values for v, of in zip(of_networks, problems)]
        networks: list[Any] = [network.describe() for network in stopped.final]
    else:
        weights = [of.base_values for of in problems]
        networks = [None] * len(folds)
    final, *of_folds = _scores(weights, problems, rules)
    choose_scale = _scale_choice(problem, start, few)
    best: list[Way] = []
    if not few and may_choose(problem, recipe):
        best = choose_ways(chosen.of_all, final, recipe, some, folds, choose_scale, progress)
        for power in {way.per_byte for way in best} - {0.0}:
            others = _scores(weights, problems, _rules(chosen, replace(recipe, per_byte=power)))
            final, *of_folds = [
                other if way.per_byte == power else one
                for one, other, way in zip((final, *of_folds), others, best)
            ]
        choose_scale = no_finer(choose_scale, best[0], best[1:])
    tuned_full = measure_full(problem, folds, some, progress)
    at = Reduced(chosen, final, of_folds, folds, 0.0, recipe.unit)
    prior_reduction = 0.0 if start is None else start.settings.reduction or 0.0
    learned = validate_points(
        at, tuned_full, recipe.reductions, choose_scale, progress, prior_reduction
    )
    for report, network in zip(learned.folds, networks):
        report["network"] = network
    moved = None if start is None else start.moved(at, choose_scale)
    if few:  # they choose no reduction either
        of_prior = _nearest_below(prior_reduction, recipe.reductions)
        learned = learned._replace(choice={}, recommended=Recommended(of_prior, TOO_FEW))
    return learned._replace(moved=moved, way=best[0] if best else None)


def _nearest_below(most: float, reductions: Iterable[float]) -> float:
    """Return the largest of the measured ``reductions`` that is not above ``most``."""
    return max((each for each in reductions if each <= most), default=0.0)


def _scores(
    weights: list[np.ndarray], problems: list[Problem], rules: Mapping[Problem, PostingRule]
) -> list[TermScores]:
    """Return the scores of all queries, and those of each fold."""
    return [TermScores.by_rule(w, rules[problem]) for w, problem in zip(weights, problems)]


def _scale_choice(problem: Problem, start: PriorStart | None, few: bool) -> ScaleChoice:
    """Return how operating points get their scales; too ``few`` queries leave the prior's."""
    if ranking_function(problem.model).scale_ranks:
        first = 1.0 if start is None else start.settings.scale
        others = () if few else RANKING_SCALES
        return partial(best_ranking_scale, first=first, others=others)
    if start is None or len(problem.queries) >= _TELL_A_SCALE:
        return _remembered(faithful_scale)
    settings = start.settings
    return lambda at: faithful_scale(at, least=settings.scale_at(at.reduction))


def _remembered(choose: ScaleChoice) -> ScaleChoice:
    """Return a choice that is made once a rule and reduction: the same for all folds."""
    known: dict[tuple[PostingRule | None, float], ChosenScale] = {}

    def choose_once(at: Reduced) -> ChosenScale:
        key = at.final.rule, at.reduction
        if key not in known:
            known[key] = choose(at)
        found = known[key]
        return found._replace(of_folds=[found.entry["scale"]] * len(at.folds))

    return choose_once


def _rules(tuned: Tuned, recipe: DefaultRecipe) -> dict[Problem, PostingRule]:
    """Return how postings are dropped with the parameters that all queries chose, and with those
    that each fold's others did."""
    asked = {*recipe.reductions, recipe.trained_at}

    def rule_at(problem: Problem, reductions: Iterable[float]) -> PostingRule:
        return rule_of_order(
            problem.matrix, recipe.prefer, problem.model, problem.parameters, recipe, reductions
        )

    return {
        tuned.of_all: rule_at(tuned.of_all, {*asked, *CORRECTED_AT}),  # what pruning gets
        **{problem: rule_at(problem, asked) for problem in tuned.distinct[1:]},
    }


def _train_values(
    recipe: DefaultRecipe,
    features: tdv.Features,
    start: tdv.Linear | None,
    tuned: Tuned,
    rules: Mapping[Problem, PostingRule],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return one network for each fold, trained on what its rule leaves.

    Folds with the same problem follow one another and share their task, which is then let go: it is
    as large as the matrix.
    """
    trained: dict[int, Trained] = {}
    for problem in dict.fromkeys(tuned.of_folds):
        left = _left(recipe, problem, rules[problem])
        task = make_task(left.problem.apart(), recipe, features, left.factors, start)
        for k in (k for k, other in enumerate(tuned.of_folds) if other is problem):
            checkpoints = train(task, _without(folds, k), rng, step_done)
            trained[k] = measure_checkpoints(task, checkpoints, folds[k])
        del task
    in_order = [trained[k] for k in range(len(folds))]
    if ranking_function(tuned.of_all.model).of_weights:
        return stop_mildly(in_order, folds)
    return stop(in_order, folds, recipe.caution if start is not None else 0.0)


def _left(recipe: DefaultRecipe, problem: Problem, rule: PostingRule) -> Left:
    """Return what is left while TDVs are learned; a whole term that is dropped has a 0."""
    if recipe.unit == "posting":
        return problem.left(rule, recipe.trained_at)
    ones = np.ones(len(rule.priority), np.float32)
    doc_freq = problem.matrix.doc_freq
    return Left(problem, drop_terms(ones, rule.priority, doc_freq, recipe.trained_at)[0])


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
