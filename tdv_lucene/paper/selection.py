"""The choice of what the paper's text leaves open, by inner folds of the training queries.

The claim to be chosen by is the paper's: postings are dropped, and nDCG@5 and R@1000 are not lower
than the baseline's. The baseline here is the full index with k1 and b, or mu, that the training
queries chose: against the defaults, their gain could be spent on dropping. Each of a grid of
settings is trained on all inner folds but one, on its way to many zeros, and measured on that one
at every stop. The most zeros that keep the measures are taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import TdvError
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.problem import FoldProblems, Problem
from ..simulation.retrieval import MEASURES
from ..simulation.scoring import Features
from .published import MEASURES as CLAIMED
from .trajectory import Stop, Triples, train_to_zeros

_COLUMNS = [MEASURES.index(name) for name in CLAIMED]


@dataclass(frozen=True)
class TunedRecipe:
    """The paper's training, with its open choices made by inner folds.

    Attributes
    ----------
    statistics : tuple of str
        Formulas to train by: "l1", the paper's; "df", Lucene's, which searches.
    sparsities : tuple of float
        lambda, each within [0, 1].
    powers : tuple of float
        What TDVs above 0 are raised to: 1 leaves them as they are learned, 0 makes them all 1.
    targets : tuple of float
        Shares of the postings, ascending, to look at the measures at.
    inner_folds : int
    measured : int
        Training queries to measure by, at most.
    gain : float
        Standard errors that nDCG@5 must exceed the baseline's by.
    kept_recall : float
        The share of the baseline's R@1000 that must be left.
    against : str
        The baseline that both are compared with: the full index "tuned" on the training queries,
        or with its "default" parameters.
    candidates : int
        Of the baseline's first documents, those that negatives are drawn from.
    pairs_per_step, max_steps : int
    learning_rate : float
    reductions : tuple of float
        Operating points; 0 drops only the terms with a learned TDV of 0.
    """

    name = "tuned"
    statistics: tuple[str, ...] = ("df", "l1")
    sparsities: tuple[float, ...] = (0.5, 0.8, 0.95)
    powers: tuple[float, ...] = (1.0, 0.5, 0.0)
    targets: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    inner_folds: int = 3
    measured: int = 400
    gain: float = 0.0
    kept_recall: float = 0.99
    against: str = "tuned"
    candidates: int = 1000
    pairs_per_step: int = 128
    max_steps: int = 200
    learning_rate: float = 1e-2
    reductions: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        wrong = [each for each in self.sparsities if not 0 <= each <= 1]
        if wrong:
            raise TdvError(f"a sparsity (lambda) must lie within [0, 1], got {wrong[0]}")
        if list(self.targets) != sorted(self.targets) or not all(0 < t < 1 for t in self.targets):
            raise TdvError(f"targets must ascend within (0, 1), got {list(self.targets)}")
        if self.against not in ("tuned", "default"):
            raise TdvError(f"against is tuned or default, got {self.against!r}")
        if self.inner_folds < 2:
            raise TdvError(f"inner_folds must be at least 2, got {self.inner_folds}")


class Setting(NamedTuple):
    """One point of the grid: what to train by, where to stop, and the power of what is left."""

    statistics: str
    sparsity: float
    power: float
    target: float


class Tried(NamedTuple):
    """What the inner folds measured of a setting.

    Attributes
    ----------
    dropped : float
        Share of the postings, mean over the inner folds.
    measured : float64[n, 2]
        nDCG@5 and R@1000 of the queries looked at, mean of this stop and of those next to it.
    """

    setting: Setting
    dropped: float
    measured: np.ndarray


class Chosen(NamedTuple):
    """The setting that was chosen, with the TDVs of each inner fold under it.

    Attributes
    ----------
    setting : Setting or None
        None where no zeros keep the measures; then all TDVs are 1.
    of_folds : list of float32[V]
    table : list of dicts
        All settings tried: the curve of zeros against the measures along each training.
    """

    setting: Setting | None
    of_folds: list[np.ndarray]
    table: list[dict[str, Any]]


def to_power(values: np.ndarray, power: float) -> np.ndarray:
    """Return float32[V]: the TDVs above 0 to a power; zeros stay."""
    return np.where(values > 0, np.maximum(values, 1e-9) ** power, 0).astype(np.float32)


def choose(
    tuned: FoldProblems,
    features: Features,
    triples: Triples,
    folds: Sequence[np.ndarray],
    recipe: TunedRecipe,
    seed: int,
    progress: Progress = silent,
) -> Chosen:
    """Return the setting with the most zeros that keep nDCG@5 and R@1000 on the inner ``folds``.

    Everything that is trained or measured here is of the queries of ``tuned``, so whoever holds
    queries out passes a problem without them.
    """
    looked_at = _spread(folds, recipe.measured)
    some = np.concatenate(looked_at)
    plain = tuned.of_all.full
    rival = plain if recipe.against == "tuned" else plain.with_parameters(SearchParameters())
    baseline = _measure(rival, np.ones(plain.matrix.shape[0], np.float32), some)
    grid = list(itertools.product(recipe.statistics, recipe.sparsities))
    tried: list[Tried] = []
    values_of: dict[Setting, list[np.ndarray]] = {}
    everything = np.arange(len(plain.queries))
    for number, (statistics, sparsity) in enumerate(grid):
        stops: list[list[Stop]] = []
        for fold, (problem, held_out) in enumerate(zip(tuned.of_folds, folds)):
            progress("choose settings", number * len(folds) + fold, len(grid) * len(folds))
            stops.append(
                list(
                    train_to_zeros(
                        problem, features, triples, np.setdiff1d(everything, held_out), recipe,
                        statistics=statistics, sparsity=sparsity, targets=recipe.targets,
                        rng=np.random.default_rng([seed, number, fold]),
                    )
                )
            )  # fmt: skip
        reached = list(zip(*stops))  # by every fold
        for power in recipe.powers:
            path, way = [], []
            for at in reached:
                setting = Setting(statistics, sparsity, power, at[0].target)
                values_of[setting] = [to_power(stop.values, power) for stop in at]
                parts = zip(tuned.of_folds, values_of[setting], looked_at)
                way.append(np.concatenate([_measure(*part) for part in parts]))
                path.append((setting, float(np.mean([stop.dropped for stop in at]))))
            tried += [Tried(*each, smooth) for each, smooth in zip(path, smoothed(way))]
    best = most_zeros(tried, baseline, recipe)
    ones = np.ones(plain.matrix.shape[0], np.float32)
    of_folds = [ones] * len(folds) if best is None else values_of[best]
    return Chosen(best, of_folds, [_entry(each, baseline) for each in tried])


def smoothed(way: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return each of some arrays averaged with those next to it.

    The measures change little from stop to stop, and what changes a lot is luck. With the next stop
    in the mean, the choice also keeps clear of where they fall.
    """
    return [np.mean(way[max(0, at - 1) : at + 2], axis=0) for at in range(len(way))]


