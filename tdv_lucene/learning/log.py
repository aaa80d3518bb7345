"""Measure operating points by a query log: the effect of pruning on its queries' first answers.

Nobody judged the queries. The first answer of the re-weighted index with nothing dropped serves as
the only relevant document of each. What a pruned index loses by that is the *bound*: an index that
ranks another document first loses by it, also where that one is as good.

How much of the bound is truly lost depends on how sure first answers are. If the index as it is
gives mostly the same ones, queries name what they ask for, and the bound is nearly the truth. Else
much of it is no loss, and re-weighting gains. ``log.json`` holds how much of both was seen on query
sets with judgements (scripts/bench/log_bound.py made it).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..embedding.term_vectors import latent_semantic_vectors
from ..errors import TdvError
from ..interruption import deferred
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.problem import JudgedMatrix, Problem, PrunedByFold, TermScores
from ..simulation.retrieval import unjudged_queries
from ..values.losses import MEASURE, most_loss_of
from ..values.posting_rule import REDUCTIONS
from ..values.term_values import TermValues
from .pool import Extent, Search, fitting_pool, pool_of, within
from .scale import given_scale
from .validate import FullIndex, mean_visited, validate_points

MAX_LOSS = 0.02
"""The loss allowed by the careful line, by default."""
CALIBRATION = Path(__file__).with_name("log.json")
_FEWEST_QUERIES = 17
"""The smallest log in the calibration. Two or three queries without a change prove nothing."""
_MOST_QUERIES = 1000
_LEAST_SAME, _LEAST_SHARE = 0.6, 0.25


def values_by_log(
    values: TermValues,
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
    pool: int | None = None,
    memory: int | None = None,
    search: Search | None = None,
    progress: Progress = silent,
) -> TermValues:
    """Return the prior's ``values`` with operating points measured by a query log.

    Raises :class:`TdvError` when fewer than ``_FEWEST_QUERIES`` have a term of the index.

    Parameters
    ----------
    values
        The TDVs of ``matrix`` from :func:`..prior.prior.prior_values`.
    topics
        Query id -> index terms (see :func:`tdv_lucene.analyze`), with repetitions.
    seed, pool, memory, search
        See :func:`.learn.learn_term_values`.
    """
    queries, model = unjudged_queries(matrix, topics), values.model
    if len(queries) < _FEWEST_QUERIES:
        raise TdvError(
            f"too few queries of the log have a term of the index ({len(queries)}): at least "
            f"{_FEWEST_QUERIES} can choose a reduction; pass a longer log, or leave it out"
        )
    extent = Extent(*matrix.shape, matrix.postings).with_topics(topics, topics)
    size = fitting_pool(extent, pool, memory)
    progress = within(memory, progress)
    if size:
        matrix, queries = pool_of(matrix, queries, model, search, size, seed, progress)
    with deferred():
        problem = Problem(
            JudgedMatrix(matrix.with_position_boost(values.position_boost), queries),
            latent_semantic_vectors(matrix, dimensions=0),
            model,
            SearchParameters().with_values(values.parameters),
            values.weights,
        )
        scores = TermScores(values.weights, values.priority, values.posting_rule)
        scales = {point["reduction"]: point["scale"] for point in values.points}
        found = _measured(problem, scores, scales, progress)
    return replace(values, manifest={**values.manifest, **found})


def drawn(texts: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return a log, or a thousand queries drawn at random from a longer one."""
    ids = list(texts)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(ids))[:_MOST_QUERIES])
    return {ids[number]: texts[ids[number]] for number in chosen.tolist()}


def _measured(
    problem: Problem, scores: TermScores, scales: Mapping[float, float], progress: Progress
) -> dict[str, Any]:
    """Return the entries of the manifest about operating points.

    First answers are those at the largest of the ``scales``, whatever the bytes: they rank best.
    """
    finest = max(scales.values())
    here, collection = PrunedByFold.in_one_fold(problem, scores, 0.0).prune(finest)
    answers = here.postings.top(here.impacts(collection), 1)[:, 0]
    queries = problem.queries.answered_by(answers)
    problem = replace(problem, judged=replace(problem.judged, queries=queries))
    whole = PrunedByFold.in_one_fold(problem, scores, 0.0)
    plain = problem.full.with_parameters(SearchParameters())
    visited = mean_visited(problem, plain.plain.statistics)
    full = FullIndex(whole.held_out([finest]), plain.parameters, visited)
    validated = validate_points(
        whole, full, REDUCTIONS, lambda at: given_scale(at, scale=scales[at.reduction]), progress
    )
    same = float(np.mean(plain.measure(plain.plain)[:, 0] == 1))
    points = [{**point, "expected": _expected(point, same)} for point in validated.points]
    return {
        "points": points,
        "full": validated.full,
        "log": {"queries": len(queries), "same_first_answer": same, "max_loss": MAX_LOSS},
        "recommended_reduction": _recommended(points),
    }


def _recommended(points: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest reduction within the loss; if none is, that of dropping nothing."""
    within = (point for point in points if most_loss_of(point) <= MAX_LOSS)
    return max((float(point["reduction"]) for point in within), default=0.0)


def _expected(point: Mapping[str, Any], same: float) -> dict[str, float]:
    """Return the ``loss`` of nDCG@5 to expect, and the ``loss_at_most`` in the bound's interval.

    Both are against the index as it is; the interval is that of 95 %, at its worse end.

    ``same`` is the share of queries with the same first answer in the index as it is.
    """
    lines, difference = json.loads(CALIBRATION.read_text("utf-8")), point["difference"][MEASURE]
    bounds = {"loss": -difference["mean"], "loss_at_most": -difference["ci95"][0]}
    return {name: loss_by(lines[name], bound, same) for name, bound in bounds.items()}


def loss_by(line: Mapping[str, float], bound: float, same: float) -> float:
    """Return (certain - unsure u) bound - gain u, with u = 1 - same: a loss, or below 0 a gain.

    No judged query set had less than ``_LEAST_SAME``: what was seen there holds for those that have
    less. At least ``_LEAST_SHARE`` of the bound counts, however unsure first answers are, or such a
    log would let everything be dropped.
    """
    unsure = 1 - max(same, _LEAST_SAME)
    share = max(line["certain"] - line["unsure"] * unsure, _LEAST_SHARE)
    return share * bound - line["gain"] * unsure
