"""Re-ranking of a run: its first documents by a re-ranker's scores, the others after them."""

from __future__ import annotations

import time
import timeit
from collections.abc import Mapping
from functools import partial

import jax
import numpy as np

from ...evaluation.runs import read_run
from ...interruption import check, deferred
from ...simulation.retrieval import find_documents
from ..experiment import ROUNDS, Experiment, measure
from . import RANKERS
from .rankers import NeuralConfig, Ranker, score
from .training import Reader, judged_training, train

CHUNK = 64  # documents at once: with twice as many Conv-KNRM takes twice the time, for fresh memory

Ranked = list[tuple[str, float]]
"""Document ids with their scores, best first."""


def rerank(
    found: list[str], query: np.ndarray, ranker: Ranker, reader: Reader,
    numbers: Mapping[str, int], depth: int,
) -> Ranked:  # fmt: skip
    """Return the documents that the first stage ``found`` for a query int32[L] of terms.

    Documents after the first ``depth``, which have ``numbers``, follow in their order, each a
    little below the one before. Equal scores keep the first stage's order, and the lower one gets
    the next smaller float32, so that no tool orders them otherwise.
    """
    head, tail = found[:depth], found[depth:]
    if not head:
        return []
    documents = np.array([numbers[name] for name in head], np.int64)
    scores = score_documents(ranker, reader, query, documents)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    for i in range(1, len(scores)):
        if scores[i] >= scores[i - 1]:
            scores[i] = np.nextafter(scores[i - 1], np.float32(-np.inf))
    ranked = list(zip((head[i] for i in order), scores.tolist()))
    last = ranked[-1][1]
    return ranked + [(name, last - 1.0 - place) for place, name in enumerate(tail)]


def score_documents(
    ranker: Ranker, reader: Reader, query: np.ndarray, documents: np.ndarray
) -> np.ndarray:
    """Return float32[n]: scores of ``documents`` int[n] for a query int32[L] of term numbers.

    Documents of about the same length share a chunk, for little padding. A document's score depends
    on neither the others nor their order.
    """
    lengths = reader.lengths(documents)
    order = np.argsort(lengths, kind="stable")
    scores = np.zeros(len(documents), np.float32)
    for first in range(0, len(order), CHUNK):
        check()
        chunk = order[first : first + CHUNK]
        docs = np.full((1, CHUNK), -1, np.int64)
        docs[0, : len(chunk)] = documents[chunk]
        batch = reader.batch(query[None], docs, reader.width(int(lengths[chunk[-1]])))
        scores[chunk] = np.asarray(score(ranker, batch))[0, : len(chunk)]
    return scores


def run_ranker(experiment: Experiment, name: str) -> dict[str, np.ndarray]:
    """Train a re-ranker fold by fold and re-rank BM25's run of the full index, as TDV-BM25 is made.

    Writes the run and returns ``nDCG@5`` and ``R@1000`` float64[Q] in the order of the folds,
    ``ms`` float64[n], the median milliseconds of the n queries timed, ``epochs`` int64[folds] and
    ``parameters`` int64[1].
    """
    frame = read_run(experiment.baseline("bm25"))
    frame = frame.sort_values("score", ascending=False, kind="stable")
    grouped = frame.groupby("query", sort=False)["docid"]
    first = {query: doc_ids.tolist() for query, doc_ids in grouped}
    config, depth = experiment.config, experiment.config.rerank_depth
    wanted = {name for found in first.values() for name in found[:depth]}
    documents = find_documents(experiment.matrix, wanted)
    ranked: dict[str, Ranked] = {}
    milliseconds: list[float] = []
    epochs, size = [], 0
    for fold in experiment.queries.folds:
        inputs = experiment.matrix, experiment.vectors, NeuralConfig()
        training = judged_training(*inputs, *experiment.judged(fold.training))
        trained = train(name, training, config.seed, experiment.progress)
        epochs.append(trained.epoch)
        size = sum(leaf.size for leaf in jax.tree.leaves(trained.ranker))
        terms = training.reader.queries({q: experiment.tokens[q] for q in fold.held_out})
        how = trained.ranker, training.reader, documents, depth
        work = {
            query: partial(rerank, first.get(query, []), of_query, *how)
            for query, of_query in zip(fold.held_out, terms)
        }
        with deferred():  # JAX's callbacks tolerate no exception
            for number, query in enumerate(work, 1):
                ranked[query] = work[query]()
                label = f"re-rank by {RANKERS[name]}, queries"
                experiment.progress(label, number, len(work))
            # As many as time allows, at least one: all is compiled by now.
            begun, order = time.perf_counter(), np.random.default_rng(config.seed)
            for query in order.permutation(list(work)).tolist():
                rounds = timeit.repeat(work[query], number=1, repeat=ROUNDS)
                milliseconds.append(1e3 * float(np.median(rounds)))
                if time.perf_counter() - begun > config.latency_budget_seconds:
                    break
    run = experiment.folder / f"{name}.run"
    lines = (
        f"{query} Q0 {doc} {rank} {score!r} tdv-lucene-{name}\n"  # with every digit
        for query, documents in ranked.items()
        for rank, (doc, score) in enumerate(documents, 1)
    )
    run.write_text("".join(lines), encoding="utf-8")
    measured, qrels = experiment.queries.measured, experiment.queries.qrels
    topics = {q: measured[q] for fold in experiment.queries.folds for q in fold.held_out}
    return {
        **measure(run, topics, qrels),
        "ms": np.array(milliseconds),
        "epochs": np.array(epochs),
        "parameters": np.array([size]),
    }
