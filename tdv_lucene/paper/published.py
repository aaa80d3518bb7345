"""The paper's collections and the numbers it prints.

Frej, Mulhem, Schwab and Chevallet, "Learning Term Discrimination", SIGIR 2020: section 3.1, and
Tables 1 to 3 (published.json), as [baseline, TDV]: milliseconds per query, percent, percent of the
index removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MODELS = {"tfidf": "TF-IDF", "qld": "LM", "bm25": "BM25"}
"""Our names for the paper's methods, in its order."""

ROWS = {
    "literal": "literal",
    "tuned": "tuned",
    "ridf": "as many postings by RIDF",
    "full": "tuned k1, b, mu alone",
    "default": "default recipe",
}
"""How TDVs are made, and what a row of a table says of it."""

RECIPES = {
    "both": ("literal", "tuned", "ridf", "full"),
    "all": tuple(ROWS),
    "paper": ("literal",),
    "tuned": ("tuned", "ridf", "full"),
    "default": ("default",),
}
"""The rows of each model by the name of ``--recipe``."""

OWN = "own formulas, "
"""Begins the name of a measure by the paper's own formulas (see :mod:`.own_formulas`)."""

MEASURES = ("nDCG@5", "R@1000")


def row_of(model: str, kind: str, recipe: str) -> str:
    """Return the name of a row: the model's for the tuned or only one, else ``model-kind``."""
    kinds = RECIPES[recipe]
    return model if kind == ("tuned" if "tuned" in kinds else kinds[0]) else f"{model}-{kind}"


def model_of(row: str) -> str:
    """Return the ranking function of a row."""
    return row.partition("-")[0]


def title_of(row: str) -> str:
    """Return a row's name in the tables."""
    model, _, kind = row.partition("-")
    return MODELS[model] + (f", {ROWS[kind]}" if kind else "")


class Published(NamedTuple):
    """The paper's figures for a method: [baseline, TDV], or one for a neural re-ranker."""

    latency_ms: list[float] | str | None = None
    ndcg5: list[float] | float | None = None
    recall1000: list[float] | float | None = None
    removed: float | None = None


class Collection(NamedTuple):
    """A collection, with published figures if it is one of the paper's."""

    title: str
    topics: range | None = None  # numbers of the topics used; None for all given
    published: Mapping[str, Published] = {}  # by name of a model or a re-ranker


_FIGURES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def _of_the_paper(name: str, title: str, topics: range) -> Collection:
    figures = _FIGURES[name].items()
    return Collection(title, topics, {method: Published(**found) for method, found in figures})


COLLECTIONS = {
    "ap88-89": _of_the_paper("ap88-89", "AP88-89", range(51, 201)),
    "la": _of_the_paper("la", "LA", range(301, 451)),
    "ft91-94": _of_the_paper("ft91-94", "FT91-94", range(251, 451)),
    **{name: Collection(name) for name in ("wiki165k", "cranfield", "vaswani", "cisi")},
    "other": Collection("your collection"),
}
