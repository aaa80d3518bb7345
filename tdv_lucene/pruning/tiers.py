"""Two tiers in one index: a hot field finds documents, the whole one ranks the first of them.

Which share of the postings the hot field drops, how far behind its best documents the whole one
still ranks (the *margin*), and for how many terms of a query it is asked, is chosen by *fidelity*:
the mean share of the whole's ten best documents that the tiers return. No judgement is needed for
it. The hot fields of all reductions are written once, into an index beside
the output, and searched there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..arguments import cores
from ..errors import TdvError
from ..evaluation.runs import overlap
from ..evaluation.topics import drawn, read_topics
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import recorded_parameters
from ..index.queries import searchable_topics
from ..index.sharded import ShardedIndex, ShardedSearch, look_at_shards
from ..jvm.searcher import Hits, OpenSearch, make_similarity, open_searched
from ..plan import FieldPlan, Plan
from ..progress import Progress, silent
from ..ranking.parameters import Tiers
from ..values.term_values import TermValues
from .config import PruneConfig
from .planning import plan_field
from .shards import BESIDE, shards_beside
from .writing import Task, write_index

REDUCTIONS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
MARGINS = (0.0, *(round(0.4 + 0.025 * step, 3) for step in range(22)))
QUERY_TERMS = (1.0, 0.95, 0.9, 0.85, 0.8)
"""Shares of a query's weight that the hot field may be asked for."""
MARGIN = 0.6
"""Where a reduction is given, and nothing measured."""
DEPTH = 200
FIDELITY = 0.97
"""The least that is allowed by default, less a standard error."""
TEN = 10
FEWEST_QUERIES = 30
"""What 17 queries chose had a fidelity of .98 by these, and of .94 by 17 others."""
MOST_COUNTED = 400
"""Queries whose postings are counted, to tell which tiers are the fastest."""
_QUERY, _RANKED, _STOP_ALONE = 500, 5, 1.3
"""What a query costs, a posting that is looked up to rank a document, and one at which a search of
one field stops, in postings read of the hot field: fitted on seven collections of 700 to 1,100,000
documents, within 8 % in the mean."""
_NO_SLOWER = 0.1
"""What costs no more by this share may be the faster in truth: both estimates are off by 8 %."""


def hot_field(field: str) -> str:
    """Return the name of the field that finds what ``field`` ranks."""
    return f"{field}_hot"


