"""The paper's experiment: five folds over a collection's topics, three models, three tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..embedding.embed import load_term_vectors
from ..embedding.term_vectors import latent_semantic_vectors
from ..errors import TdvError
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import recorded_parameters
from ..jvm.analysis import analyze_topics
from ..learning.config import Recipe
from ..learning.learn import learn_term_values
from ..matrix.extract import open_matrix
from ..output import Output
from ..progress import Progress, silent
from ..pruning.prune import prune_index
from ..ranking import SearchParameters, check_model
from ..searching.search import search_index
from ..timing.latency import DEPTH, LatencyPlan, TimedIndex, measure_latency
from ..values.term_values import TermValues
from .config import ReproduceConfig
from .experiment import ROUNDS, AnyRecipe, Experiment, measure, read_queries
from .neural import check_name, require_equinox
from .own_formulas import measure_own
from .published import COLLECTIONS, LITERAL, OWN
from .recipe import PaperRecipe, learn_by_paper
from .results import make_report, write_report
from .selection import TunedRecipe
from .tuned import learn_tuned

KIND = "reproduction"
_REDUCTION = 0.45
"""Default for the default recipe: its own recommendation would need all points."""


def reproduce_paper(
    collection: str,
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: ReproduceConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Run the paper's experiment on a collection you have, and write the folder ``output``.

    It uses the titles of the paper's topics for ``collection`` that have a relevant document in the
    index. Judgements of documents outside the index are left out. For each fold, TDVs are learned
    on the other folds' queries and the index is pruned with them; then the fold's queries are
    searched and timed on both indexes. ``tables.md`` has Tables 1 to 3 with the published values;
    ``report.json`` is what is returned.

    Unlike in the paper, frequencies in the index are whole numbers, search is Lucene's, and no
    measure of a test fold is seen before the end.

    Raises :class:`TdvError` for an unknown collection, model or recipe, for fewer than two judged
    queries per fold, and for whatever the stages refuse.

    Parameters
    ----------
    collection
        ``ap88-89``, ``la`` or ``ft91-94``; ``wiki165k``, ``cranfield``, ``vaswani``, ``cisi`` or
        ``other``, of which nothing is published.
    config, options
        A :class:`.config.ReproduceConfig`, or its options by name, as ``folds=2``. ``neural``
        re-rankers need the model ``"bm25"``, and an index with positions or stored text.

    Returns
    -------
    dict
        ``collection``, ``queries``, ``folds``, ``models.MODEL`` (of the recipe "both" the tuned
        one, and ``models.MODEL-literal``): ``nDCG@5`` and ``R@1000``
        (``baseline``, ``tdv``, p_value and the rest of :class:`PairedComparison`, ``published``),
        ``latency_ms`` (exhaustive, 1000 hits) and ``postings_removed`` (percent);
        ``neural.NAME`` (see :mod:`.reproduced`); ``versions``.
    """
    config = ReproduceConfig.of(config, options)
    field, seed = config.field, config.seed
    if collection not in COLLECTIONS:
        raise TdvError(f"no collection '{collection}': choose one of {', '.join(COLLECTIONS)}")
    known = COLLECTIONS[collection]
    for model in config.models:
        check_model(model)
    recipe = _affordable(config.recipe, config.reduction)
    _check_neural(config)
    training = (config.train_topics, config.train_qrels)
    read = [index, topics, qrels, *training, config.vectors]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite)
    with (
        Index.open(index) as opened,
        place as folder,
        open_matrix(opened, field=field, tokens=bool(config.neural), progress=progress) as matrix,
    ):
        analysis = analysis_of(opened, field, config.analysis).analysis
        queries = read_queries(known, opened, (topics, qrels), training, config.folds, seed)
        texts = {**queries.measured, **queries.training}
        if config.vectors is None:
            vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress)
        else:
            vectors = load_term_vectors(config.vectors, matrix, analysis, progress)
        experiment = Experiment(
            index=opened, config=config, queries=queries, analysis=analysis,
            tokens=analyze_topics(texts, field, analysis), matrix=matrix, vectors=vectors,
            recipe=recipe, folder=folder, progress=progress,
        )  # fmt: skip
        found = {}
        for model in config.models:
            if config.recipe == "both":
                literal = replace(experiment, recipe=_affordable("paper", config.reduction))
                found[model + LITERAL] = _run_model(literal, model, model + LITERAL)
            found[model] = _run_model(experiment, model, model)
        reranked = {}
        if config.neural:
            from .neural.runs import run_ranker

            reranked = {name: run_ranker(experiment, name) for name in config.neural}
        report = make_report(known, experiment, found, reranked)
        write_report(folder, report)
        place.write_manifest({name: report[name] for name in ("collection", "recipe", "seed")})
    return report


