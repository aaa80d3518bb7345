"""The paper's experiment: five folds over a collection's topics, three models, three tables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..arguments import checked_seed
from ..embedding.embed import TermVectors, latent_semantic_vectors
from ..errors import TdvError
from ..evaluation.evaluate import evaluate_run
from ..evaluation.significance import compare_paired
from ..evaluation.topics import Qrels, Topics, read_qrels, read_topics
from ..indexes.user_data import recorded_parameters
from ..learning.learn import learn_term_values
from ..learning.recipes import DefaultRecipe, PaperRecipe, make_recipe
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from ..pruning.prune import prune_index
from ..searching.search import search_index
from ..store import versions
from ..timing.latency import DEPTH, LatencyPlan, TimedIndex, measure_latency
from .paper_queries import restrict, split
from .published import COLLECTIONS, MODELS, Collection

KIND = "reproduction"
_MEASURES = ("nDCG@5", "R@1000")
_ROUNDS = 5
_REDUCTION = 0.45
"""Of the default recipe, where none is asked for: its own recommendation takes all points."""


@dataclass(frozen=True, eq=False)
class _Experiment:
    """What all models and folds share."""

    index: Path
    field: str
    topics: Topics
    qrels: Qrels
    tokens: Mapping[str, Sequence[str]]
    folds: Sequence[Sequence[str]]
    matrix: TermDocumentMatrix
    vectors: TermVectors
    recipe: DefaultRecipe | PaperRecipe
    latency_budget_seconds: float
    seed: int
    folder: Path
    progress: Progress


def reproduce_paper(
    collection: str,
    index: str | os.PathLike,
    topics: str | os.PathLike,
    qrels: str | os.PathLike,
    output: str | os.PathLike,
    *,
    recipe: str | DefaultRecipe | PaperRecipe = "paper",
    models: Sequence[str] = tuple(MODELS),
    reduction: float | None = None,
    folds: int = 5,
    field: str = "contents",
    latency_budget_seconds: float = 10.0,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run the paper's experiment on a collection you have, and write the folder ``output``.

    It uses the titles of the paper's topics for ``collection`` that have a relevant document in the
    index. Judgements of documents outside the index are left out. For each fold, TDVs are learned
    on the other folds' queries and the index is pruned with them; then the fold's queries are
    searched and timed on both indexes. ``tables.md`` has Tables 1 to 3 beside the published values;
    ``report.json`` is what is returned.

    Unlike in the paper, frequencies in the index are whole numbers, search is Lucene's, and no
    measure of a test fold is seen before the end.

    Parameters
    ----------
    collection
        ``ap88-89``, ``la``, ``ft91-94`` or ``wiki165k``.
    reduction
        Share of postings to drop; None for what the recipe recommends.
    latency_budget_seconds
        For each model and each fold.

    Returns
    -------
    dict
        ``collection``, ``queries``, ``folds``, ``models.MODEL``: ``nDCG@5`` and ``R@1000``
        (``baseline``, ``tdv``, p_value and the rest of :class:`PairedComparison`, ``published``),
        ``latency_ms`` (exhaustive, 1000 hits) and ``postings_removed`` (percent), ``versions``.

    Raises
    ------
    TdvError
        For an unknown collection, model or recipe, for fewer than two judged queries per fold, and
        for whatever the stages refuse.
    """
    known = _known_collection(collection, models)
    chosen = _affordable(make_recipe(recipe), reduction)
    checked_seed(seed)
    place = Output.folder(output, KIND, inputs=[index, topics, qrels], overwrite=overwrite)
    asked, judged = restrict(known, index, read_topics(topics), read_qrels(qrels))
    parts = split(list(asked), folds, seed)
    from ..jvm.index import analyze

    tokens = dict(zip(asked, analyze(list(asked.values()), field)))
    with (
        place as folder,
        open_matrix(index, field=field, progress=progress) as matrix,
    ):
        experiment = _Experiment(
            index=Path(index),
            field=field,
            topics=asked,
            qrels=judged,
            tokens=tokens,
            folds=parts,
            matrix=matrix,
            vectors=latent_semantic_vectors(matrix, seed=seed, progress=progress),
            recipe=chosen,
            latency_budget_seconds=latency_budget_seconds,
            seed=seed,
            folder=folder,
            progress=progress,
        )
        found = {model: _run_model(experiment, model) for model in models}
        report = {
            "collection": known.title,
            "queries": len(asked),
            "folds": folds,
            "recipe": _as_json({"name": chosen.name, **asdict(chosen)}),
            "seed": seed,
            "models": {model: _summarise(known, found, model) for model in models},
            "versions": versions(),
        }
        _write(folder, report)
        place.write_manifest({name: report[name] for name in ("collection", "recipe", "seed")})
    return report


