"""The interface of ranking functions: formula, parameters, Java class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

Array = Any
"""A NumPy or JAX array: formulas accept both and return what they were given."""


class Statistics(NamedTuple):
    """Collection statistics after the term values have been applied.

    Attributes
    ----------
    doc_freq : float[...]
        Documents with the term. A positive term value does not change it.
    total_term_freq : float[...]
        Sum over the collection of S' of the term.
    doc_count : float[]
        Documents with at least one term (Lucene's N).
    total_tokens : float[]
        Sum of S'.
    """

    doc_freq: Array
    total_term_freq: Array
    doc_count: Array
    total_tokens: Array

    @property
    def avg_doc_len(self) -> Array:
        """avgdl'."""
        return self.total_tokens / self.doc_count

    def at(self, terms: Array) -> Statistics:
        """Statistics of the given terms only (any index NumPy understands)."""
        return self._replace(
            doc_freq=self.doc_freq[terms], total_term_freq=self.total_term_freq[terms]
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a ranking function; options, checks, tuning and records derive from it.

    Attributes
    ----------
    name
        In manifests, records and, as an option, on the command line.
    title
        For people.
    anserini, lucene
        Defaults of searchers: Anserini's and Pyserini's; Lucene's, and of what is built on it.
    legal, holds
        Its legal values in words, and whether a finite number is one.
    grid
        Values that tuning tries, besides an index's own.
    scaled
        Whether it grows with the scale of frequencies, so that the ranking stays.
    width, linear
        Its typical difference between collections: as it is, or of its logarithm.
    help
        Of its option, verb first; by default to set it.
    """

    name: str
    title: str
    anserini: float
    lucene: float
    legal: str
    holds: Callable[[float], bool]
    grid: tuple[float, ...]
    scaled: bool = False
    width: float = 0.5
    linear: bool = False
    help: str = ""

    @property
    def is_tuned(self) -> bool:
        """True if there is anything to choose."""
        return len(self.grid) > 1


class Parameters(Protocol):
    """The parameters as attributes, as :class:`.parameters.SearchParameters` has them."""

    def __getattr__(self, name: str) -> float: ...


class Similarity(Protocol):
    """A formula with its parameters, as the sum over query terms of ``query_tf * term_scores``.

    Each is written once, with operators and the array namespace of its input: JAX arrays in
    training, NumPy arrays in retrieval. Lucene's ``Similarity`` computes the same
    (``tests/parity``).
    """

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        """Score of a term in a document: float[...], the broadcast shape of the arguments."""
        ...


class RankingFunction(ABC):
    """A ranking function. To add one, write its file and name it in :mod:`.registry`.

    What learning and pruning choose differently for it is in :mod:`..values.posting_rule`.

    Attributes
    ----------
    name : str
        In commands, manifests and records.
    title : str
        For people.
    takes : tuple of Parameter
        In the order of the Java constructor.
    held_by : "norms", "scale" or None
        The part of an index that can hold the parameters for a searcher with other ones (see
        :mod:`..pruning.targets`).
    java_class : str
        Lucene's ``Similarity``, or ours.
    has_idf : bool
        Whether a term that loses postings counts for more.
    of_weights : bool
        Whether it is for impact indexes, whose frequencies are weights; no other is.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    takes: ClassVar[tuple[Parameter, ...]] = ()
    held_by: ClassVar[str | None] = None
    java_class: ClassVar[str]
    has_idf: ClassVar[bool] = True
    of_weights: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of those it takes, in that order."""
        return tuple(each.name for each in self.takes)

    @abstractmethod
    def similarity(self, parameters: Parameters, scale: float | None = None) -> Similarity:
        """The formula on frequencies multiplied by ``scale``, which ranks as it did unscaled."""

    def corrected(self, share: Array, mean_tf: Array, k1: float) -> Array:
        """Return float64[V], at most 1: the factors of TDVs that undo a larger idf.

        A posting of the mean frequency then scores what it scored before postings were dropped.

        Parameters
        ----------
        share : float64[V]
            idf before over idf after.
        mean_tf : float64[V]
            Of the postings left.
        """
        return share

    def held(self, parameters: Parameters, scale: float) -> tuple[float, float] | None:
        """k1 and b, of frequencies at a scale, that norms can hold; None if norms are lengths."""
        return None

    def flags(self, values: Mapping[str, float]) -> tuple[str, str] | None:
        """Return the flags for Pyserini and for Anserini; None if neither has the function."""
        return None
