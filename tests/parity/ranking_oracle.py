"""Ranking functions written a second time, with loops, from Lucene's sources and the paper.

Nothing here imports the package: these are what its code is held against.
"""

from __future__ import annotations

import math

import numpy as np


def lucene_statistics(tf: np.ndarray) -> dict[str, np.ndarray]:
    """Statistics of a dense (terms, documents) array of frequencies."""
    return {
        "doc_freq": (tf > 0).sum(axis=1),
        "total_term_freq": tf.sum(axis=1),
        "doc_count": int((tf.sum(axis=0) > 0).sum()),
        "tokens": tf.sum(),
    }


def bm25(tf: np.ndarray, query: dict[int, int], doc: int, k1: float, b: float) -> float:
    """Lucene 9 ``BM25Similarity``."""
    s = lucene_statistics(tf)
    average = s["tokens"] / s["doc_count"]
    length = tf[:, doc].sum()
    score = 0.0
    for term, boost in query.items():
        n, df = s["doc_count"], s["doc_freq"][term]
        idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
        norm_inverse = 1 / (k1 * ((1 - b) + b * length / average))
        freq = tf[term, doc]
        score += boost * (idf - idf / (1 + freq * norm_inverse))
    return score


def dirichlet(tf: np.ndarray, query: dict[int, int], doc: int, mu: float) -> float:
    """Lucene 9 ``LMDirichletSimilarity`` with ``DefaultCollectionModel``."""
    s = lucene_statistics(tf)
    length = tf[:, doc].sum()
    score = 0.0
    for term, boost in query.items():
        if tf[term, doc] == 0:
            continue
        probability = (s["total_term_freq"][term] + 1) / (s["tokens"] + 1)
        value = math.log(1 + tf[term, doc] / (mu * probability)) + math.log(mu / (length + mu))
        score += boost * max(value, 0.0)
    return score


def tf_idf(tf: np.ndarray, query: dict[int, int], doc: int) -> float:
    """Eq. (1) and (2) of the paper."""
    s = lucene_statistics(tf)
    return sum(
        boost * tf[term, doc] * math.log((s["doc_count"] + 1) / s["doc_freq"][term])
        for term, boost in query.items()
    )


def paper_score(
    model: str, tf: np.ndarray, query: dict[int, int], doc: int, **parameters: float
) -> float:
    """Eq. (9) to (11) over a half batch: ``tf`` holds S' of its documents only."""
    l1 = tf.sum(axis=1)
    lengths = tf.sum(axis=0)
    score = 0.0
    for term, count in query.items():
        idf = math.log((l1.max() + 1) / (l1[term] + 1))
        s = tf[term, doc]
        if model == "tfidf":
            value = s * idf
        elif model == "bm25":
            k1, b = parameters["k1"], parameters["b"]
            value = idf * s * (k1 + 1) / (s + k1 * (1 - b + b * lengths[doc] / lengths.mean()))
        else:
            mu = parameters["mu"]
            value = math.log(1 + s / (1 + mu * l1[term] / l1.sum()))
            value += math.log(mu / (lengths[doc] + mu))
        score += count * value
    return score


def finite_differences(function, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Return central differences of a scalar ``function`` at ``x`` float64[n]."""
    gradient = np.empty_like(x)
    for i in range(len(x)):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        gradient[i] = (float(function(ahead)) - float(function(behind))) / (2 * step)
    return gradient
