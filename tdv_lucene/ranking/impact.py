"""Impact scores: frequencies that are weights, in queries and documents, multiplied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .function import Array, Parameter, Parameters, RankingFunction, Statistics


@dataclass(frozen=True)
class Impact:
    """Anserini's ``ImpactSimilarity``, ``tdvlucene.search.ImpactSimilarity``: tf, and nothing else.

    A searcher leaves out terms whose ln(N / df) is not above ``min_idf``, which here, by default,
    are those of all documents. This formula scores them: it ranks as if none were asked for.
    """

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        del doc_len, statistics  # the weights hold all of it
        return tf


class ImpactFunction(RankingFunction):
    """See :class:`Impact`."""

    name = "impact"
    title = "impact scoring"
    takes = (
        Parameter(
            "min_idf", "Pyserini's min_idf", 0.0, 0.0, "at least -1", lambda least: least >= -1,
            grid=(0.0,),
            help="Ignore query terms whose ln(N / df) is not above this, as Pyserini's impact "
            "searcher does. -1 keeps all."
        ),
    )  # fmt: skip
    java_class = "tdvlucene.search.ImpactSimilarity"
    of_weights = True
    has_idf = False

    def similarity(self, parameters: Parameters, scale: float | None = None) -> Impact:
        return Impact()

    def flags(self, values: Mapping[str, float]) -> tuple[str, str]:
        least = f"{values['min_idf']:g}"
        searcher = f"LuceneImpactSearcher(..., min_idf={least})"
        return f"--impact --min-idf {least}    {searcher}", "-impact"
