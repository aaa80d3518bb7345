"""The paper's experiment: five folds over a collection's topics, three models, three tables."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..errors import TdvError
from ..evaluation.topics import Topics
from ..index.analysis import analysis_of
from ..index.index import Index
from ..index.parameters import recorded_parameters
from ..jvm.analysis import analyze_topics
from ..learning.config import Recipe
from ..learning.learn import learn_term_values
from ..matrix.embed import load_term_vectors
from ..matrix.extract import open_matrix
from ..matrix.term_vectors import latent_semantic_vectors
from ..output import Output
from ..progress import Progress, silent
from ..pruning.prune import prune_index
from ..ranking import SearchParameters, ranking_function
from ..report.table import to_markdown
from ..searching.search import search_index
from ..timing.latency import look_up_terms, measure_latency
from ..values.term_values import TermValues
from .config import ReproduceConfig
from .experiment import ROUNDS, Experiment, measure, read_queries
from .neural import check_rankers
from .own_formulas import measure_own
from .published import COLLECTIONS, OWN, RECIPES, row_of
from .recipes import PaperRecipe, TunedRecipe, learn_by_paper, without_learning
from .results import make_report, paper_tables

KIND = "reproduction"
LITERAL, TUNED = PaperRecipe(), TunedRecipe()
# The prior may have been made from the very queries that are measured.
DEFAULT = Recipe(reductions=(0.45,), prior=False)


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
        re-rankers need the model ``"bm25"``, and an index with positions.

    Returns
    -------
    dict
        ``collection``, ``queries``, ``folds``, ``models.ROW`` (see :func:`.published.row_of`):
        ``nDCG@5`` and ``R@1000`` (``baseline``, ``tdv``, p_value and the rest of
        :class:`PairedComparison`, ``published``), ``latency_ms`` (1000 hits, all postings scored),
        ``postings_visited`` and ``postings_removed`` (percent); ``neural.NAME`` (see
        :mod:`.results`); ``versions``.
    """
    config = ReproduceConfig.of(config, options)
    field, seed = config.field, config.seed
    if collection not in COLLECTIONS:
        raise TdvError(f"no collection '{collection}': choose one of {', '.join(COLLECTIONS)}")
    known = COLLECTIONS[collection]
    for model in config.models:
        ranking_function(model)  # or it is refused
    check_rankers(config.neural)
    if config.neural and "bm25" not in config.models:
        raise TdvError(
            "neural re-ranks what BM25 finds and is compared with TDV-BM25: add 'bm25' to the "
            "models"
        )
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
        if config.vectors is not None:
            vectors = load_term_vectors(config.vectors, matrix, analysis, progress)
        else:
            vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress)
        made = {"literal": LITERAL, "tuned": TUNED, "default": DEFAULT}
        if config.reduction is not None:
            made["default"] = replace(DEFAULT, reductions=(config.reduction,))
        experiment = Experiment(
            index=opened, config=config, queries=queries, analysis=analysis,
            tokens=analyze_topics(texts, field, analysis), matrix=matrix, vectors=vectors,
            recipes={kind: made[kind] for kind in RECIPES[config.recipe] if kind in made},
            folder=folder, progress=progress,
        )  # fmt: skip
        found: dict[str, dict[str, np.ndarray]] = {}
        for model in config.models:
            found |= _run_model(experiment, model)
        reranked = {}
        if config.neural:
            from .neural.runs import run_ranker

            reranked = {name: run_ranker(experiment, name) for name in config.neural}
        report = make_report(known, experiment, found, reranked)
        text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        (folder / "tables.md").write_text(to_markdown(paper_tables(report)), encoding="utf-8")
        place.write_manifest({name: report[name] for name in ("collection", "recipe", "seed")})
    return report


def _run_model(experiment: Experiment, model: str) -> dict[str, dict[str, np.ndarray]]:
    """Return for each row what :func:`_measure_row` does, of all folds after each other."""
    config = experiment.config
    asked = experiment.queries.measured
    _search(experiment, experiment.index, model, asked, experiment.baseline(model))
    folds: dict[str, list[dict[str, np.ndarray]]] = {}
    for number, fold in enumerate(experiment.queries.folds):
        for kind, values in _learn(experiment, model, fold.training).items():
            row = row_of(model, kind, config.recipe)
            measured = _measure_row(experiment, model, row, number, values)
            folds.setdefault(row, []).append(measured)
    return {
        row: {name: np.concatenate([each[name] for each in found], axis=-1) for name in found[0]}
        for row, found in folds.items()
    }