def decide_tiers(
    index: Index | ShardedIndex,
    fields: Sequence[TermValues],
    task: Task,
    progress: Progress = silent,
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of an index in two tiers, and what its report tells. A temporary index is
    written beside the output of ``task``.

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
    margin = MARGIN if config.margin is None else config.margin
    tiers = Tiers(field, hot_field(field), config.depth or DEPTH, margin)
    told: dict[str, Any] = {"validated": {}, "chosen": None, "defaults": "", "tiers": None}
    if config.queries is None:
        if config.reduction is None:
            raise TdvError(
                "tiers are chosen by queries: pass a log of what people ask (queries), or a "
                "reduction, such as 0.75"
            )
        whole, plans = plan_alike(values, [config.reduction], config, index)
        return in_tiers(whole, plans[config.reduction], tiers), told
    reductions = REDUCTIONS if config.reduction is None else (config.reduction,)
    margins = MARGINS if config.margin is None else (config.margin,)
    whole, plans = plan_alike(values, reductions, config, index)
    topics = drawn(read_topics(config.queries, is_log=True), seed=0)
    analysis = analysis_of(index, field, config.analysis).analysis
    topics = searchable_topics(topics, field, analysis)
    task = replace(task, told=told)
    with Candidates.write(index, whole, plans, topics, task, progress) as candidates:
        search = candidates.search
        is_given = None not in (config.reduction, config.margin) and config.fidelity is None
        least, shares = (-1.0, (1.0,)) if is_given else (config.fidelity, QUERY_TERMS)
        measured = candidates.measure(topics, margins, tiers.depth, shares, progress)
        counted = dict(islice(topics.items(), MOST_COUNTED))
        chosen, visits, cost = fastest(search, faithful(measured, least), counted)
        alone = sum(search.visits(counted, TEN)) / len(counted)
    saved = 1 - cost / (_QUERY + _STOP_ALONE * alone)
    costs = {"visits": visits, "visits_whole": alone, "saved": saved}
    told["tiers"] = {**chosen.describe(), **costs}
    return in_tiers(whole, plans[chosen.reduction], chosen.tiers._replace(hot=tiers.hot)), told


def plan_alike(
    values: TermValues, reductions: Sequence[float], config: PruneConfig,
    index: Index | ShardedIndex,
) -> tuple[FieldPlan, dict[float, FieldPlan]]:  # fmt: skip
    """Decide on the postings of the whole field, of which nothing is dropped, and of a hot one for
    each of the ``reductions``, the share that it drops. All have one scale."""
    shares = (0.0, *reductions)
    plans = [plan_field(values, share, config, index)[0] for share in shares]
    scales = [plan.scale for plan in plans if plan.scale is not None]
    if len({*scales}) > 1:
        # Alike rounded, they agree more often; and one search asks all with the same parameters.
        alike = replace(config, scale=max(scales))
        plans = [plan_field(values, share, alike, index)[0] for share in shares]
    whole, *hot = plans
    return whole, dict(zip(reductions, hot))


def in_tiers(whole: FieldPlan, hot: FieldPlan, tiers: Tiers) -> Plan:
    """Return the plan of an index of both fields, searched in ``tiers``."""
    told = tiers._asdict()
    del told["whole"]
    return Plan([replace(whole, facts={**whole.facts, "tiers": told}), _named(hot, tiers.hot)])


def _named(plan: FieldPlan, name: str) -> FieldPlan:
    return replace(plan, name=name, facts={**plan.facts, "field": name})


@dataclass(frozen=True)
class Found:
    """What the hot field finds for a query, best first: ids, and float32 scores."""

    documents: list[bytes]
    scores: np.ndarray

    @classmethod
    def of(cls, hits: Hits) -> list[Self]:
        """Return one for each query."""
        ids, ends = [*map(bytes, hits.ids)], np.cumsum(hits.counts).tolist()
        return [
            cls([ids[d] for d in hits.documents[from_:to].tolist()], hits.scores[from_:to])
            for from_, to in zip([0, *ends], ends)
        ]


@dataclass(frozen=True)
class Measured:
    """The answers of two tiers beside those of the whole field alone."""

    reduction: float  # share of the postings that the hot field drops
    tiers: Tiers  # the fields, the depth, the margin, and the share of a query's weight
    fidelity: float  # mean share of the whole's ten best documents that the tiers return
    fidelity_ci95: tuple[float, float]
    first_changed: float  # share of the queries with another first answer
    ranked: float  # documents that the whole field ranks for a query
    queries: int  # of the log that have answers

    @classmethod
    def of(
        cls, reduction: float, tiers: Tiers, whole: Sequence[Found], hot: Sequence[Found]
    ) -> Self:
        """Measure by what both fields find for some queries, of which the whole answers all.

        The whole ranks the candidates, so those of its ten best that are among them are among the
        ten best of the tiers.
        """
        candidates = [one.documents[: tiers.candidates(one.scores, TEN)] for one in hot]
        best, most = [one.documents[:TEN] for one in whole], max(tiers.depth, TEN)
        kept = np.array([overlap(a, b, most) for a, b in zip(best, candidates)])
        off = 1.96 * kept.std(ddof=1) / np.sqrt(len(kept))
        mean = float(kept.mean())
        return cls(
            reduction, tiers, mean, (max(0.0, mean - off), min(1.0, mean + off)),
            first_changed=float(np.mean([a[0] not in b for a, b in zip(best, candidates)])),
            ranked=float(np.mean([*map(len, candidates)])), queries=len(kept),
        )  # fmt: skip

    @property
    def sure(self) -> float:
        """The fidelity less its standard error: on few queries, some of many ways to search are
        faithful by chance."""
        return self.fidelity - (self.fidelity - self.fidelity_ci95[0]) / 1.96

    def describe(self) -> dict[str, Any]:
        """Return it as JSON."""
        told = {**asdict(self), **self.tiers._asdict()}
        for name in ("tiers", "whole", "hot"):
            del told[name]
        return {**told, "fidelity_ci95": list(self.fidelity_ci95)}


def faithful(measured: Sequence[Measured], fidelity: float | None) -> list[Measured]:
    """Return those that surely have the ``fidelity`` (None for :data:`FIDELITY`): of each reduction
    and share of a query the one of the largest margin, which ranks the fewest documents.

    Raises :class:`TdvError` when none has.
    """
    wanted = FIDELITY if fidelity is None else fidelity
    enough: dict[tuple[float, float], Measured] = {}
    for one in sorted(measured, key=lambda one: one.tiers.margin):
        if one.sure >= wanted:
            enough[one.reduction, one.tiers.query_terms] = one
    if enough:
        return [*enough.values()]
    best = max(measured, key=lambda one: one.sure)
    raise TdvError(
        f"no fidelity of {wanted:g}: of {len(measured)} ways to search, the best has "
        f"{best.sure:.3f}, less a standard error (reduction {best.reduction:g}, margin "
        f"{best.tiers.margin:g}). Nothing was written: prune without tiers, or pass a smaller "
        "fidelity"
    )


def fastest(
    search: OpenSearch | ShardedSearch, measured: Sequence[Measured], topics: Mapping[str, str]
) -> tuple[Measured, float, float]:
    """Return the most faithful of those that are about as fast as the fastest, at how many postings
    it stops for one of the topics, and what that costs, in postings read of the hot field."""
    visits = np.array([search.in_tiers(one.tiers).visits(topics, TEN) for one in measured])
    costs = _QUERY + visits @ [1, _RANKED] / len(topics)
    about_as_fast = np.flatnonzero(costs <= (1 + _NO_SLOWER) * costs.min())
    at = max(about_as_fast.tolist(), key=lambda at: measured[at].fidelity)
    return measured[at], float(visits[at].sum() / len(topics)), float(costs[at])


@contextmanager
def _search_beside(
    index: Index, plan: Plan, task: Task, progress: Progress
) -> Iterator[OpenSearch]:
    """Yield the search of the first field of another plan, written into a temporary folder."""
    beside, field = Path(task.output).parent, plan.fields[0].field
    with tempfile.TemporaryDirectory(prefix=BESIDE, dir=beside) as folder:
        made = Path(folder) / "index"
        made.mkdir()
        write_index(index, plan, task, made, progress)
        with (
            Index.open(made) as tried,
            open_searched(
                tried, make_similarity(recorded_parameters(tried, field=field, tier="whole")),
                field, analysis=analysis_of(tried, field, task.config.analysis).analysis,
                threads=cores(task.config.threads), progress=progress,
            ) as search,
        ):  # fmt: skip
            yield search


@contextmanager
def _search_shards_beside(
    index: ShardedIndex, plan: Plan, task: Task, topics: Mapping[str, str], progress: Progress
) -> Iterator[ShardedSearch]:
    """Yield the same of shards, each of which is written and searched where it lies."""
    whole, *hot = (field.field for field in plan.fields)
    with shards_beside(index, plan, task, progress) as made:
        tried = look_at_shards(
            index.workers, made, whole, progress, task.config.analysis, topics, hot
        )
        yield ShardedSearch(tried, recorded_parameters(tried, field=whole, tier="whole"))


@dataclass(frozen=True)
class Candidates:
    """The open search of an index that holds the hot fields of several reductions."""

    search: OpenSearch | ShardedSearch
    """Of the whole field."""
    field: str
    hot: Mapping[float, str]
    """Reduction -> its hot field."""

    @classmethod
    @contextmanager
    def write(
        cls, index: Index | ShardedIndex, whole: FieldPlan, plans: Mapping[float, FieldPlan],
        topics: Mapping[str, str], task: Task, progress: Progress = silent,
    ) -> Iterator[Self]:  # fmt: skip
        """Write the candidates into a temporary folder beside the output of ``task``, to be
        searched for ``topics``. ``plans`` of hot fields are by reduction."""
        names = {reduction: f"{hot_field(whole.field)}_{n}" for n, reduction in enumerate(plans)}
        plan = Plan([whole, *(_named(plans[reduction], name) for reduction, name in names.items())])
        written = (
            _search_shards_beside(index, plan, task, topics, progress)
            if isinstance(index, ShardedIndex)
            else _search_beside(index, plan, task, progress)
        )
        with written as search:
            yield cls(search, whole.field, names)

    def measure(
        self, topics: Mapping[str, str], margins: Sequence[float], depth: int,
        shares: Sequence[float] = QUERY_TERMS, progress: Progress = silent,
    ) -> list[Measured]:  # fmt: skip
        """Measure each reduction with each of the ``margins`` and of the ``shares`` of a query, by
        the queries of a log.

        Raises :class:`TdvError` when fewer than :data:`FEWEST_QUERIES` have an answer.
        """
        best = Found.of(self.search(topics, TEN, progress))
        asked = {q: text for (q, text), found in zip(topics.items(), best) if found.documents}
        if len(asked) < FEWEST_QUERIES:
            raise TdvError(
                f"too few queries have an answer ({len(asked)}): at least {FEWEST_QUERIES} can "
                "choose tiers; pass more queries, or a reduction"
            )
        whole, field = [found for found in best if found.documents], self.field
        measured = []
        for (reduction, hot), share in product(self.hot.items(), shares):
            alone = self.search.in_tiers(Tiers(field, hot, 0, query_terms=share))
            found = Found.of(alone(asked, max(depth, TEN), progress))
            for margin in margins:
                tiers = Tiers(field, hot, depth, margin, share)
                measured.append(Measured.of(reduction, tiers, whole, found))
        return measured
