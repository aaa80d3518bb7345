"""Which postings of an impact index to drop: our order beside peers, as shares and bytes.

    impact.py MATRIX COLLECTION SETS... [--weights WEIGHTS.npy] [--documents N] [--queries N]

MATRIX and WEIGHTS are those of ``impact_collections.py``; without WEIGHTS, BM25's are made. SETS
are query sets of COLLECTION (``queries.SET.tsv``, ``qrels.SET.txt``). Everything is computed in
NumPy, with Lucene's integers; bytes are the package's estimate of posting lists.

Each method gives every posting a value, and drops the smallest: so all drop the same share.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from impact_collections import as_impacts, bm25_weights, sample

from tdv_lucene.evaluation.topics import read_qrels, read_topics
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.matrix.norms import stored_lengths
from tdv_lucene.matrix.stored_matrix import load_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.simulation.estimated_bytes import estimate_posting_bytes
from tdv_lucene.simulation.measures import MEASURES, evaluate
from tdv_lucene.simulation.problem import JudgedMatrix
from tdv_lucene.simulation.queries import make_queries
from tdv_lucene.simulation.weighted_collection import plain_collection
from tdv_lucene.values.posting_thresholds import rule_length_norm
from tdv_lucene.values.term_orders import order_terms, saturation_for_dropping

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SHOWN = ("nDCG@5", "nDCG@10", "R@1000")


class Postings:
    """What the methods need of postings, by term."""

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        self.matrix = matrix
        self.weights = np.asarray(matrix.data, np.float64)
        self.docs = np.asarray(matrix.indices)
        self.terms = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    def ranked(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each posting's rank in its group by weight, from 0, the group's size, and the
        share of the group's sum that is before it."""
        order = np.lexsort((-self.weights, groups))
        sizes = np.bincount(groups)
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        rank, before = np.empty(len(order)), np.empty(len(order))
        rank[order] = np.arange(len(order)) - starts
        sums = np.cumsum(self.weights[order]) - self.weights[order]
        mass = np.bincount(groups, self.weights)
        before[order] = (sums - sums[starts]) / np.repeat(mass, sizes)
        return rank, sizes[groups], before


def ours(postings: Postings) -> np.ndarray:
    matrix, weights = postings.matrix, postings.weights
    order = order_terms(matrix, None, "impact")[postings.terms]
    k1, b = saturation_for_dropping(None, "impact")
    length_norm = rule_length_norm(matrix, k1, b).at(stored_lengths(matrix))[postings.docs]
    return order * weights / (weights + length_norm)


def max_ratio(postings: Postings) -> np.ndarray:
    return postings.weights / stored_lengths(postings.matrix)[postings.docs]


def document_centric(postings: Postings) -> np.ndarray:
    rank, size, _ = postings.ranked(postings.docs)
    return 1 - rank / size


def term_centric(postings: Postings) -> np.ndarray:
    rank, size, _ = postings.ranked(postings.terms)
    return 1 - rank / size


METHODS: dict[str, Callable[[Postings], np.ndarray]] = {
    "ours": ours,
    "agnostic (abs_value)": lambda postings: postings.weights,
    "max_ratio": max_ratio,
    "alpha_mass": lambda postings: 1 - postings.ranked(postings.docs)[2],
    "top_k": lambda postings: -postings.ranked(postings.docs)[0],
    "document-centric": document_centric,
    "term-centric": term_centric,
}
"""Larger values are kept: those of arXiv 2304.12702 and of OpenSearch's sparse pruning."""


def largest_first(values: np.ndarray) -> np.ndarray:
    """Return int64[nnz]: the postings in descending order; chance decides between equal ones."""
    chance = np.random.default_rng(0).random(len(values))
    return np.lexsort((chance, -values))


class Sets:
    """Query sets, by which a choice of postings is measured."""

    def __init__(
        self, matrix: TermDocumentMatrix, folder: Path, names: list[str], most: int
    ) -> None:
        self._sets = {}
        for name in names:
            topics = analyze_topics(read_topics(folder / f"queries.{name}.tsv"))
            some = dict([*topics.items()][:: max(1, len(topics) // most)])
            queries = make_queries(matrix, some, read_qrels(folder / f"qrels.{name}.txt"))
            postings = JudgedMatrix(matrix, queries).postings
            at = [np.arange(matrix.indptr[t], matrix.indptr[t + 1]) for t in postings.terms]
            self._sets[name] = postings, np.concatenate(at)

    def measure(self, matrix: TermDocumentMatrix, kept: np.ndarray) -> dict[str, np.ndarray]:
        weights = np.where(kept, matrix.data, 0).astype(np.float32)
        return {
            name: evaluate(postings, weights[at]).mean(axis=0)
            for name, (postings, at) in self._sets.items()
        }


def posting_bytes(matrix: TermDocumentMatrix, kept: np.ndarray) -> int:
    made = as_impacts(matrix, np.where(kept, matrix.data, 0).astype(np.int32))
    return estimate_posting_bytes(made, plain_collection(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("matrix", type=Path)
    parser.add_argument("collection", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--documents", type=int, help="so many at random, and all judged ones")
    parser.add_argument("--queries", type=int, default=350, help="at most about so many of a set")
    args = parser.parse_args()
    matrix = load_matrix(args.matrix)
    weights = np.load(args.weights) if args.weights else bm25_weights(matrix)
    if args.documents:
        some = sample(matrix, args.collection, args.sets, args.documents)
        weights = np.where(np.isin(matrix.indices, some), weights, 0)
    matrix = as_impacts(matrix, weights)
    postings = Postings(matrix)
    sets = Sets(matrix, args.collection, args.sets, args.queries)
    columns = " | ".join(f"{name}: {', '.join(SHOWN)}" for name in args.sets)
    print(f"| method | dropped | MB of postings | {columns} |")
    print("| --- " * (3 + len(args.sets)) + "|")

    def show(name: str, share: float, kept: np.ndarray) -> None:
        found = sets.measure(matrix, kept)
        cells = [", ".join(f"{of[MEASURES.index(m)]:.3f}" for m in SHOWN) for of in found.values()]
        size = posting_bytes(matrix, kept) / 1e6
        print(f"| {name} | {share:.0%} | {size:.1f} | {' | '.join(cells)} |", flush=True)

    show("full", 0, np.ones(matrix.postings, bool))
    for name, method in METHODS.items():
        order = largest_first(method(postings))
        for share in SHARES:
            kept = np.zeros(len(order), bool)
            kept[order[: round((1 - share) * len(order))]] = True
            show(name, share, kept)


if __name__ == "__main__":
    main()