def _known_collection(collection: str, models: Sequence[str]) -> Collection:
    if collection not in COLLECTIONS:
        raise TdvError(f"no collection '{collection}': choose one of {', '.join(COLLECTIONS)}")
    for model in models:
        if model not in MODELS:
            raise TdvError(f"no model '{model}': choose from {', '.join(MODELS)}")
    return COLLECTIONS[collection]


def _affordable(
    recipe: DefaultRecipe | PaperRecipe, reduction: float | None
) -> DefaultRecipe | PaperRecipe:
    """Return the recipe without operating points that nobody will look at.

    Each takes minutes to validate, so only the one that is used is validated. The paper's recipe
    trains a network per fold only for that, so the fewest folds will do.
    """
    if isinstance(recipe, DefaultRecipe):
        used = _REDUCTION if reduction is None else reduction
        # The prior may have been made from the very queries that are measured.
        return replace(recipe, reductions=(used,), prior=False)
    return replace(recipe, reductions=(reduction or 0.0,), folds=2)  # 0: the zeros it learned


def _run_model(experiment: _Experiment, model: str) -> dict[str, np.ndarray]:
    """Per query, in the folds' order: ``MEASURE`` and ``ms``, [2, Q]; ``removed``, [folds]."""
    run = experiment.folder / f"{model}.baseline.run"
    search_index(
        experiment.index, experiment.topics, run, model=model, hits=DEPTH, field=experiment.field
    )
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*_MEASURES, "ms", "removed")}
    for number in range(len(experiment.folds)):
        for name, values in _run_fold(experiment, model, run, number).items():
            parts[name].append(values)
    return {name: np.concatenate(arrays, axis=-1) for name, arrays in parts.items()}


def _run_fold(
    experiment: _Experiment, model: str, baseline: Path, number: int
) -> dict[str, np.ndarray]:
    held_out = set(experiment.folds[number])
    training = [q for q in experiment.topics if q not in held_out]
    values = learn_term_values(
        experiment.matrix,
        {q: experiment.tokens[q] for q in training},
        {q: experiment.qrels[q] for q in training},
        model=model,
        recipe=experiment.recipe,
        vectors=experiment.vectors,
        seed=experiment.seed,
        progress=experiment.progress,
    )
    asked = {q: experiment.topics[q] for q in experiment.folds[number]}
    run = experiment.folder / f"{model}.tdv.{number + 1}.run"
    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        pruned = Path(folder) / "pruned"
        made = prune_index(
            experiment.index, values, pruned, reduction=values.points[0]["reduction"],
            progress=experiment.progress,
        )  # fmt: skip
        search_index(pruned, asked, run, model=model, hits=DEPTH, field=experiment.field)
        indexes = {"baseline": (experiment.index, baseline), "tdv": (pruned, run)}
        latency = measure_latency(
            {
                name: TimedIndex(path, recorded_parameters(path, model), one)
                for name, (path, one) in indexes.items()
            },
            asked,
            LatencyPlan(_ROUNDS, experiment.latency_budget_seconds, experiment.seed),
            field=experiment.field,
            raw=Path(folder) / "latency_ns.npy",
            progress=experiment.progress,
        )
    measured = [evaluate_run(one, asked, experiment.qrels).values for one in (baseline, run)]
    return {
        **{measure: np.stack([one[measure] for one in measured]) for measure in _MEASURES},
        "ms": np.stack([latency.per_query_ms("top1000_exhaustive", name) for name in indexes]),
        "removed": np.array([100 * made["reduction"]]),
    }


def _summarise(
    known: Collection, found: Mapping[str, Mapping[str, np.ndarray]], model: str
) -> dict[str, Any]:
    per_query = found[model]
    comparisons = len(found) * len(_MEASURES)
    summary: dict[str, Any] = {}
    for measure, published in zip(_MEASURES, (known.ndcg5, known.recall1000)):
        baseline, tdv = per_query[measure]
        summary[measure] = {
            "baseline": float(baseline.mean()),
            "tdv": float(tdv.mean()),
            **compare_paired(baseline, tdv, comparisons).to_dict(),
            "published": _listed(published, model),
        }
    summary["latency_ms"] = {
        "baseline": float(per_query["ms"][0].mean()),
        "tdv": float(per_query["ms"][1].mean()),
        "published": _listed(known.latency_ms, model),
    }
    summary["postings_removed"] = {
        "mean": float(per_query["removed"].mean()),
        "by_fold": per_query["removed"].tolist(),
        "published": known.removed.get(model),
    }
    return summary


def _as_json(values: dict[str, Any]) -> dict[str, Any]:
    """What reading the written report gives: lists for tuples."""
    return json.loads(json.dumps(values))


def _listed(published: Mapping[str, tuple[float, float]], model: str) -> list[float] | None:
    return list(published[model]) if model in published else None


def _write(folder: Path, report: dict[str, Any]) -> None:
    from ..report.text import to_markdown
    from .paper_tables import paper_tables

    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.md").write_text(to_markdown(paper_tables(report)), encoding="utf-8")
