"""What an experiment found, as one report.

Of a re-ranker the report has ``nDCG@5`` and ``R@1000`` (``value``, ``tdv_bm25`` and its paired
comparison with that, ``published``), ``latency_ms`` (``first_stage``, ``reranking``, ``queries``
timed, ``published``), ``parameters`` (numbers fitted) and ``epochs`` (chosen, by fold).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.significance import compare_paired
from ..store import versions
from .experiment import Experiment
from .published import MEASURES, OWN, Collection, Published, model_of

Found = Mapping[str, Mapping[str, np.ndarray]]
"""Model, or row of one -> what was measured -> its values."""


def make_report(
    known: Collection, experiment: Experiment, found: Found, reranked: Found
) -> dict[str, Any]:
    """Return all figures, with significance corrected for all that is compared."""
    recipe, tests = experiment.recipe, (len(found) + len(reranked)) * len(MEASURES)
    folds = experiment.queries.folds
    models = {}
    for model, measured in found.items():
        published = known.published.get(model_of(model), Published())
        pairs = {measure: dict(zip(("baseline", "tdv"), measured[measure])) for measure in MEASURES}
        models[model] = {
            **_compared(pairs, published, tests),
            **{
                OWN + name: dict(zip(("baseline", "tdv"), measured[OWN + name].mean(-1).tolist()))
                for name in MEASURES
                if OWN + name in measured
            },
            "latency_ms": {
                "baseline": float(measured["ms"][0].mean()),
                "tdv": float(measured["ms"][1].mean()),
                "published": published.latency_ms,
            },
            "postings_removed": {
                "mean": float(measured["removed"].mean()),
                "by_fold": measured["removed"].tolist(),
                "published": published.removed,
            },
        }
    neural = {}
    for name, measured in reranked.items():
        published, bm25 = known.published.get(name, Published()), found["bm25"]
        pairs = {m: {"value": measured[m], "tdv_bm25": bm25[m][1]} for m in MEASURES}
        neural[name] = {
            **_compared(pairs, published, tests),
            "latency_ms": {
                "first_stage": float(bm25["ms"][0].mean()),
                "reranking": float(measured["ms"].mean()),
                "queries": len(measured["ms"]),
                "published": published.latency_ms,
            },
            "parameters": int(measured["parameters"][0]),
            "epochs": measured["epochs"].tolist(),
        }
    report = {
        "collection": known.title,
        "queries": len(experiment.queries.measured),
        "training_queries": [len(fold.training) for fold in folds],
        "folds": len(folds),
        "recipe": {"name": recipe.name, **asdict(recipe)},
        "seed": experiment.config.seed,
        "models": models,
        **({"rerank_depth": experiment.config.rerank_depth, "neural": neural} if neural else {}),
        "versions": versions(),
    }
    # As the written report gives it: lists for tuples.
    as_written: dict[str, Any] = json.loads(json.dumps(report))
    return as_written


def _compared(
    pairs: Mapping[str, Mapping[str, np.ndarray]], published: Published, tests: int
) -> dict[str, Any]:
    """By measure the means of two systems, how they compare, and what the paper has."""
    found = {}
    for measure, printed in zip(MEASURES, (published.ndcg5, published.recall1000)):
        (one, first), (other, second) = pairs[measure].items()
        found[measure] = {
            one: float(first.mean()),
            other: float(second.mean()),
            **compare_paired(first, second, tests).to_dict(),
            "published": printed,
        }
    return found


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write ``report.json`` and ``tables.md``."""
    from ..report.text import to_markdown
    from .tables import paper_tables

    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.md").write_text(to_markdown(paper_tables(report)), encoding="utf-8")
