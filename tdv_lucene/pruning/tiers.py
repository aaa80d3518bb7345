"""Two tiers in one index: a hot field finds documents, the whole one ranks the first of them.

Which share of the postings the hot field drops, and how many documents the whole one ranks, is
chosen by *fidelity*: the mean share of the whole's ten best documents that the tiers return. No
judgement is needed for it. All candidates are written once, into an index beside the output, and
searched there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import cores
from ..errors import TdvError
from ..evaluation.topics import read_topics
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import recorded_parameters
from ..jvm.searcher import Hits, make_similarity, open_searched
from ..learning.log import drawn
from ..plan import FieldPlan, Plan
from ..progress import Progress, silent
from ..ranking import MODELS
from ..ranking.parameters import Tiers
from ..ranking.registry import PARAMETERS
from ..values.term_values import TermValues
from .config import PruneConfig
from .planning import plan_field
from .targets import SearchTarget, target_of
from .writing import Task, write_index

REDUCTIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
DEPTHS = (20, 50, 100, 200)
DEPTH = 100
"""Where a reduction is given, and nothing measured."""
FIDELITY = 0.95
"""The least that is allowed by default."""
TEN = 10
FEWEST_QUERIES = 17
_SCORED = 8
"""How many times the work of a posting that the hot field's search stops at one is that is looked
up to score a candidate."""


def hot_field(field: str) -> str:
    """The name of the field that finds what ``field`` ranks."""
    return f"{field}_hot"


@dataclass(frozen=True)
class Measured:
    """The answers of two tiers beside those of the whole field alone.

    Attributes
    ----------
    reduction : float
        Share of the postings that the hot field drops.
    depth : int
        How many documents the whole field ranks.
    fidelity, fidelity_ci95
        Mean share of the whole's ten best documents that the tiers return, and its interval.
    first_changed : float
        Share of the queries with another first answer.
    visits, visits_whole : float
        Postings a query stops at in both tiers, and in the whole field alone.
    queries : int
        Of the log that has answers.
    """

    reduction: float
    depth: int
    fidelity: float
    fidelity_ci95: tuple[float, float]
    first_changed: float
    visits: float
    visits_whole: float
    queries: int
    cost: float

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        told = asdict(self)
        del told["cost"]
        return {**told, "fidelity_ci95": list(self.fidelity_ci95)}


def decide_tiers(
    index: Index, fields: Sequence[TermValues], task: Task, progress: Progress = silent
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of an index in two tiers, and what its report tells.

    Raises :class:`TdvError` when the index has a field of the hot one's name, there is nothing to
    choose by, or no candidate has the fidelity asked for.
    """
    config, (values, *others) = task.config, fields
    field = values.vocabulary.field
    if others:
        raise TdvError(
            f"tiers are of one field, got TDVs of several: give those of '{field}' alone"
        )
    if hot_field(field) in index.fields:
        raise TdvError(
            f"{index} has a field '{hot_field(field)}' already, the name of the hot one: prune the "
            "index that it was made of, or leave out tiers"
        )
    target = target_of(task.searcher, config.target)
    known = index.fields.get(field)
    plan_at = partial(
        plan_tiers, values, config=config, target=target, what=f"{index}",
        has_norms=known is None or known.has_norms,
    )  # fmt: skip
    told: dict[str, Any] = {
        "validated": {}, "fidelity": None, "chosen": None, "defaults": "", "tiers": None
    }  # fmt: skip
    if config.queries is None:
        if config.reduction is None:
            raise TdvError(
                "tiers are chosen by queries: pass a log of what people ask (queries), or a "
                "reduction, such as 0.75"
            )
        return plan_at(config.reduction, config.depth or DEPTH), told
    reductions = REDUCTIONS if config.reduction is None else (config.reduction,)
    depths = DEPTHS if config.depth is None else (config.depth,)
    plans = [
        (r, plan_at(r, depths[0], name=f"{hot_field(field)}_{n}")) for n, r in enumerate(reductions)
    ]
    topics = drawn(read_topics(config.queries), seed=0)
    measured = measure_tiers(index, topics, plans, depths, replace(task, told=told), progress)
    is_given = config.reduction is not None and config.depth is not None
    least = 0.0 if is_given and config.fidelity is None else config.fidelity
    found = choose(measured, least, f"{len(measured)} pairs of reduction and depth")
    return plan_at(found.reduction, found.depth), {**told, "tiers": found.describe()}