def most_zeros(tried: Sequence[Tried], baseline: np.ndarray, recipe: TunedRecipe) -> Setting | None:
    """Return the setting that drops the most of those that keep the measures, None if none does.

    Of several that drop equally much within a hundredth, the one with the best nDCG@5.
    """
    kept = [each for each in tried if keeps(each.measured, baseline, recipe)]
    if not kept:
        return None
    most = max(each.dropped for each in kept)
    equal = [each for each in kept if each.dropped >= most - 0.01]
    return max(equal, key=lambda each: float(each.measured[:, 0].mean())).setting


def keeps(measured: np.ndarray, baseline: np.ndarray, recipe: TunedRecipe) -> bool:
    """Whether nDCG@5 is above the baseline's by ``gain`` standard errors, and R@1000 is kept.

    Both are float64[n, 2], of the same queries.
    """
    differences = measured[:, 0] - baseline[:, 0]
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5 if len(differences) > 1 else 0
    recall = float(measured[:, 1].mean()), float(baseline[:, 1].mean())
    enough: bool = differences.mean() >= recipe.gain * error
    return enough and recall[0] >= recipe.kept_recall * recall[1]


def train_final(
    problem: Problem,
    features: Features,
    triples: Triples,
    setting: Setting,
    recipe: TunedRecipe,
    seed: int,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Train on all queries of ``problem`` up to the setting's target: (float32[V] TDVs, network).

    A training that ends before it reaches the target returns its last zeros.
    """
    recipe = replace(recipe, max_steps=2 * recipe.max_steps)  # more queries may need more
    towards = [t for t in recipe.targets if t <= setting.target]
    stops = list(
        train_to_zeros(
            problem, features, triples, np.arange(len(problem.queries)), recipe,
            statistics=setting.statistics, sparsity=setting.sparsity, targets=towards,
            rng=np.random.default_rng([seed, len(recipe.targets)]),
        )
    )  # fmt: skip
    if not stops:
        return np.ones(problem.matrix.shape[0], np.float32), {"steps": 0}
    found = stops[-1]
    network = {"steps": found.steps, "w_vector": found.w.tolist(), "b": 1.0}
    return to_power(found.values, setting.power), network


def _measure(problem: Problem, values: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return float64[n, 2] of the real-valued index, searched with the problem's parameters."""
    return problem.measure(problem.rows.weighted(values), some)[:, _COLUMNS]


def _spread(folds: Sequence[np.ndarray], most: int) -> list[np.ndarray]:
    """Return of each fold its share of at most ``most`` queries."""
    whole = sum(len(fold) for fold in folds)
    share = min(1.0, most / whole)
    return [fold[: max(1, round(len(fold) * share))] for fold in folds]


def _entry(tried: Tried, baseline: np.ndarray) -> dict[str, Any]:
    measured, base = tried.measured.mean(axis=0), baseline.mean(axis=0)
    return {
        **tried.setting._asdict(),
        "dropped": tried.dropped,
        **{name: float(value) for name, value in zip(CLAIMED, measured)},
        **{f"baseline {name}": float(value) for name, value in zip(CLAIMED, base)},
    }
