"""The paper's TF-IDF, which neither Lucene nor Anserini has."""

from __future__ import annotations

from dataclasses import dataclass

from .function import Array, Parameters, RankingFunction, Statistics


@dataclass(frozen=True)
class TfIdf:
    """The paper's eq. (1)-(2), ``tdvlucene.search.TfIdfSimilarity``: tf * ln((N + 1) / df)."""

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        del doc_len  # no length normalisation in the paper's TF-IDF
        xp = tf.__array_namespace__()
        return tf * xp.log((statistics.doc_count + 1) / statistics.doc_freq)


class TfIdfFunction(RankingFunction):
    """See :class:`TfIdf`."""

    name = "tfidf"
    title = "TF-IDF"
    java_class = "tdvlucene.search.TfIdfSimilarity"

    def similarity(self, parameters: Parameters, scale: float | None = None) -> TfIdf:
        return TfIdf()