def plan_tiers(
    values: TermValues, reduction: float, depth: int, config: PruneConfig, target: SearchTarget,
    *, has_norms: bool, what: str, name: str | None = None,
) -> Plan:  # fmt: skip
    """Decide on the postings of both fields; the first is the whole, of which nothing is dropped.

    Parameters
    ----------
    reduction
        Share of the postings that the hot field drops.
    depth
        How many documents the whole field ranks.
    has_norms, what
        As :func:`.planning.plan_field` takes them.
    name
        The hot field's; None for :func:`hot_field`.
    """
    field = values.vocabulary.field
    name = name or hot_field(field)
    how: dict[str, Any] = {"has_norms": has_norms, "what": what}
    whole, _ = plan_field(values, 0.0, config, target, **how)
    hot, _ = plan_field(values, reduction, config, target, **how)
    names = MODELS.get(values.model, PARAMETERS)
    if any(hot.facts["search"][name] != whole.facts["search"][name] for name in names):
        # One search asks both fields.
        at_its_scale = replace(config, scale=whole.scale or config.scale)
        hot, _ = plan_field(values, reduction, at_its_scale, target, **how)
    hot = replace(hot, name=name, facts={**hot.facts, "field": name})
    tiers = Tiers(name, depth)._asdict()
    return Plan([replace(whole, facts={**whole.facts, "tiers": tiers}), hot])


def choose(measured: Sequence[Measured], fidelity: float | None, asked_for: str) -> Measured:
    """Return the fastest that has the ``fidelity`` (None for :data:`FIDELITY`).

    Raises :class:`TdvError` when none has; ``asked_for`` tells what was tried.
    """
    wanted = FIDELITY if fidelity is None else fidelity
    enough = [one for one in measured if one.fidelity >= wanted]
    if enough:
        return min(enough, key=lambda one: one.cost)
    best = max(measured, key=lambda one: one.fidelity)
    raise TdvError(
        f"no fidelity of {wanted:g}: of {asked_for}, the best has {best.fidelity:.3f} "
        f"(reduction {best.reduction:g}, depth {best.depth}). Pass a smaller fidelity, or "
        f"reduction {best.reduction:g} and depth {best.depth}"
    )


def measure_tiers(
    index: Index, topics: Mapping[str, str], plans: Sequence[tuple[float, Plan]],
    depths: Sequence[int], task: Task, progress: Progress = silent,
) -> list[Measured]:  # fmt: skip
    """Measure two tiers at some reductions, each with some depths, by the queries of a log.

    Parameters
    ----------
    index
        The source.
    plans
        Reductions, each with its plan; the hot fields have different names.
    task
        A temporary folder beside its output holds an index with all these fields.

    Raises :class:`TdvError` when fewer than :data:`FEWEST_QUERIES` have an answer.
    """
    whole, *_ = plans[0][1].fields
    together = Plan([whole, *(plan.fields[1] for _, plan in plans)])
    with tempfile.TemporaryDirectory(
        prefix=".tdv-lucene-tiers-", dir=Path(task.output).parent
    ) as folder:
        made = Path(folder) / "index"
        made.mkdir()
        write_index(index, together, task, made, progress)
        with Index.open(made) as tried:
            return _measured(tried, whole, topics, plans, depths, task, progress)


def _measured(
    tried: Index, whole: FieldPlan, topics: Mapping[str, str],
    plans: Sequence[tuple[float, Plan]], depths: Sequence[int], task: Task, progress: Progress,
) -> list[Measured]:  # fmt: skip
    field = whole.field
    similarity = make_similarity(recorded_parameters(tried, field=field))
    analysis = analysis_of(tried, field, task.config.analysis).analysis
    threads = cores(task.config.threads)

    def search(tiers: Tiers | None, hits: int) -> tuple[list[list[int]], float]:
        with open_searched(
            tried, similarity, field, analysis=analysis, tiers=tiers,
            threads=threads, progress=progress,
        ) as find:  # fmt: skip
            found = find(topics, hits, progress)
            return _documents(found), find.visits(topics, hits) / len(topics)

    best, visits_whole = search(None, TEN)
    some = [number for number, documents in enumerate(best) if documents]
    if len(some) < FEWEST_QUERIES:
        raise TdvError(
            f"too few queries have an answer ({len(some)}): at least {FEWEST_QUERIES} can choose "
            "tiers; pass more queries, or a reduction"
        )
    measured = []
    for reduction, plan in plans:
        hot = plan.fields[1].field
        for depth in depths:
            found, visits = search(Tiers(hot, depth), TEN)
            _, visits_hot = search(Tiers(hot, 0), depth)
            shares = np.array([len({*best[q]} & {*found[q]}) / len(best[q]) for q in some])
            changed = np.mean([best[q][:1] != found[q][:1] for q in some])
            off = 1.96 * shares.std(ddof=1) / np.sqrt(len(shares))
            mean = float(shares.mean())
            measured.append(
                Measured(
                    reduction, depth, mean, (mean - off, min(1.0, mean + off)), float(changed),
                    visits, visits_whole, len(some), visits_hot + _SCORED * (visits - visits_hot),
                )
            )  # fmt: skip
    return measured


def _documents(hits: Hits) -> list[list[int]]:
    """The documents of each query, by where their ids are."""
    ids = [*map(bytes, hits.ids)]
    ends = np.cumsum(hits.counts)
    return [
        [ids[d] for d in hits.documents[end - count : end].tolist()]
        for end, count in zip(ends.tolist(), hits.counts.tolist())
    ]
