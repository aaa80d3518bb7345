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
from .experiment import MEASURES, Experiment
from .published import Collection

Found = Mapping[str, Mapping[str, np.ndarray]]
"""Model -> what was measured -> its values."""


def make_report(
    known: Collection, experiment: Experiment, found: Found, reranked: Found, depth: int
) -> dict[str, Any]:
    """Return all figures, with significance corrected for all that is compared."""
    recipe, tests = experiment.recipe, (len(found) + len(reranked)) * len(MEASURES)
    neural = {
        "rerank_depth": depth,
        "neural": {
            name: _summarise_ranker(known, measured, found["bm25"], tests, name)
            for name, measured in reranked.items()
        },
    }
    return {
        "collection": known.title,
        "queries": len(experiment.topics),
        "training_queries": [len(fold.training) for fold in experiment.folds],
        "folds": len(experiment.folds),
        # As the written report gives it: lists for tuples.
        "recipe": json.loads(json.dumps({"name": recipe.name, **asdict(recipe)})),
        "seed": experiment.seed,
        "models": {
            model: _summarise(known, measured, tests, model) for model, measured in found.items()
        },
        **(neural if reranked else {}),
        "versions": versions(),
    }


def _summarise(
    known: Collection, measured: Mapping[str, np.ndarray], tests: int, model: str
) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for measure, published in zip(MEASURES, (known.ndcg5, known.recall1000)):
        baseline, tdv = measured[measure]
        summary[measure] = {
            "baseline": float(baseline.mean()),
            "tdv": float(tdv.mean()),
            **compare_paired(baseline, tdv, tests).to_dict(),
            "published": _listed(published, model),
        }
    summary["latency_ms"] = {
        "baseline": float(measured["ms"][0].mean()),
        "tdv": float(measured["ms"][1].mean()),
        "published": _listed(known.latency_ms, model),
    }
    summary["postings_removed"] = {
        "mean": float(measured["removed"].mean()),
        "by_fold": measured["removed"].tolist(),
        "published": known.removed.get(model),
    }
    return summary


def _summarise_ranker(
    known: Collection,
    measured: Mapping[str, np.ndarray],
    bm25: Mapping[str, np.ndarray],
    tests: int,
    name: str,
) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for measure, published in zip(MEASURES, (known.neural_ndcg5, known.neural_recall1000)):
        tdv = bm25[measure][1]
        summary[measure] = {
            "value": float(measured[measure].mean()),
            "tdv_bm25": float(tdv.mean()),
            **compare_paired(measured[measure], tdv, tests).to_dict(),
            "published": published.get(name),
        }
    summary["latency_ms"] = {
        "first_stage": float(bm25["ms"][0].mean()),
        "reranking": float(measured["ms"].mean()),
        "queries": len(measured["ms"]),
        "published": known.neural_latency_ms.get(name),
    }
    summary["parameters"] = int(measured["parameters"][0])
    summary["epochs"] = [int(epoch) for epoch in measured["epochs"]]
    return summary


def _listed(published: Mapping[str, tuple[float, float]], model: str) -> list[float] | None:
    return list(published[model]) if model in published else None


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write ``report.json`` and ``tables.md``."""
    from ..report.text import to_markdown
    from .tables import paper_tables

    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.md").write_text(to_markdown(paper_tables(report)), encoding="utf-8")
