"""Query likelihood with Dirichlet smoothing, as Lucene's ``LMDirichletSimilarity`` has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .function import Array, Parameter, Parameters, RankingFunction, Statistics


@dataclass(frozen=True)
class Dirichlet:
    """Lucene's ``LMDirichletSimilarity``: max(0, ln(1 + tf / (mu p)) + ln(mu / (|d| + mu))).

    p = (cf + 1) / (tokens + 1), Lucene's ``DefaultCollectionModel``. The paper's eq. (6) adds
    |q| ln(alpha_d) whether or not a term matches; Lucene adds ln(alpha_d) per matching term and
    never lets a term count below zero.
    """

    mu: float = 1000.0

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        p = (statistics.total_term_freq + 1) / (statistics.total_tokens + 1)
        score = xp.log1p(tf / (self.mu * p)) - xp.log1p(doc_len / self.mu)
        # Without the term the first logarithm is 0 and the second is not negative: the clip
        # that Lucene applies to a low score also gives an absent term its zero.
        return xp.maximum(score, xp.zeros_like(score))


class QueryLikelihood(RankingFunction):
    """See :class:`Dirichlet`."""

    name = "qld"
    title = "query likelihood"
    takes = (
        Parameter(
            "mu", "QLD's mu", 1000.0, 2000.0, "above 0", lambda mu: mu > 0,
            grid=(25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0), scaled=True
        ),
    )  # fmt: skip
    held_by = "scale"
    java_class = "org.apache.lucene.search.similarities.LMDirichletSimilarity"
    has_idf = False

    def similarity(self, parameters: Parameters, scale: float | None = None) -> Dirichlet:
        return Dirichlet(parameters.mu * (scale or 1))

    def flags(self, values: Mapping[str, float]) -> tuple[str, str]:
        mu = f"{values['mu']:g}"
        return f"--qld --mu {mu}    set_qld({mu})", f"-qld -qld.mu {mu}"
