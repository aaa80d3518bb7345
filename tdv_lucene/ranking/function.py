"""What the package must know of a ranking function: all of it stands in one object."""

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
    """A number that a ranking function takes. Options, checks, tuning and records are made of it.

    Attributes
    ----------
    name
        In manifests, records and, as an option, on the command line.
    title
        For people.
    anserini, lucene
        Defaults of searchers: Anserini's and Pyserini's; Lucene's, and of what is built on it.
    legal, holds
        What it may be, in words, and whether a finite number is that.
    grid
        Values that tuning tries; an index's own are tried as well.
    scaled
        Whether it grows with the scale of frequencies, so that the ranking stays.
    width, linear
        How much it differs between collections, about: as it is, or its logarithm.
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
        """Whether there is anything to choose."""
        return len(self.grid) > 1


class Parameters(Protocol):
    """What a formula takes of :class:`.parameters.SearchParameters`, which knows all functions."""

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
    """One ranking function. A new one is a file here, and an entry in :mod:`.registry`.

    Attributes
    ----------
    name : str
        In commands, manifests and records.
    title : str
        For people.
    takes : tuple of Parameter
        In the order of the Java constructor.
    pool_searches : tuple of mappings
        Parameters far enough apart that one of them finds what learning puts on top.
    held_by : "norms", "scale" or None
        What of an index can hold the parameters for a searcher with its own (see
        :mod:`..pruning.targets`).
    java_class : str
        Lucene's ``Similarity``, or ours.
    scale_ranks : bool
        Whether the scale of frequencies does more than round, so that it is chosen by the ranking.
    boost_times : float
        How many times as large, and as far-reaching, the first-position boost is in the saturation
        that decides what is dropped as in what is stored.
    dropped_by : pair of float
        k1 and b of the saturation that decides what is dropped. They are not those of the search:
        what a posting is worth depends little on the search's parameters, and with a large b long
        documents would lose most of what they have.
    worth_per_byte : bool
        Whether learning may choose how much a term's bytes count in the order of postings.
    whole_terms : float
        The share of the reduction that is made by dropping whole terms. It is larger for the
        language model: what dropped postings do to a term's probability cannot be corrected.
    has_idf : bool
        Whether a term that loses postings counts for more.
    of_weights : bool
        Whether it is for impact indexes, whose frequencies are weights. They have no other.
    scales : tuple of float
        What frequencies may be multiplied by before they are rounded.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    takes: ClassVar[tuple[Parameter, ...]] = ()
    pool_searches: ClassVar[tuple[Mapping[str, float], ...]] = ({},)
    held_by: ClassVar[str | None] = None
    java_class: ClassVar[str]
    scale_ranks: ClassVar[bool] = False
    boost_times: ClassVar[float] = 1.0
    dropped_by: ClassVar[tuple[float, float]] = (4.0, 0.2)
    worth_per_byte: ClassVar[bool] = False
    whole_terms: ClassVar[float] = 0.0
    has_idf: ClassVar[bool] = True
    of_weights: ClassVar[bool] = False
    scales: ClassVar[tuple[float, ...]] = (
        0.5, 0.7, 0.85, 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 12, 16
    )  # fmt: skip

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of those it takes, in that order."""
        return tuple(each.name for each in self.takes)

    @abstractmethod
    def similarity(self, parameters: Parameters, scale: float | None = None) -> Similarity:
        """The formula on frequencies multiplied by ``scale``, which ranks as it did unscaled."""

    def corrected(self, share: Array, mean_tf: Array, k1: float) -> Array:
        """float64[V], at most 1: what TDVs are multiplied by so that a posting of the mean
        frequency scores what it scored before postings were dropped.

        Parameters
        ----------
        share : float64[V]
            idf before, as a share of that after.
        mean_tf : float64[V]
            Of the postings left.
        """
        return share

    def held(self, parameters: Parameters, scale: float) -> tuple[float, float] | None:
        """k1 and b, of frequencies at a scale, that norms can hold; None if norms are lengths."""
        return None

    def flags(self, values: Mapping[str, float]) -> tuple[str, str] | None:
        """How to pass parameters to Pyserini and to Anserini; None where neither has it."""
        return None
