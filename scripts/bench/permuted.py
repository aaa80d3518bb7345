#!/usr/bin/env python3
"""Whether what `learn` prints of held-out queries favours pruning: judgements that say nothing.

Each query gets the judgements of another, drawn at random, and `learn` learns from them. There is
nothing to find, so with nothing dropped the difference between the pruned and the full index must
not be above 0 by more than a standard error of its mean over the permutations.

    scripts/bench/permuted.py --collections DIR --work DIR --output RUN
        [--only cranfield ...] [--permutations 20] [--no-prior]

The prior is the one made without the collection.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judged_draws import queries_of
from prior_collections import read_collections
from prior_settings import PRIOR_RUN, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene import learn_term_values
from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.learning.recipes import DefaultRecipe

COLLECTIONS = ("adi", "cranfield", "cisi", "vaswani")
_HEAD = ("collection", "permutations", "mean difference of nDCG@5", "standard error", "holds")


def permuted(qrels: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The same judgements, each query's given to the next of a random round."""
    ids = np.random.default_rng([33, seed]).permutation(list(qrels)).tolist()
    return {query: qrels[other] for query, other in zip(ids, [*ids[1:], ids[0]])}


def row_of(name: str, differences: Sequence[float]) -> list[str]:
    mean, error = standard(differences)
    return [name, str(len(differences)), f"{mean:+.4f}", f"{error:.4f}", str(mean <= error)]


def standard(differences: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(np.mean(differences)), float(np.std(differences, ddof=1) / len(differences) ** 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=COLLECTIONS)
    parser.add_argument("--permutations", type=int, default=20)
    parser.add_argument("--no-prior", action="store_true")
    args = parser.parse_args()
    recipe = DefaultRecipe(reductions=(0.0,), prior=not args.no_prior)
    raw: dict[str, list[float]] = {}
    for judged in read_collections(args.collections, args.work, 10**6, 0, args.only):
        matrix, prior = judged.problem.matrix, prior_without(judged.name, PRIOR_RUN)
        vectors = latent_semantic_vectors(matrix)
        topics, qrels = queries_of(judged, judged.all_queries)
        raw[judged.name] = []
        for seed in range(args.permutations):
            values = learn_term_values(
                matrix, topics, permuted(qrels, seed), recipe=recipe, prior=prior,
                vectors=vectors, seed=seed,
            )  # fmt: skip
            raw[judged.name].append(values.points[0]["difference"]["nDCG@5"]["mean"])
            print(judged.name, seed, f"{raw[judged.name][-1]:+.4f}", flush=True)
    rows = [row_of(name, differences) for name, differences in raw.items()]
    text = f"{machine()}\n\n{markdown_table(_HEAD, rows)}\n"
    write_run(args.output, text, raw, ("permuted.md", "permuted.json"))
    print(text)


if __name__ == "__main__":
    main()
