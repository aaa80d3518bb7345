"""The options of the experiment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis import Analysed
from ..arguments import MOST_HITS, MOST_SECONDS
from ..options import Effect, OfField, Overwrite, Seed, option
from .published import MODELS, RECIPES

_NEURAL, _TRAINING = "Neural re-rankers", "Training and test"


@dataclass(frozen=True, kw_only=True)
class ReproduceConfig(Seed, Analysed, OfField, Overwrite):
    """Options of :func:`.reproduce.reproduce_paper`."""

    recipe: str = option(
        "both",
        "Choose how TDVs are learned.  paper: with the constants of the paper's implementation.  "
        "tuned: what the paper leaves open is chosen by inner folds of the training queries. "
        "Beside it: RIDF with as many postings dropped, and its k1, b or mu with none.  both: "
        "paper and tuned.  default: as 'learn' does.  all: these three.",
        choices=tuple(RECIPES),
    )
    vectors: str | os.PathLike[str] | None = option(
        None, "Use word vectors from 'embed', or from a file, as fastText's .bin.  [default: LSA]",
        metavar="PATH",
    )  # fmt: skip
    models: Sequence[str] = option(
        tuple(MODELS), "Rank by tfidf, qld or bm25. Repeat for several.  [default: all]",
        flag="model", multiple=True,
    )  # fmt: skip
    reduction: float | None = option(
        None,
        "Drop this share of postings in rows of the default recipe. The others drop their zeros.  "
        "[default: 0.45]",
        metavar="SHARE",
    )
    neural: str | Sequence[str] = option(
        (),
        "Also train these re-rankers and measure them on BM25's run: drmm,duet,conv-knrm, or all.",
        metavar="NAMES", group=_NEURAL,
    )  # fmt: skip
    rerank_depth: int = option(
        1000, "Re-rank this many documents per query. The others follow in their order.",
        least=1, most=MOST_HITS, group=_NEURAL,
    )  # fmt: skip
    train_topics: str | os.PathLike[str] | None = option(
        None, "Learn from these topics and measure on --topics, without cross-validation.",
        metavar="TOPICS", group=_TRAINING,
    )  # fmt: skip
    train_qrels: str | os.PathLike[str] | None = option(
        None, "Judgements of --train-topics.", metavar="QRELS", group=_TRAINING
    )
    folds: int = option(5, "Cross-validate in folds.", group=_TRAINING)
    latency_budget_seconds: float = option(
        10.0, "Limit the time for measuring latency, per row and fold. 0 counts postings only.",
        flag="latency-budget", metavar="SECONDS", least=0, most=MOST_SECONDS, group="Timing",
    )  # fmt: skip

    EFFECTS = (
        Effect(("rerank_depth",), "neural", "nothing is re-ranked", unless=((),)),
        Effect(("folds",), "train_topics", "all learn from those", only=(None,)),
        Effect(("reduction",), "recipe", "these drop what has a TDV of 0", only=("default", "all")),
    )
