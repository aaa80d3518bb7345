"""Learning: an order of terms, TDVs for what is kept, validated operating points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
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
from ..simulation.term_scores import TermScores, kept_terms
from ..values.dropped_postings import PostingRule
from ..values.operating_point import CORRECTED_AT
from .choice_of_order import Way, choose_ways, may_choose, no_finer
from .features import term_features
from .listwise import train
from .points import Learned, validate_points
from .recipes import DefaultRecipe
from .stopping import Stopped, Trained, measure_checkpoints, stop
from .training_task import make_task
from .tuning_before_learning import choose_parameters, tuning_queries

_TELL_A_SCALE = 100
"""Fewer queries cannot show what a scale below the prior's would cost."""


@dataclass(frozen=True, eq=False)
class _Way:
    """A way of pruning: the order of terms, and the rule for single postings made of it.

    Attributes
    ----------
    problem : Problem
        With the parameters that the rule is made for.
    order : float32[V]
        Above 0; the smallest are dropped first.
    rule : PostingRule
    """

    problem: Problem
    order: np.ndarray
    rule: PostingRule


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
    final_way, ways = _ways(chosen, recipe)
    problems = [chosen.of_all, *chosen.of_folds]
    if recipe.values and not few:
        linear = None if start is None else start.linear(problem.matrix, made)
        steps = _Counter(recipe.max_steps * len(folds), progress)
        stopped = _train_values(recipe, features, linear, ways, folds, rng, steps)
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        of_networks = [mean, *(network.values(features) for network in stopped.out_of_fold)]
        weights = [v * of.judged.start_values for v, of in zip(of_networks, problems)]
        networks: list[Any] = [network.describe() for network in stopped.final]
    else:
        weights = [of.base_values for of in problems]
        networks = [None] * len(folds)
    final, *of_folds = _scores(weights, final_way, ways)
    choose_scale = _scale_choice(problem, start, few)
    best: list[Way] = []
    if not few and may_choose(problem, recipe):
        best = choose_ways(chosen.of_all, final, recipe, some, folds, choose_scale, progress)
        for power in {way.per_byte for way in best} - {0.0}:
            others = _scores(weights, *_ways(chosen, replace(recipe, per_byte=power)))
            final, *of_folds = [
                other if way.per_byte == power else one
                for one, other, way in zip((final, *of_folds), others, best)
            ]
        choose_scale = no_finer(choose_scale, best[0], best[1:])
    tuned_full = measure_full(problem, folds, some, progress)
    validated = validate_points(
        chosen, final, of_folds, folds, tuned_full, recipe.reductions, recipe.unit, progress,
        choose_scale,
    )  # fmt: skip
    for report, network in zip(validated.folds, networks):
        report["network"] = network
    moved = None
    if start is not None:
        moved = start.moved(chosen, final, of_folds, folds, choose_scale)
    return Learned(
        chosen.of_all, final, *validated[:3],
        moved=moved, choice=validated.choice, way=best[0] if best else None,
    )  # fmt: skip


def _scores(weights: list[np.ndarray], final: _Way, ways: list[_Way]) -> list[TermScores]:
    """Return the scores of all queries, and those of each fold."""
    return [TermScores(w, way.order, way.rule) for w, way in zip(weights, (final, *ways))]


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


class _Counter:
    """Counts the steps of all trainings for the progress bar."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def __call__(self) -> None:
        self._done += 1
        self._progress("train", self._done, self._total)


def _way(problem: Problem, recipe: DefaultRecipe, reductions: Iterable[float]) -> _Way:
    """Return the way that drops postings by their saturation and their term's order.

    It is corrected for the larger idf at each of the ``reductions``, which takes a pass each.
    """
    order, rule = rule_of_order(
        problem.matrix, recipe.prefer, problem.model, problem.parameters, recipe, {*reductions}
    )
    return _Way(problem, order, rule)


def _ways(tuned: Tuned, recipe: DefaultRecipe) -> tuple[_Way, list[_Way]]:
    """Return the way of pruning for what all queries chose, and for what each fold's others did."""
    asked = {*recipe.reductions, recipe.trained_at}
    final = _way(tuned.of_all, recipe, {*asked, *CORRECTED_AT})  # what pruning gets
    made = {problem: _way(problem, recipe, asked) for problem in tuned.distinct[1:]}
    made[tuned.of_all] = final
    return final, [made[of_fold] for of_fold in tuned.of_folds]


def _train_values(
    recipe: DefaultRecipe,
    features: tdv.Features,
    start: tdv.Linear | None,
    ways: list[_Way],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return one network for each fold, trained on what its way of pruning leaves.

    Folds with the same way follow one another and share their task, which is then let go: it is as
    large as the matrix.
    """
    trained: dict[int, Trained] = {}
    for way in dict.fromkeys(ways):
        left = _left(recipe, way, recipe.trained_at)
        task = make_task(left.problem.apart(), recipe, features, left.factors, start)
        for k in (k for k, other in enumerate(ways) if other is way):
            checkpoints = train(task, _without(folds, k), rng, step_done)
            trained[k] = measure_checkpoints(task, checkpoints, folds[k])
        del task
    caution = recipe.caution if start is not None else 0.0
    return stop([trained[k] for k in range(len(folds))], folds, caution)


def _left(recipe: DefaultRecipe, way: _Way, reduction: float) -> Left:
    """Return what is left at ``reduction``; a whole term that is dropped has a factor of 0."""
    if recipe.unit == "term":
        return Left(way.problem, kept_terms(way.problem, way.order, reduction))
    return way.problem.left(way.rule, way.order, reduction)


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
