"""A random collection with a signal to learn: arrays only, no index and no Java."""

from __future__ import annotations

import numpy as np

from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix, norm_bytes
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

TOPIC_WORDS, NOISE_WORDS = 60, 40


def make_matrix(dense: np.ndarray, field: str = "contents") -> TermDocumentMatrix:
    """Return the matrix of a dense (terms, documents) array without empty rows."""
    terms = [f"t{i:03d}".encode() for i in range(len(dense))]
    rows, docs = np.nonzero(dense)
    doc_freq = np.bincount(rows, minlength=len(dense))
    doc_len = dense.sum(axis=0).astype(np.int64)
    return TermDocumentMatrix(
        vocabulary=Vocabulary(field, ByteStrings.of(terms)),
        doc_ids=ByteStrings.of([f"d{i}".encode() for i in range(dense.shape[1])]),
        indptr=np.concatenate([[0], np.cumsum(doc_freq)]),
        indices=docs.astype(np.int32),
        data=dense[rows, docs].astype(np.int32),
        doc_freq=doc_freq.astype(np.int64),
        total_term_freq=dense.sum(axis=1).astype(np.int64),
        doc_len=doc_len,
        norms=norm_bytes(doc_len).astype(np.int64),
        source={"path": "nowhere", "commit": "test"},
    )


def make_collection(documents: int = 240, queries: int = 40, seed: int = 0):
    """Return (matrix, topics, qrels) where only the first TOPIC_WORDS terms say what is relevant.

    A document repeats the three words of its subject; the other words are noise that queries
    also hold, so that learning to ignore noise ranks better.
    """
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.8, (TOPIC_WORDS + NOISE_WORDS, documents))
    dense[:TOPIC_WORDS] *= rng.random((TOPIC_WORDS, documents)) < 0.15
    dense[TOPIC_WORDS:] *= 3  # noise comes in bursts, as loud as a subject
    subjects = rng.integers(0, TOPIC_WORDS - 3, documents)
    for doc, subject in enumerate(subjects):
        dense[subject : subject + 3, doc] += 1
    dense[np.arange(len(dense)), np.arange(len(dense))] += 1
    topics, qrels = {}, {}
    for number, subject in enumerate(rng.permutation(np.unique(subjects))[:queries]):
        noise = TOPIC_WORDS + rng.integers(0, NOISE_WORDS, 4)
        words = [subject, subject + 1, *noise]
        topics[f"q{number}"] = [f"t{word:03d}" for word in words]
        relevant = np.flatnonzero(subjects == subject)
        others = rng.choice(np.flatnonzero(subjects != subject), 5, replace=False)
        qrels[f"q{number}"] = {f"d{d}": 1 for d in relevant} | {f"d{d}": 0 for d in others}
    return make_matrix(dense), topics, qrels


def make_run(seed: int, tied: bool = False):
    """Return (topics, qrels, run): qrels with holes, junk (-1) and unjudged topics; the run misses
    some queries, and ids look like numbers."""
    rng = np.random.default_rng(seed)
    documents = np.arange(60).astype(str)
    topics = {f"{i:02}": "text" for i in range(30)}
    qrels, run = {"not-asked": {"1": 1}}, {}
    for query in topics:
        judged = rng.choice(documents, 12, replace=False).tolist()
        grades = rng.choice([-1, 0, 1, 2, 4], 12, p=[0.1, 0.5, 0.2, 0.1, 0.1])
        qrels[query] = dict(zip(judged, grades.tolist()))
        if rng.random() < 0.8:
            found = rng.choice(documents, rng.integers(1, 50), replace=False).tolist()
            scores = rng.integers(0, 8, len(found)) if tied else rng.permutation(len(found))
            run[query] = dict(zip(found, scores.astype(float).tolist()))
    del qrels["07"]
    return topics, qrels, run


def weights_matrix(between: float, documents: int, held: float = 1.0):
    """Weights of 40 terms, which explain about a share of the variance; the first term is in a
    share ``held`` of the documents, the last in all."""
    random = np.random.default_rng(5)
    terms, rest = random.normal(size=(40, 1)), random.normal(size=(40, documents))
    dense = 400 + 100 * (between**0.5 * terms + (1 - between) ** 0.5 * rest)
    there = random.random(dense.shape) < np.linspace(held, 1, 40)[:, None]
    return make_matrix(np.where(there, np.maximum(dense.round(), 1), 0).astype(int))
