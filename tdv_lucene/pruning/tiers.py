"""Two tiers in one index: a hot field finds documents, the whole one ranks the first of them.

Which share of the postings the hot field drops, and how many documents the whole one ranks, is
chosen by *fidelity*: the mean share of the whole's ten best documents that the tiers return. No
judgement is needed for it. All candidates are written once, into an index beside the output, and
searched there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..analysis import Analysis
from ..arguments import cores
from ..errors import TdvError
from ..evaluation.runs import overlap
from ..evaluation.topics import drawn, read_topics
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import Searcher, recorded_parameters
from ..index.queries import searchable_topics
from ..jvm.searcher import Hits, OpenSearch, make_similarity, open_searched
from ..plan import Plan
from ..progress import Progress, silent
from ..ranking.parameters import Tiers
from ..values.term_values import TermValues
from .config import PruneConfig
from .planning import plan_field
from .targets import SearchTarget, target_of
from .writing import Task, write_index

REDUCTIONS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
DEPTHS = (20, 50, 100, 200)
DEPTH = 100
"""Where a reduction is given, and nothing measured."""
FIDELITY = 0.97
"""The least that is allowed by default."""
TEN = 10
FEWEST_QUERIES = 17
_SCORED, _SECOND_TIER = 2, 400
"""The work of a posting that is looked up to score a candidate, and of beginning to, in postings
that the hot field's search stops at: measured on 165,000 articles."""


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
    cost : float
        The work of a query, in postings that the first tier stops at.
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

    @classmethod
    def of(
        cls, reduction: float, depth: int, answers: Sequence[tuple[list[bytes], list[bytes]]],
        visits: float, visits_whole: float, cost: float,
    ) -> Self:  # fmt: skip
        """Measure by the best documents of the whole and of the tiers for each query."""
        shares = np.array([overlap(whole, tiers, TEN) for whole, tiers in answers])
        off = 1.96 * shares.std(ddof=1) / np.sqrt(len(shares))
        mean = float(shares.mean())
        changed = float(np.mean([whole[:1] != tiers[:1] for whole, tiers in answers]))
        interval = max(0.0, mean - off), min(1.0, mean + off)
        return cls(
            reduction, depth, mean, interval, changed, visits, visits_whole, len(shares), cost
        )

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        told = asdict(self)
        del told["cost"]
        return {**told, "fidelity_ci95": list(self.fidelity_ci95)}