def _learn(experiment: Experiment, model: str, training: list[str]) -> dict[str, TermValues]:
    """Return the TDVs of each row of the recipe, by its kind."""
    config, matrix, recipes = experiment.config, experiment.matrix, experiment.recipes
    judged, vectors = experiment.judged(training), experiment.vectors
    last = config.seed, experiment.progress
    made: dict[str, TermValues] = {}
    for kind in RECIPES[config.recipe]:
        if kind in ("literal", "tuned"):
            made[kind] = learn_by_paper(matrix, judged, model, recipes[kind], vectors, *last)
        elif kind == "default":
            made[kind] = learn_term_values(
                matrix, *judged, model=model, recipe=recipes[kind], vectors=vectors,
                seed=config.seed, progress=experiment.progress,
            )  # fmt: skip
        else:
            made[kind] = without_learning(made["tuned"], matrix, by_ridf=kind == "ridf")
    return made


def _search(experiment: Experiment, index: Any, model: str, asked: Topics, run: Path) -> None:
    config = experiment.config
    search_index(index, asked, run, model=model, field=config.field, **config.asked_analysis)


def _measure_row(
    experiment: Experiment, model: str, row: str, number: int, values: TermValues
) -> dict[str, np.ndarray]:
    """Return each measure, ``ms`` and ``visited`` postings, [2, Q] of the full and the pruned
    index; ``removed`` and what the inner folds ``chosen``, [1]."""
    config, queries = experiment.config, experiment.queries
    asked = {q: queries.measured[q] for q in queries.folds[number].held_out}
    run = experiment.folder / f"{row}.tdv.{number + 1}.run"
    reduction = values.points[0]["reduction"]
    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        pruned = Path(folder) / "pruned"
        made = prune_index(
            experiment.index, values, pruned, reduction=reduction, progress=experiment.progress,
            **config.asked_analysis,
        )  # fmt: skip
        _search(experiment, pruned, model, asked, run)
        runs = {"baseline": experiment.baseline(model), "tdv": run}
        with Index.open(pruned) as made_index:
            indexes = {"baseline": experiment.index, "tdv": made_index}
            terms = look_up_terms(indexes, asked, config.field, experiment.analysis)
            ms = np.full((2, 1), np.nan)
            if config.latency_budget_seconds:
                timed = {
                    name: (one, recorded_parameters(one, model)) for name, one in indexes.items()
                }
                latency = measure_latency(
                    timed, asked, seed=config.seed, rounds=ROUNDS, exhaustive=True,
                    budget_seconds=config.latency_budget_seconds,
                    field=config.field, analysis=experiment.analysis,
                    raw=Path(folder) / "latency_ns.npy", progress=experiment.progress,
                )  # fmt: skip
                ms = np.stack([latency.per_query_ms("top1000", name) for name in runs])
    visited = [
        [sum(doc_freq[name] for doc_freq in of_query.values()) for of_query in terms.values()]
        for name in runs
    ]
    both = [measure(one, asked, queries.qrels) for one in runs.values()]
    found = {name: np.stack([each[name] for each in both]) for name in both[0]}
    if "posting_rule" not in values.manifest:  # no single postings are dropped
        learned = {name: value for name, value in values.manifest["parameters"].items() if value}
        judged, chosen = experiment.judged([*asked]), SearchParameters().with_values(learned)
        own = [
            measure_own(experiment.matrix, *judged, model, SearchParameters()),
            measure_own(experiment.matrix, *judged, model, chosen, values.weights),
        ]
        found |= {OWN + name: np.stack([each[name] for each in own]) for name in both[0]}
    chosen_by = {"parameters": values.manifest["parameters"], **_chosen(values)}
    return {
        **found, "ms": ms, "visited": np.array(visited, float),
        "removed": np.array([100 * made["reduction"]]), "chosen": np.array([chosen_by], object),
    }  # fmt: skip


def _chosen(values: TermValues) -> dict[str, Any]:
    """Return the setting that inner folds chose, with the curve along its training.

    Where they chose none, the curve is that of the first that was tried.
    """
    recipe = values.manifest["recipe"]
    if not recipe.get("tried"):
        return {}
    setting = recipe.get("chosen", {})
    along = setting or recipe["tried"][0]
    path = [
        each for each in recipe["tried"]
        if all(each[name] == along[name] for name in ("sparsity", "power"))
    ]  # fmt: skip
    keep = ("dropped", *(name for name in path[0] if "@" in name))
    return {**setting, "curve": [{name: each[name] for name in keep} for each in path]}
