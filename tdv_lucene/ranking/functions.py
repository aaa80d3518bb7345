"""Ranking functions: each one's formula, parameters and Java class, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from ..errors import TdvError

Array = Any
"""A NumPy or JAX array: formulas accept both and return what they were given."""
LEAST_K1 = 0.1
"""In place of a smaller k1, with which no frequency would count for more than another."""


class Statistics(NamedTuple):
    """Collection statistics after the term values have been applied."""

    # float[...]: documents with the term. A positive term value does not change it.
    doc_freq: Array
    total_term_freq: Array  # float[...]: sum over the collection of S' of the term
    doc_count: Array  # float[]: documents with at least one term (Lucene's N)
    total_tokens: Array  # float[]: sum of S'

    @property
    def avg_doc_len(self) -> Array:
        """avgdl'."""
        return self.total_tokens / self.doc_count

    def at(self, terms: Array) -> Statistics:
        """Return the statistics of some terms (any index NumPy understands)."""
        return self._replace(
            doc_freq=self.doc_freq[terms], total_term_freq=self.total_term_freq[terms]
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a ranking function; options, checks, tuning and records derive from it."""

    name: str  # In manifests, records and, as an option, on the command line
    title: str  # For people
    # anserini, lucene: Defaults of searchers: Anserini's and Pyserini's; Lucene's, and of what is
    # built on it
    anserini: float
    lucene: float
    # legal, holds: Its legal values in words, and whether a finite number is one
    legal: str
    holds: Callable[[float], bool]
    grid: tuple[float, ...]  # Values that tuning tries, besides an index's own
    # Whether it grows with the scale of frequencies, so that the ranking stays
    scaled: bool = False
    # width, linear: Its typical difference between collections: as it is, or of its logarithm
    width: float = 0.5
    linear: bool = False
    help: str = ""  # Of its option, verb first; by default to set it

    @property
    def is_tuned(self) -> bool:
        """True if there is anything to choose."""
        return len(self.grid) > 1


class Parameters(Protocol):
    """The parameters as attributes, as :class:`.parameters.SearchParameters` has them."""

    def __getattr__(self, name: str) -> float: ...


class RankingFunction:
    """A ranking function; an object of its class has the parameters as fields.

    To add one, write its class here, a dataclass of its parameters, and name it in ``_FUNCTIONS``.
    Its constants of learning and pruning, if it needs others, are in :mod:`..values.posting_rule`.
    """

    name: ClassVar[str]  # in commands, manifests and records
    title: ClassVar[str]  # for people
    takes: ClassVar[tuple[Parameter, ...]] = ()  # in the order of fields and Java's constructor
    # "norms", "scale" or None: the part of an index that can hold the parameters for a searcher
    # with other ones, see :mod:`..pruning.targets`
    held_by: ClassVar[str | None] = None
    java_class: ClassVar[str]  # Lucene's ``Similarity``, or ours
    has_idf: ClassVar[bool] = True  # whether a term that loses postings counts for more
    of_weights: ClassVar[bool] = False  # whether it is for impact indexes; no other is

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        """Score a term in a document: float[...], the broadcast shape of the arguments.

        A document's score is the sum over query terms of ``query_tf * term_scores``. The formula is
        written once, with operators and the array namespace of its input: JAX arrays in training,
        NumPy arrays in retrieval. Lucene's ``Similarity`` computes the same (``tests/parity``).
        """
        raise NotImplementedError

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of those it takes, in that order."""
        return tuple(each.name for each in self.takes)

    def similarity(self, parameters: Parameters, scale: float | None = None) -> RankingFunction:
        """Return the function with these parameters, for frequencies times ``scale``, which it
        ranks as it did unscaled."""
        numbers = ((getattr(parameters, each.name), each.scaled) for each in self.takes)
        return type(self)(*(x * (scale or 1) if scaled else x for x, scaled in numbers))

    def corrected(self, share: Array, mean_tf: Array, k1: float) -> Array:
        """Return float64[V], at most 1: the factors of TDVs that undo a larger idf.

        A posting of the mean frequency ``mean_tf`` float64[V] of those left then scores what it
        scored before. ``share`` float64[V] is the idf before over the idf after.
        """
        return share

    def held(self, parameters: Parameters, scale: float) -> tuple[float, float] | None:
        """Return the k1 and b that norms can hold at a scale; None if norms are lengths."""
        return None

    def flags(self, values: Mapping[str, float]) -> tuple[str, str] | None:
        """Return the flags for Pyserini and for Anserini; None if neither has the function."""
        return None


def bm25_idf(doc_freq: Array, doc_count: Array, xp: Any = None) -> Array:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), by the array namespace ``xp``."""
    xp = xp or doc_freq.__array_namespace__()
    return xp.log1p((doc_count - doc_freq + 0.5) / (doc_freq + 0.5))


@dataclass(frozen=True)
class Bm25(RankingFunction):
    """Lucene's ``BM25Similarity``: idf * tf / (tf + k1 * (1 - b + b * |d| / avgdl)).

    The factor (k1 + 1) of the paper's eq. (5) is left out, and S' stands in place of tf everywhere
    (the paper prints S in one place of its eq. (10), which would make the score unbounded in tdv).
    Lucene passes |d| through one byte; the difference is bounded by a test.
    """

    k1: float = 0.9
    b: float = 0.4

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

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        idf = bm25_idf(statistics.doc_freq, statistics.doc_count, xp)
        length_norm = 1 - self.b + self.b * doc_len / statistics.avg_doc_len
        divisor = tf + self.k1 * length_norm
        # 0 only where tf is 0 as well (k1 = 0, or b = 1 and an empty document): a score of 0.
        return idf * tf / xp.where(divisor > 0, divisor, xp.ones_like(divisor))

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


@dataclass(frozen=True)
class Dirichlet(RankingFunction):
    """Lucene's ``LMDirichletSimilarity``: max(0, ln(1 + tf / (mu p)) + ln(mu / (|d| + mu))).

    p = (cf + 1) / (tokens + 1), Lucene's ``DefaultCollectionModel``. The paper's eq. (6) adds
    |q| ln(alpha_d) whether or not a term matches; Lucene adds ln(alpha_d) per matching term and
    never lets a term count below zero.
    """

    mu: float = 1000.0

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

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        p = (statistics.total_term_freq + 1) / (statistics.total_tokens + 1)
        score = xp.log1p(tf / (self.mu * p)) - xp.log1p(doc_len / self.mu)
        # Without the term the first logarithm is 0 and the second is not negative: the clip
        # that Lucene applies to a low score also gives an absent term its zero.
        return xp.maximum(score, xp.zeros_like(score))

    def flags(self, values: Mapping[str, float]) -> tuple[str, str]:
        mu = f"{values['mu']:g}"
        return f"--qld --mu {mu}    set_qld({mu})", f"-qld -qld.mu {mu}"


@dataclass(frozen=True)
class TfIdf(RankingFunction):
    """The paper's eq. (1)-(2), ``tdvlucene.search.TfIdfSimilarity``: tf * ln((N + 1) / df).

    Neither Lucene nor Anserini has it.
    """

    name = "tfidf"
    title = "TF-IDF"
    java_class = "tdvlucene.search.TfIdfSimilarity"

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        del doc_len  # no length normalisation in the paper's TF-IDF
        xp = tf.__array_namespace__()
        return tf * xp.log((statistics.doc_count + 1) / statistics.doc_freq)


@dataclass(frozen=True)
class Impact(RankingFunction):
    """Anserini's ``ImpactSimilarity``, ``tdvlucene.search.ImpactSimilarity``: tf, and nothing else.

    A searcher leaves out terms whose ln(N / df) is not above ``min_idf``, which here, by default,
    are those of all documents. This formula scores them: it ranks as if none were asked for.
    """

    min_idf: float = 0.0

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

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        del doc_len, statistics  # the weights hold all of it
        return tf

    def flags(self, values: Mapping[str, float]) -> tuple[str, str]:
        least = f"{values['min_idf']:g}"
        searcher = f"LuceneImpactSearcher(..., min_idf={least})"
        return f"--impact --min-idf {least}    {searcher}", "-impact"


_FUNCTIONS: dict[str, RankingFunction] = {
    function.name: function for function in (Bm25(), Dirichlet(), TfIdf(), Impact())
}
MODELS = {name: function.parameters for name, function in _FUNCTIONS.items()}
"""Ranking functions and the parameters each of them has."""
DEFAULT_MODEL = Bm25.name
"""Default for frequencies that count words."""
ANY_MODEL = "any"
"""The model of values that suit any."""
PARAMETERS = {each.name: each for function in _FUNCTIONS.values() for each in function.takes}
"""The parameters of ranking functions, by name."""
ANSERINI_DEFAULTS = {name: each.anserini for name, each in PARAMETERS.items()}
NAMED_DEFAULTS: dict[str, dict[str, float]] = {
    "anserini": ANSERINI_DEFAULTS,
    "lucene": {name: each.lucene for name, each in PARAMETERS.items()},
}
"""Defaults of searchers. Lucene's are also those of Solr, Elasticsearch and OpenSearch."""
GRIDS = {name: {each.name: each.grid for each in of.takes} for name, of in _FUNCTIONS.items()}
"""Values that tuning tries besides an index's own, by model."""


