"""The options of searching and tuning, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import Analysed
from ..arguments import MOST_HITS
from ..errors import TdvError
from ..options import (
    INPUT,
    PYTHON_ONLY,
    Effect,
    Named,
    OfField,
    Overwrite,
    OwnDocuments,
    Threads,
    TopicField,
    option,
)
from ..pruning.config import search_as_option
from ..ranking.parameters import OfTiers, Parameters, SearchedModel, Tiers
from .run_lines import Listing


def _check_share(share: float, name: str) -> None:
    if not 0 < share <= 1:
        raise TdvError(f"{name} must be a share above 0, at most 1, got {share}")


@dataclass(frozen=True, kw_only=True)
class ListedHits(OwnDocuments):
    """What a run lists."""

    max_passage: bool = option(
        False,
        "Rank documents by their best passage, as Pyserini does: the id of a passage is its "
        "document's, '#', and more.",
        group=INPUT,
    )

    @property
    def listing(self) -> Listing:
        """The rules of all runs."""
        return Listing(self.remove_query, self.max_passage)


@dataclass(frozen=True, kw_only=True)
class Asking(SearchedModel, OfTiers, TopicField, ListedHits, Analysed, OfField, Named):
    """How topics are read and put to indexes, wherever runs are made."""

    query_terms: float | None = option(
        None,
        "Search with the heaviest terms of each query only: the fewest that hold this share of "
        "its weight, such as 0.9. For impact indexes.  [default: all terms]",
        metavar="SHARE", check=_check_share, group=INPUT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SearchConfig(Asking, Parameters, Threads, Overwrite):
    """Options of :func:`tdv_lucene.search_index`."""

    tag: str | None = option(None, "Tag the run (last column).  [default: tdv-lucene-MODEL]")
    hits: int = option(
        1000, "Return at most this many documents per query.", least=1, most=MOST_HITS
    )
    fill: bool = option(
        False,
        "In an index in two tiers, have the whole field find and rank all where more documents "
        "are asked for than the two tiers rank.  [default: those that the hot field found follow, "
        "in its order]",
        group=INPUT,
    )  # fmt: skip
    feedback: str | None = option(
        None,
        "rm3 or rocchio: expand queries as Pyserini's set_rm3() and set_rocchio() do, from term "
        "vectors of the field 'contents'.",
        flag=PYTHON_ONLY, choices=("rm3", "rocchio"),
    )  # fmt: skip

    def fills(self, tiers: Tiers | None) -> bool:
        """Whether the whole field is to answer where it ranks only the first in ``tiers``."""
        return self.fill and tiers is not None and 0 < tiers.depth < self.hits


@dataclass(frozen=True, kw_only=True)
class TuneConfig(TopicField, ListedHits, Analysed, OfField, Threads, Named, Overwrite):
    """Options of :func:`tdv_lucene.tune_index`."""

    search_as: str | None = search_as_option(
        "Write the norms for a searcher with these fixed parameters.  anserini: k1 0.9, b 0.4 "
        "(Anserini, Pyserini).  lucene: k1 1.2, b 0.75 (Lucene, Solr, Elasticsearch, OpenSearch).  "
        "K1,B: your own.  [default: anserini if documents have a stored 'id', else lucene]"
    )
    EFFECTS = (
        Effect(
            ("topic_field", "topic_reader", "remove_query", "max_passage"),
            "topics",
            "no topics are read",
            unless=(None,),
        ),
    )
