"""The neural re-rankers' scores added to BM25's, from the runs of ``tdv-lucene paper reproduce``.

    python scripts/bench/neural_interpolated.py --runs REPRODUCTION --topics T --qrels Q

A query's scores are made comparable (mean 0, deviation 1, over the documents re-ranked), and the
neural one gets a weight from 0 to 1, BM25's the rest. Of five folds each is ranked with the weight
that is best on the other four. No query was learned from by the re-ranker that scored it, so a
weight is chosen by held-out scores alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from tdv_lucene.evaluation.evaluate import evaluate_run, read_run
from tdv_lucene.evaluation.significance import compare_paired
from tdv_lucene.evaluation.topics import read_qrels, read_topics
from tdv_lucene.paper.experiment import split
from tdv_lucene.paper.neural import RANKERS

WEIGHTS = np.linspace(0, 1, 21)


def main() -> None:
    """Print nDCG@5 of BM25, of each re-ranker, and of both together."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("runs", "topics", "qrels"):
        asked.add_argument(f"--{option}", type=Path, required=True)
    told = asked.parse_args()
    topics, qrels = read_topics(told.topics), read_qrels(told.qrels)
    first = read_run(told.runs / "bm25.baseline.run")
    judged = {query: topics[query] for query in first["query"].unique()}
    for name in RANKERS:
        path = told.runs / f"{name}.run"
        if path.is_file():
            print(RANKERS[name], *_of_ranker(first, read_run(path), judged, qrels))


def _of_ranker(
    first: pd.DataFrame, neural: pd.DataFrame, topics: dict[str, str], qrels: dict
) -> list[str]:
    both = _comparable(first).merge(_comparable(neural), on=["query", "docid"])
    found = []
    for weight in WEIGHTS:
        score = (1 - weight) * both["score_x"] + weight * both["score_y"]
        measured = evaluate_run(both.assign(score=score), topics, qrels)
        found.append(measured.values["nDCG@5"])
    by_weight = np.stack(found)  # [weights, queries]
    ids = measured.queries
    chosen = np.zeros(len(ids))
    picked = []
    place = {query: number for number, query in enumerate(ids)}
    for part in split(list(ids), 5, 0):
        own = np.array([place[query] for query in part])
        others = np.setdiff1d(np.arange(len(ids)), own)
        best = int(by_weight[:, others].mean(axis=1).argmax())
        picked.append(f"{WEIGHTS[best]:.2f}")
        chosen[own] = by_weight[best, own]
    test = compare_paired(by_weight[0], chosen, 1)
    return [
        f"BM25 {by_weight[0].mean():.4f}",
        f"alone {by_weight[-1].mean():.4f}",
        f"together {chosen.mean():.4f} (p {test.p_value})",
        f"weights {' '.join(picked)}",
    ]


def _comparable(run: pd.DataFrame) -> pd.DataFrame:
    grouped = run.groupby("query")["score"]
    deviation = grouped.transform("std").fillna(0).clip(lower=1e-9)
    return run.assign(score=(run["score"] - grouped.transform("mean")) / deviation)


if __name__ == "__main__":
    main()
