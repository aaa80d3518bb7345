"""A re-ranker in the paper's experiment: trained and measured fold by fold, as TDV-BM25 is."""

from __future__ import annotations

import time
import timeit
from functools import partial

import numpy as np

from ...interruption import deferred
from ..experiment import ROUNDS, Experiment
from ..measures import measure
from .config import NeuralConfig
from .rankers import count_parameters
from .runs import Ranked, Reranking, format_run, number_documents, read_rankings
from .training import judged_training, train


def run_ranker(experiment: Experiment, name: str) -> dict[str, np.ndarray]:
    """Re-rank BM25's run of the full index; write it and return what was measured.

    Returns ``nDCG@5`` and ``R@1000`` float64[Q] in the order of the folds, ``ms`` float64[n] of
    the n queries timed, ``epochs`` int64[folds] and ``parameters`` int64[1].
    """
    first = read_rankings(str(experiment.baseline("bm25")))
    depth = experiment.config.rerank_depth
    documents = number_documents(experiment.matrix, first.values(), depth)
    ranked: dict[str, Ranked] = {}
    milliseconds, epochs, size = [], [], 0
    for fold in experiment.queries.folds:
        judged = experiment.judged(fold.training)
        training = judged_training(experiment.matrix, experiment.vectors, NeuralConfig(), *judged)
        reader = training.reader
        trained = train(name, training, experiment.config.seed, experiment.progress)
        epochs.append(trained.epoch)
        size = count_parameters(trained.ranker)
        terms = reader.queries({q: experiment.tokens[q] for q in fold.held_out})
        asked = dict(zip(fold.held_out, terms))
        work = Reranking(trained.ranker, reader, asked, first, documents, depth)
        ranked |= work.of_all(name, experiment.progress)
        with deferred():
            milliseconds.append(_time(work, experiment))
    run = experiment.folder / f"{name}.run"
    run.write_text(format_run(ranked, f"tdv-lucene-{name}"), encoding="utf-8")
    measured_queries, qrels = experiment.queries.measured, experiment.queries.qrels
    topics = {q: measured_queries[q] for fold in experiment.queries.folds for q in fold.held_out}
    return {
        **measure(run, topics, qrels),
        "ms": np.concatenate(milliseconds),
        "epochs": np.array(epochs),
        "parameters": np.array([size]),
    }


def _time(work: Reranking, experiment: Experiment) -> np.ndarray:
    """Return float64[n] milliseconds of re-ranking, the median of rounds, of as many queries as
    the experiment has time for, at least one; each was re-ranked before, so all is compiled.
    """
    rng = np.random.default_rng(experiment.config.seed)
    order = [list(work.asked)[i] for i in rng.permutation(len(work.asked))]
    begun, timed = time.perf_counter(), []
    for query in order:
        rounds = timeit.repeat(partial(work.of, query), number=1, repeat=ROUNDS)
        timed.append(1e3 * float(np.median(rounds)))
        if time.perf_counter() - begun > experiment.config.latency_budget_seconds:
            break
    return np.array(timed)
