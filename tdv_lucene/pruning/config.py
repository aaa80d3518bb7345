"""The options of pruning, checked before anything is read."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analysis import Analysed
from ..arguments import MOST_HITS, checked_share, parse_bytes
from ..errors import TdvError
from ..options import Effect, Named, OfField, Overwrite, Threads, option

if TYPE_CHECKING:
    import numpy as np

    from .targets import SearchTarget

_DROPPED, _WRITTEN = "What is dropped", "What is written"


def _target(search_as: str | None, name: str = "search_as") -> SearchTarget:
    from .targets import SearchTarget  # imports NumPy, which --help does without

    return SearchTarget.of(search_as)


def search_as_option(told: str) -> Any:
    """Return the searcher that an index is written for."""
    return option(None, told, metavar="NAME|NUMBERS", check=_target)


@dataclass(frozen=True, kw_only=True)
class PruneConfig(Threads, Analysed, OfField, Named, Overwrite):
    """How :func:`tdv_lucene.prune_index` prunes."""

    search_as: str | None = search_as_option(
        "Write the index so that a searcher with these fixed parameters ranks as with the learned "
        "ones.  anserini: k1 0.9, b 0.4, or mu 1000 (Anserini, Pyserini).  lucene: k1 1.2, b "
        "0.75, or mu 2000 (Lucene, Solr, Elasticsearch, OpenSearch).  K1,B or MU: your own.  "
        "recorded: do not adapt the index; other searchers must be given the learned parameters "
        "('search' reads them from the index).  [default: anserini if "
        "documents have a stored 'id', else lucene; for query likelihood, recorded if adapting "
        "costs more than 2 % of the bytes]"
    )
    reduction: float | None = option(
        None,
        "Drop this share of the field's postings, such as 0.45.  [default: what 'learn' or the "
        "prior recommends; 0.45 with TDVs from 'peers']",
        metavar="SHARE", check=checked_share,
    )  # fmt: skip
    expect: str = option(
        "asked",
        "Without --tdv, expect this kind of query.  asked: written without seeing the documents, "
        "as most are.  details: written from a passage, in its words; little is then dropped.",
        choices=("asked", "details"),
    )
    queries: str | os.PathLike[str] | None = option(
        None,
        "Choose the reduction from this query log, a file like those of --topics, without "
        "judgements. With --tdv only beside --tiers.",
        metavar="LOG",
    )
    max_loss: float | None = option(
        None,
        "Drop as much as possible, but lose at most this share of nDCG@5 (or of the measure "
        "learned by), such as 0.01. With --tdv, against the tuned full index, by the worse end of "
        "the 95 % interval that 'learn' measured. With --queries, against the re-weighted "
        "index with nothing dropped, as if its first answers were the only relevant ones; and "
        "no larger share of its ten best may leave the first 1,000.  "
        "[default with --queries: 0.04]",
        metavar="SHARE", check=checked_share,
    )  # fmt: skip
    tiers: bool = option(
        False,
        "Write two fields: the whole one, weighted with nothing dropped, and a hot one "
        "(contents_hot) with the postings that are left. 'search' finds in the hot field and ranks "
        "the first documents by the whole one: as fast, and a wrong guess costs little.",
    )
    depth: int | None = option(
        None,
        "With --tiers, rank at most this many of the documents found by the whole field.  "
        "[default: 200]",
        metavar="DOCUMENTS", least=1, most=MOST_HITS, group="Two tiers",
    )  # fmt: skip
    margin: float | None = option(
        None,
        "With --tiers, rank documents that score, in the hot field, at least this share of the "
        "last of the hits wanted, such as 0.7; 0 ranks as many as --depth allows.  [default: "
        "chosen by --queries, else 0.6]",
        metavar="SHARE", check=checked_share, group="Two tiers",
    )  # fmt: skip
    fidelity: float | None = option(
        None,
        "With --tiers, choose the fastest way to search that returns at least this share of the "
        "ten best documents of the whole field, over --queries, less a standard error.  "
        "[default: 0.97]",
        metavar="SHARE", check=checked_share, group="Two tiers",
    )  # fmt: skip
    max_bytes: int | str | None = option(
        None,
        "Drop only as much as needed to make the index fit into SIZE, such as 25MB.",
        metavar="SIZE", check=parse_bytes, group=_DROPPED,
    )  # fmt: skip
    tf: str = option(
        "scaled",
        "Choose what is stored.  scaled: frequencies weighted by TDVs, without positions.  "
        "original: frequencies and positions as they are; only drops postings.",
        choices=("scaled", "original"),
    )
    field: str = option("contents", "Prune this field. With --tdv, leave it out: the TDVs name it.")
    min_doc_freq: int = option(
        1,
        "Also drop terms that occur in fewer than this many documents. 2 makes the dictionary "
        "much smaller, but documents matched only by such terms are no longer found.",
        metavar="DOCUMENTS", least=1, remedy="1 keeps all terms, 2 drops those of one document",
        group=_DROPPED,
    )  # fmt: skip
    scale: float | str = option(
        "auto",
        "Multiply frequencies by this before rounding: round(scale * tf * boost * TDV), at least "
        "1. boost: of terms that first occur early, else 1.",
        metavar="auto|NUMBER", group=_WRITTEN,
    )  # fmt: skip
    optimize: bool = option(
        False, "Merge into one segment.  [default: as many as the source]", group=_WRITTEN
    )

    EFFECTS = (
        Effect(("scale",), "tf", "frequencies stay as they are", only=("scaled",)),
        Effect(("field",), "values", "TDVs say which field they are of", only=(None,)),
        Effect(("margin", "fidelity", "depth"), "tiers", "there is one tier", only=(True,)),
        Effect(("max_loss", "max_bytes"), "tiers", "tiers are chosen by fidelity", only=(False,)),
        Effect(("expect",), "tiers", "nothing is lost by it", only=(False,)),
        Effect(("expect",), "values", "TDVs say how much they recommend to drop", only=(None,)),
        Effect(("expect",), "queries", "they say what people ask", only=(None,)),
        Effect(("expect",), "reduction", "that says how much is dropped", only=(None,)),
        Effect(("expect",), "max_bytes", "that says how much is dropped", only=(None,)),
    )  # fmt: skip

    def validate(self) -> None:
        amounts = ("reduction", "max_loss", "max_bytes")
        named = [name for name in amounts if getattr(self, name) is not None]
        if len(named) > 1:
            names = " and ".join(named)
            raise TdvError(f"{names} exclude each other: each of them sets the reduction")
        if self.fidelity is not None and self.queries is None:
            raise TdvError("fidelity has no effect without queries: it is measured by them")
        _ = self.fixed_scale

    @property
    def target(self) -> SearchTarget:
        """Whose parameters the index is written for."""
        return _target(self.search_as)

    def drops(self, doc_freq: np.ndarray) -> np.ndarray:
        """Return bool[V]: the terms that are dropped whatever their TDVs are."""
        return doc_freq < self.min_doc_freq

    @property
    def fixed_scale(self) -> float | None:
        """What frequencies are multiplied by; None for each field's own."""
        if self.scale == "auto":
            return None
        try:
            number = float(self.scale)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            raise TdvError(f"scale must be 'auto' or a number above 0, got '{self.scale}': try 4")
        return number


@dataclass(frozen=True, kw_only=True)
class VerifyConfig(Threads):
    """How :func:`tdv_lucene.verify_pruned` verifies."""


@dataclass(frozen=True, kw_only=True)
class UpdateConfig(Threads):
    """How :func:`tdv_lucene.update_index` updates."""

    max_drift: float | None = option(
        None,
        "Write nothing and exit with status 3 if more than this share of the postings, such as "
        "0.1, has moved to other terms since the TDVs were made.",
        metavar="SHARE",
        check=checked_share,
    )
