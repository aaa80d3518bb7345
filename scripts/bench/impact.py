"""Which postings of an impact index to drop: indexes that were pruned beside six peers.

    impact.py MATRIX COLLECTION SETS... [--pruned INDEX...] [--weights WEIGHTS.npy] [--queries N]
        [--documents N] [--methods NAME...]

MATRIX and WEIGHTS are those of ``impact_collections.py``; without WEIGHTS, BM25's are made. SETS
are query sets of COLLECTION (``queries.SET.tsv``, ``qrels.SET.txt``). Each INDEX was made of those
weights by ``tdv-lucene prune``. Rankings are computed in NumPy, with Lucene's integers.

Each peer gives every posting a value, and drops the smallest: as many as leave the bytes of an
INDEX. Bytes are estimated for both, by the package: of posting lists and dictionary. Without an
INDEX, our order of postings takes part as a peer, and all drop the same shares.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from impact_collections import as_impacts, bm25_weights, sample

from tdv_lucene.evaluation.topics import read_qrels, read_topics
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.norms import stored_lengths
from tdv_lucene.matrix.stored_matrix import load_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.simulation.estimated_bytes import (
    estimate_dictionary_bytes,
    estimate_posting_bytes,
)
from tdv_lucene.simulation.measures import MEASURES, evaluate
from tdv_lucene.simulation.queries import Queries, make_queries
from tdv_lucene.simulation.retrieval import QueryPostings
from tdv_lucene.simulation.weighted_collection import plain_collection
from tdv_lucene.values.posting_thresholds import rule_length_norm
from tdv_lucene.values.term_orders import order_terms, saturation_for_dropping

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_SIZED = (0.25, 0.45, 0.6, 0.75, 0.9)
"""Shares at which a peer's bytes are estimated; in between they are interpolated."""
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


OURS = "our order"
METHODS: dict[str, Callable[[Postings], np.ndarray]] = {
    OURS: ours,
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


class Shuffled(QueryPostings):
    """Postings whose equal scores fall in an order drawn for document ids.

    Whole weights make many equal scores, and collections often begin with their judged documents:
    by document number, coarse weights would seem to rank well.
    """

    def __init__(self, matrix: TermDocumentMatrix, queries: Queries) -> None:
        super().__init__(matrix, queries)
        self._chance = np.array([crc32(name) / 2**33 for name in matrix.doc_ids], np.float32)

    def scores(
        self, impacts: np.ndarray, some: Iterable[int] | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        for query, scores in super().scores(impacts, some):
            yield query, np.where(scores > 0, scores + self._chance, 0)


class Sets:
    """Query sets, by which a choice of postings is measured."""

    def __init__(self, folder: Path, names: list[str], most: int) -> None:
        self._topics, self._qrels = {}, {}
        for name in names:
            topics = analyze_topics(read_topics(folder / f"queries.{name}.tsv"))
            self._topics[name] = dict([*topics.items()][:: -(-len(topics) // most)])
            self._qrels[name] = read_qrels(folder / f"qrels.{name}.txt")

    def of(self, matrix: TermDocumentMatrix) -> dict[str, tuple[QueryPostings, np.ndarray]]:
        """Return of each set the postings of its queries' terms, and where they are."""
        found = {}
        for name, topics in self._topics.items():
            queries = make_queries(matrix, topics, self._qrels[name])
            postings = Shuffled(matrix, queries)
            at = [np.arange(matrix.indptr[t], matrix.indptr[t + 1]) for t in postings.terms]
            found[name] = postings, np.concatenate(at)
        return found


class Table:
    """Rows of a method, the share it drops, its bytes and its measures on the sets."""

    def __init__(self, names: list[str]) -> None:
        columns = " | ".join(f"{name}: {', '.join(SHOWN)}" for name in names)
        print(f"| method | dropped | MB | {columns} |")
        print("| --- " * (3 + len(names)) + "|")

    def show(self, name: str, share: float, size: float, weights: np.ndarray, sets: Any) -> None:
        cells = []
        for postings, at in sets.values():
            measured = evaluate(postings, weights[at].astype(np.float32)).mean(axis=0)
            cells.append(", ".join(f"{measured[MEASURES.index(m)]:.3f}" for m in SHOWN))
        print(f"| {name} | {share:.1%} | {size / 1e6:.1f} | {' | '.join(cells)} |", flush=True)


def estimated_bytes(matrix: TermDocumentMatrix) -> int:
    """Of posting lists and dictionary."""
    plain = plain_collection(matrix)
    terms = matrix.vocabulary.terms
    dictionary = estimate_dictionary_bytes(terms, plain.statistics)
    return estimate_posting_bytes(matrix, plain) + dictionary


class Peer:
    """A peer's order of postings, and what is left of bytes along it."""

    def __init__(self, matrix: TermDocumentMatrix, values: np.ndarray) -> None:
        self._matrix, self._order = matrix, largest_first(values)

    def weights(self, share: float) -> np.ndarray:
        """Return int32[nnz]: 0 where the posting is dropped."""
        left = self._order[: round((1 - share) * len(self._order))]
        weights = np.zeros_like(self._matrix.data)
        weights[left] = self._matrix.data[left]
        return weights

    def bytes_at(self, share: float) -> int:
        return estimated_bytes(as_impacts(self._matrix, self.weights(share)))

    def shares_of(self, sizes: list[int]) -> np.ndarray:
        """Return the shares to drop that leave these bytes."""
        known = [self.bytes_at(share) for share in _SIZED]
        found: np.ndarray = np.interp(sizes, known[::-1], _SIZED[::-1])
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("matrix", type=Path)
    parser.add_argument("collection", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--pruned", nargs="+", type=Path, default=[])
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--documents", type=int, help="so many at random, and all judged ones")
    parser.add_argument("--queries", type=int, default=300, help="at most so many of a set")
    args = parser.parse_args()
    matrix = load_matrix(args.matrix)
    weights = np.load(args.weights) if args.weights else bm25_weights(matrix)
    if args.documents:
        some = sample(matrix, args.collection, args.sets, args.documents)
        weights = np.where(np.isin(matrix.indices, some), weights, 0)
    matrix = as_impacts(matrix, weights)
    sets, table = Sets(args.collection, args.sets, args.queries), Table(args.sets)
    table.show("full", 0, estimated_bytes(matrix), matrix.data, sets.of(matrix))
    sizes = []
    for pruned in args.pruned:
        with open_matrix(pruned, positions=False) as left:
            sizes.append(estimated_bytes(left))
            share = 1 - left.postings / matrix.postings
            table.show(f"ours: {pruned.name}", share, sizes[-1], left.data, sets.of(left))
    postings, of_full = Postings(matrix), sets.of(matrix)
    for name in args.methods:
        if name == OURS and sizes:
            continue
        peer = Peer(matrix, METHODS[name](postings))
        for share in peer.shares_of(sizes) if sizes else SHARES:
            table.show(name, share, peer.bytes_at(share), peer.weights(share), of_full)


if __name__ == "__main__":
    main()