def at_scale(parameters: Mapping[str, float], scale: float) -> dict[str, float]:
    """Return the parameters that rank frequencies times ``scale`` as these rank them unscaled."""
    return {n: x * scale if PARAMETERS[n].scaled else x for n, x in parameters.items()}


def ranking_function(model: str) -> RankingFunction:
    """Return the ranking function ``model``; raise :class:`TdvError` when there is none."""
    if model not in MODELS:
        raise TdvError(f"no such model: '{model}'; choose one of {', '.join(MODELS)}")
    return _FUNCTIONS[model]


def model_for(weights: bool | None, asked: str | None, what: str) -> str:
    """Return the ranking function ``asked`` for, by default the one that suits a field.

    ``weights`` says whether the field's frequencies are weights, None if unknown; ``what`` is the
    field in words.

    Raises :class:`TdvError` when there is no such function, or it would rank the field wrongly.
    """
    model = asked or next(m for m, f in _FUNCTIONS.items() if f.of_weights is (weights is True))
    if weights is None or ranking_function(model).of_weights == weights:
        return model
    if weights:
        raise TdvError(
            f"{what} is of an impact index (its norms are all 1): its frequencies are weights. "
            f"model {model} would rank them wrongly: leave it out"
        )
    raise TdvError(
        f"{what} is of no impact index (its norms tell lengths): its frequencies count words, and "
        f"model {model} ranks by weights; leave it out, or make an impact index"
    )
