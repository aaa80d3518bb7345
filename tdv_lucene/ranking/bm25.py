"""BM25, as Lucene's ``BM25Similarity`` has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .function import Array, Parameter, Parameters, RankingFunction, Statistics

LEAST_K1 = 0.1
"""In place of a smaller k1, with which no frequency would count for more than another."""


def bm25_idf(doc_freq: Array, doc_count: Array, xp: Any = None) -> Array:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), by the array namespace ``xp``."""
    xp = xp or doc_freq.__array_namespace__()
    return xp.log1p((doc_count - doc_freq + 0.5) / (doc_freq + 0.5))


@dataclass(frozen=True)
class Bm25:
    """Lucene's ``BM25Similarity``: the factor (k1 + 1) of the paper's eq. (5) is left out.

    The score is idf * tf / (tf + k1 * (1 - b + b * |d| / avgdl)), idf being :func:`bm25_idf`, with
    S' in place of tf everywhere (the paper prints S in one place of its eq. (10), which would make
    the score unbounded in tdv).
    Lucene passes |d| through one byte; the difference is bounded by a test.
    """

    k1: float = 0.9
    b: float = 0.4

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        idf = bm25_idf(statistics.doc_freq, statistics.doc_count, xp)
        length_norm = 1 - self.b + self.b * doc_len / statistics.avg_doc_len
        divisor = tf + self.k1 * length_norm
        # 0 only where tf is 0 as well (k1 = 0, or b = 1 and an empty document): a score of 0.
        return idf * tf / xp.where(divisor > 0, divisor, xp.ones_like(divisor))


class Bm25Function(RankingFunction):
    """See :class:`Bm25`."""

    name = "bm25"
    title = "BM25"
    takes = (
        Parameter(
            "k1", "BM25's k1", 0.9, 1.2, "at least 0", lambda k1: k1 >= 0,
            grid=(0.5, 0.9, 1.2, 1.6, 2.0, 3.0, 4.5), scaled=True
        ),
        Parameter(
            "b", "BM25's b", 0.4, 0.75, "from 0 to 1", lambda b: 0 <= b <= 1,
            grid=(0.2, 0.4, 0.6, 0.8), width=0.2, linear=True
        ),
    )  # fmt: skip
    held_by = "norms"
    java_class = "org.apache.lucene.search.similarities.BM25Similarity"

    def similarity(self, parameters: Parameters, scale: float | None = None) -> Bm25:
        return Bm25(parameters.k1 * (scale or 1), parameters.b)

    def corrected(self, share: Array, mean_tf: Array, k1: float) -> Array:
        """Through the saturation of the mean frequency, in a document of average length."""
        xp = share.__array_namespace__()
        odds = xp.maximum(mean_tf, 1) / max(k1, LEAST_K1)
        wanted = share * odds / (1 + odds)
        return wanted / (odds * (1 - wanted))

    def held(self, parameters: Parameters, scale: float) -> tuple[float, float]:
        return parameters.k1 * scale, parameters.b

    def flags(self, values: Mapping[str, float]) -> tuple[str, str]:
        k1, b = (f"{values[name]:g}" for name in self.parameters)
        return (
            f"--bm25 --k1 {k1} --b {b}    set_bm25({k1}, {b})",
            f"-bm25 -bm25.k1 {k1} -bm25.b {b}",
        )