def decide_tiers(
    index: Index | None,
    fields: Sequence[TermValues],
    config: PruneConfig,
    searcher: Searcher,
    task: Task,
    progress: Progress = silent,
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of an index in two tiers, and what its report tells.

    Parameters
    ----------
    index
        None for shards, where nothing is measured.
    searcher
        Whose defaults it is searched with.
    task
        A temporary index is written beside its output.

    Raises :class:`TdvError` when the index has a field of the hot one's name, there is nothing to
    choose by, or no candidate has the fidelity asked for.
    """
    values, *others = fields
    field = values.vocabulary.field
    if others:
        raise TdvError(
            f"tiers are of one field, got TDVs of several: give those of '{field}' alone"
        )
    if index is not None and hot_field(field) in index.fields:
        raise TdvError(
            f"{index} has a field '{hot_field(field)}' already, the name of the hot one: prune the "
            "index that it was made of, or leave out tiers"
        )
    target = target_of(searcher, config.target)
    known = None if index is None else index.fields.get(field)
    plan_at = partial(
        plan_tiers, values, config=config, target=target, what=f"{index}",
        has_norms=known is None or known.has_norms,
    )  # fmt: skip
    told: dict[str, Any] = {
        "validated": {}, "fidelity": None, "chosen": None, "defaults": "", "tiers": None
    }  # fmt: skip
    if index is None and config.queries is not None:
        raise TdvError(
            "tiers of shards are not chosen by queries: choose them on one shard, and pass its "
            "reduction and depth for all"
        )
    if index is None or config.queries is None:
        if config.reduction is None:
            raise TdvError(
                "tiers are chosen by queries: pass a log of what people ask (queries), or a "
                "reduction, such as 0.75"
            )
        return plan_at(config.reduction, config.depth or DEPTH), told
    reductions = REDUCTIONS if config.reduction is None else (config.reduction,)
    depths = DEPTHS if config.depth is None else (config.depth,)
    plans = {
        r: plan_at(r, depths[0], name=f"{hot_field(field)}_{n}") for n, r in enumerate(reductions)
    }
    topics = drawn(read_topics(config.queries), seed=0)
    with Candidates.write(index, plans, replace(task, told=told), progress) as candidates:
        topics = searchable_topics(topics, field, candidates.analysis)
        measured = candidates.measure(topics, depths, progress)
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
    both = [plan_field(values, share, config, target, **how)[0] for share in (0.0, reduction)]
    scales = [plan.scale for plan in both if plan.scale is not None]
    if len({*scales}) > 1:
        # Alike rounded, they agree more often; and one search asks both with the same parameters.
        alike = replace(config, scale=max(scales))
        both = [plan_field(values, share, alike, target, **how)[0] for share in (0.0, reduction)]
    whole, hot = both
    hot = replace(hot, name=name, facts={**hot.facts, "field": name})
    tiers = {"hot": name, "depth": depth}
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


@dataclass(frozen=True)
class Candidates:
    """An index that holds the hot fields of several reductions, to be searched in tiers."""

    index: Index
    fields: Mapping[float, str]
    """Reduction -> its hot field."""
    field: str
    analysis: Analysis
    threads: int

    @classmethod
    @contextmanager
    def write(
        cls, index: Index, plans: Mapping[float, Plan], task: Task, progress: Progress = silent
    ) -> Iterator[Self]:
        """Write the candidates into a temporary folder beside the output of ``task``.

        Parameters
        ----------
        index
            The source.
        plans
            By reduction; the hot fields have different names.
        """
        whole = next(iter(plans.values())).fields[0]
        hot = {reduction: plan.fields[1] for reduction, plan in plans.items()}
        beside = Path(task.output).parent
        with tempfile.TemporaryDirectory(prefix=".tdv-lucene-tiers-", dir=beside) as folder:
            made = Path(folder) / "index"
            made.mkdir()
            write_index(index, Plan([whole, *hot.values()]), task, made, progress)
            with Index.open(made) as tried:
                names = {reduction: plan.field for reduction, plan in hot.items()}
                analysis = analysis_of(tried, whole.field, task.config.analysis).analysis
                yield cls(tried, names, whole.field, analysis, cores(task.config.threads))

    @contextmanager
    def searched(self, tiers: Tiers | None, progress: Progress = silent) -> Iterator[OpenSearch]:
        """Open the search in some tiers; None for the whole field alone."""
        similarity = make_similarity(recorded_parameters(self.index, field=self.field))
        with open_searched(
            self.index, similarity, self.field, analysis=self.analysis, tiers=tiers,
            threads=self.threads, progress=progress,
        ) as search:  # fmt: skip
            yield search

    def measure(
        self, topics: Mapping[str, str], depths: Sequence[int], progress: Progress = silent
    ) -> list[Measured]:
        """Measure each reduction with each of the ``depths``, by the queries of a log.

        Raises :class:`TdvError` when fewer than :data:`FEWEST_QUERIES` have an answer.
        """
        with self.searched(None, progress) as search:
            best = _documents(search(topics, TEN, progress))
            visits_whole = search.visits(topics, TEN)
        some = [number for number, documents in enumerate(best) if documents]
        if len(some) < FEWEST_QUERIES:
            raise TdvError(
                f"too few queries have an answer ({len(some)}): at least {FEWEST_QUERIES} can "
                "choose tiers; pass more queries, or a reduction"
            )
        measured = []
        for reduction, hot in self.fields.items():
            with self.searched(Tiers(self.field, hot, 0), progress) as search:
                of_hot = {depth: search.visits(topics, depth) for depth in depths}
            for depth, first in of_hot.items():
                with self.searched(Tiers(self.field, hot, depth), progress) as search:
                    found = _documents(search(topics, TEN, progress))
                    visits = search.visits(topics, TEN)
                pairs = [(best[query], found[query]) for query in some]
                measured.append(
                    Measured.of(
                        reduction, depth, pairs, visits / len(topics), visits_whole / len(topics),
                        _SECOND_TIER + (first + _SCORED * (visits - first)) / len(topics),
                    )
                )  # fmt: skip
        return measured


def _documents(hits: Hits) -> list[list[bytes]]:
    """The ids of each query's documents."""
    ids = [*map(bytes, hits.ids)]
    ends = np.cumsum(hits.counts)
    return [
        [ids[d] for d in hits.documents[end - count : end].tolist()]
        for end, count in zip(ends.tolist(), hits.counts.tolist())
    ]
