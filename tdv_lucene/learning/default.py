"""Learning: an order of terms, TDVs for what is kept, validated operating points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..evaluation.significance import t_test
from ..prior.prior import Prior, Settings
from ..progress import Progress
from ..ranking import ranking_function
from ..ranking.boosts import describe_boost
from ..simulation.choice_of_scale import (
    RANKING_SCALES,
    ChosenScale,
    ScaleChoice,
    best_ranking_scale,
    faithful_scale,
)
from ..simulation.full_index import measure_full
from ..simulation.measures import MEASURES
from ..simulation.posting_rules import rule_of_order
from ..simulation.problem import Problem, Tuned
from ..simulation.reduced import Reduced, TermScores
from ..values.dropped_postings import PostingRule
from ..values.losses import MEASURE, TOO_FEW, Recommended
from ..values.operating_point import CORRECTED_AT
from .choice_of_order import Way, choose_ways, may_choose, no_finer
from .listwise import train
from .points import Learned, validate_points
from .recipes import FEWEST_QUERIES, DefaultRecipe
from .stopping import CAUTION, Network, Trained, choose, choose_mildly, measure_checkpoints
from .training_task import make_task, term_features
from .tuning_before_learning import choose_parameters, tuning_queries

_TELL_A_SCALE = 100
"""Fewer queries cannot show what a scale below the prior's would cost."""


class PriorStart(NamedTuple):
    """Where learning begins: a prior, and its settings for the collection at hand."""

    prior: Prior
    settings: Settings

    @property
    def reduction(self) -> float:
        """What the prior drops by itself."""
        return self.settings.reduction or 0.0

    def of(self, problem: Problem) -> Problem:
        """Return the problem with the prior's weights to begin with."""
        return replace(problem, base=self.prior.weights(problem.matrix, self.settings.slope))


def learn_default(
    problem: Problem,
    recipe: DefaultRecipe,
    seed: int,
    progress: Progress,
    start: PriorStart | None,
    *,
    fixed: Collection[str],
    measure: str,
) -> Learned:
    """Choose parameters, order the terms, learn their TDVs, and average over the folds.

    Everything is chosen and learned once for each fold, from the other folds' queries, so that each
    query measures a training it took no part in. What is dropped is decided first, apart from the
    TDVs: otherwise rescaling them would pass for sparsity. With a ``start`` the problem has the
    prior's parameters and boost, and training begins at its network; too few queries only measure
    what the prior gives. The problem's own parameters that are ``fixed``, by name, stay for all
    folds. Points are recommended by ``measure``.
    """
    if start is None:
        problem.require_queries()
    few = start is not None and len(problem.queries) < FEWEST_QUERIES
    alone = problem if start is None else start.of(problem)
    if recipe.values:
        problem = alone
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    some = tuning_queries(problem, seed)
    tuned = Tuned.untuned(problem, folds)
    if not few:
        tuned = choose_parameters(
            problem, folds, some, progress, from_prior=start is not None, fixed=fixed
        )
    rules = _rules(tuned, recipe.reductions)
    weights = [of.base_values for of in tuned.problems]
    networks: list[dict[str, Any] | None] = [None] * len(folds)
    if recipe.values and not few:
        weights, networks = _learn_values(recipe, start, tuned, folds, rng, progress)
    choose_scale = _scale_choice(problem, start, few)
    best: list[Way] = []
    if not few and may_choose(problem):
        scores = TermScores.by_rule(weights[0], rules[0])
        best = choose_ways(tuned.of_all, scores, some, folds, choose_scale, progress)
        rules = _by_way(tuned, recipe.reductions, rules, best)
        choose_scale = no_finer(choose_scale, best[0], best[1:])
    final, *of_folds = map(TermScores.by_rule, weights, rules)
    tuned_full = measure_full(problem, folds, some, progress)
    at = Reduced(tuned, final, of_folds, folds, 0.0, "posting")
    below = 0.0 if start is None else start.reduction
    learned = validate_points(
        at, tuned_full, recipe.reductions, choose_scale, progress, measure, below
    )
    for report, network in zip(learned.folds, networks):
        report["network"] = network
    if few:  # they choose no reduction either: the measured one below the prior's
        measured = max((each for each in recipe.reductions if each <= below), default=0.0)
        learned = learned._replace(choice=None, recommended=Recommended(measured, TOO_FEW))
    moved = None if start is None else _moved(start, alone, at, choose_scale)
    return learned._replace(moved=moved, way=best[0] if best else None)


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


def _rules(tuned: Tuned, reductions: Collection[float], per_byte: float = 0.0) -> list[PostingRule]:
    """Return how postings are dropped with the parameters that all queries chose, and with those
    that each fold's others did."""
    made = {}
    for problem in dict.fromkeys(tuned.problems):
        made[problem] = rule_of_order(
            problem.matrix, problem.model, problem.parameters,
            {*reductions, *(CORRECTED_AT if problem is tuned.of_all else ())},  # what pruning gets
            per_byte,
        )  # fmt: skip
    return [made[problem] for problem in tuned.problems]