def _check_neural(config: ReproduceConfig) -> None:
    for name in config.neural:
        check_name(name)
    if config.neural:
        require_equinox()
        if "bm25" not in config.models:
            raise TdvError(
                "neural re-ranks what BM25 finds and is compared with TDV-BM25: add "
                "'bm25' to the models"
            )


def _affordable(recipe: str | AnyRecipe, reduction: float | None) -> AnyRecipe:
    """Return the recipe with the one operating point that is used: each takes minutes to validate.

    The paper's recipe trains a network per fold only for that, so the fewest folds will do.
    """
    if recipe == "default":
        recipe = Recipe()
    elif recipe == "paper":
        recipe = PaperRecipe()
    elif isinstance(recipe, str):
        recipe = TunedRecipe()
    if isinstance(recipe, Recipe):
        used = _REDUCTION if reduction is None else reduction
        # The prior may have been made from the very queries that are measured.
        return replace(recipe, reductions=(used,), prior=False)
    learned = replace(recipe, reductions=(reduction or 0.0,))  # 0: the zeros it learned
    return replace(learned, folds=2) if isinstance(learned, PaperRecipe) else learned


def _run_model(experiment: Experiment, model: str, row: str) -> dict[str, np.ndarray]:
    """Return ``MEASURE`` and ``ms``, [2, Q] in the folds' order, and ``removed``, [folds]."""
    config = experiment.config
    search: Callable[..., Any] = partial(
        search_index, model=model, hits=DEPTH, field=config.field, **config.asked_analysis
    )
    baseline = experiment.baseline(model)
    if not baseline.exists():
        search(experiment.index, experiment.queries.measured, baseline)
    numbers = range(len(experiment.queries.folds))
    folds = [_run_fold(experiment, model, row, search, number) for number in numbers]
    return {name: np.concatenate([each[name] for each in folds], axis=-1) for name in folds[0]}


def _run_fold(
    experiment: Experiment, model: str, row: str, search: Callable[..., Any], number: int
) -> dict[str, np.ndarray]:
    config, queries = experiment.config, experiment.queries
    training, held_out = queries.folds[number]
    recipe = experiment.recipe
    learn: Callable[..., TermValues] = learn_term_values
    if not isinstance(recipe, Recipe):
        learn = learn_by_paper if isinstance(recipe, PaperRecipe) else learn_tuned
    values = learn(
        experiment.matrix, *experiment.judged(training), model=model, recipe=recipe,
        vectors=experiment.vectors, seed=config.seed, progress=experiment.progress,
    )  # fmt: skip
    asked = {q: queries.measured[q] for q in held_out}
    baseline = experiment.baseline(model)
    run = experiment.folder / f"{row}.tdv.{number + 1}.run"
    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        pruned = Path(folder) / "pruned"
        made = prune_index(
            experiment.index, values, pruned, reduction=values.points[0]["reduction"],
            progress=experiment.progress, **config.asked_analysis,
        )  # fmt: skip
        search(pruned, asked, run)
        with Index.open(pruned) as made_index:
            indexes = {"baseline": (experiment.index, baseline), "tdv": (made_index, run)}
            timed = {
                name: TimedIndex(one, recorded_parameters(one, model), found)
                for name, (one, found) in indexes.items()
            }
            latency = measure_latency(
                timed, asked, LatencyPlan(ROUNDS, config.latency_budget_seconds, config.seed),
                field=config.field, analysis=experiment.analysis,
                raw=Path(folder) / "latency_ns.npy", progress=experiment.progress,
            )  # fmt: skip
    before, after = (measure(one, asked, queries.qrels) for one in (baseline, run))
    found = {name: np.stack([before[name], after[name]]) for name in before}
    if not isinstance(recipe, Recipe):  # that drops single postings
        tdv = values.at_reduction(values.points[0]["reduction"]).tdv
        learned = {name: value for name, value in values.manifest["parameters"].items() if value}
        judged, chosen = experiment.judged(held_out), SearchParameters().with_values(learned)
        own = [
            measure_own(experiment.matrix, *judged, model, SearchParameters()),
            measure_own(experiment.matrix, *judged, model, chosen, tdv),
        ]
        found |= {OWN + name: np.stack([each[name] for each in own]) for name in before}
    return {
        **found,
        "ms": np.stack([latency.per_query_ms("top1000_exhaustive", name) for name in indexes]),
        "removed": np.array([100 * made["reduction"]]),
    }