def _by_way(
    tuned: Tuned, reductions: Collection[float], rules: Sequence[PostingRule], best: Sequence[Way]
) -> list[PostingRule]:
    """Return the ``rules`` of all queries and of each fold, in the order of its ``best`` way."""
    by_power = {0.0: rules}
    for power in {way.per_byte for way in best} - {0.0}:
        by_power[power] = _rules(tuned, reductions, power)
    return [by_power[way.per_byte][i] for i, way in enumerate(best)]


def _learn_values(
    recipe: DefaultRecipe,
    start: PriorStart | None,
    tuned: Tuned,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[list[np.ndarray], list[dict[str, Any] | None]]:
    """Return TDVs, the mean of all networks and those of each fold's, and what networks are."""
    whole = tuned.of_all
    made = term_features(whole.matrix, whole.vectors)
    features = jax.tree.map(jax.numpy.asarray, made)
    done, steps = count(1), recipe.max_steps * len(folds)
    trained, out_of_fold = _train_networks(
        recipe, features, start, tuned, folds, rng,
        lambda: progress("train", next(done), steps),
    )  # fmt: skip
    mean = np.mean([network.values(features) for network in trained], axis=0)
    values = [mean, *(network.values(features) for network in out_of_fold)]
    weights = [v * of.judged.start_values for v, of in zip(values, tuned.problems)]
    return weights, [network.describe() for network in trained]


def _train_networks(
    recipe: DefaultRecipe,
    features: tdv.Features,
    start: PriorStart | None,
    tuned: Tuned,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> tuple[list[Network], list[Network]]:
    """Return one network for each fold, trained on the whole index: where it is best for all
    folds, and where it is best for the *other* folds, so that its own queries chose nothing.

    Folds with the same problem follow one another and share their task, which is then let go: it is
    as large as the matrix.
    """
    linear = None
    if start is not None:
        linear = start.prior.linear(tuned.of_all.matrix, features, start.settings.slope)
    trained: dict[int, Trained] = {}
    for problem in dict.fromkeys(tuned.of_folds):
        task = make_task(problem.apart(), recipe, features, linear)
        for k in (k for k, other in enumerate(tuned.of_folds) if other is problem):
            queries = np.sort(np.concatenate(folds[:k] + folds[k + 1 :]))
            checkpoints = train(task, queries, rng, step_done)
            trained[k] = measure_checkpoints(task, checkpoints, folds[k])
        del task
    in_order = [trained[k] for k in range(len(folds))]
    if ranking_function(tuned.of_all.model).of_weights:
        others, everyone = choose_mildly(in_order)
    else:
        gains = [of_fold.gains for of_fold in in_order]
        others, everyone = choose(gains, 0.0 if start is None else CAUTION)
    out_of_fold = [of_fold.networks[choice] for of_fold, choice in zip(in_order, others)]
    return [of_fold.networks[everyone] for of_fold in in_order], out_of_fold


def _moved(
    start: PriorStart, alone: Problem, to: Reduced, choose_scale: ScaleChoice
) -> dict[str, Any]:
    """Return how far learning moved away from the prior ``alone``, and what that gained.

    ``parameters``, ``lead`` (the first-position boost) and ``reduction`` are the prior's own.
    ``values`` is the mean over tokens of |tdv - prior's tdv|, both of mean 1. ``gain`` is what
    held-out queries gain in nDCG@5 over the prior alone, at the prior's reduction, with its 95 %
    interval (see :func:`..evaluation.significance.t_test`). It is that of the real-valued models,
    but for TF-IDF, whose scale does more than round.
    """
    tokens = np.asarray(to.problem.matrix.total_term_freq, np.float64)
    away = np.abs(to.final.weights - alone.base_values)
    reduction = start.reduction
    learned = replace(to, reduction=reduction, unit="posting")
    rule = rule_of_order(alone.matrix, alone.model, alone.parameters, (reduction,))
    before = Reduced.untuned(alone, TermScores.by_rule(alone.base_values, rule), reduction)
    if ranking_function(alone.model).scale_ranks:
        ours = learned.held_out(choose_scale(learned).of_folds)
        differences = ours - before.held_out([start.settings.scale_at(reduction)])
    else:
        differences = learned.held_out([None] * len(to.folds)) - before.held_out([None])
    gains = differences[:, MEASURES.index(MEASURE)]
    return {
        **start.prior.describe(),
        "parameters": alone.parameters.values(),
        "lead": describe_boost(alone.matrix.position_boost),
        "reduction": reduction,
        "values": float(tokens @ away / max(1.0, tokens.sum())),
        "gain": {
            "measure": MEASURE,
            "mean": float(gains.mean()),
            "interval": t_test(gains)[1],
        },
    }
