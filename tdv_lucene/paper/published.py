"""The paper's collections and the numbers it prints.

Frej, Mulhem, Schwab and Chevallet, "Learning Term Discrimination", SIGIR 2020: section 3.1, and
Tables 1 to 3, as (baseline, TDV): milliseconds per query, percent, percent of the index removed.
"""

from __future__ import annotations

from collections.abc import Mapping
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


Pair = tuple[float, float]


class Published(NamedTuple):
    """The paper's figures for a method: (baseline, TDV), or one for a neural re-ranker."""

    latency_ms: Pair | str | None = None
    ndcg5: Pair | float | None = None
    recall1000: Pair | float | None = None
    removed: float | None = None


class Collection(NamedTuple):
    """A collection, with published figures if it is one of the paper's."""

    title: str
    topics: range | None = None  # numbers of the topics used; None for all given
    published: Mapping[str, Published] = {}  # by name of a model or a re-ranker


COLLECTIONS = {
    "ap88-89": Collection(
        "AP88-89",
        range(51, 201),
        {
            "tfidf": Published((147.4, 29.2), (26.38, 30.28), (53.08, 58.42), 45.00),
            "qld": Published((683.8, 180.1), (44.64, 46.30), (67.26, 67.98), 46.06),
            "bm25": Published((207.0, 61.2), (44.70, 47.09), (67.09, 66.78), 46.91),
            "drmm": Published(">10^4", 44.05, 68.24),
            "duet": Published(">10^5", 43.86, 67.86),
            "conv-knrm": Published(">10^5", 44.13, 67.36),
        },
    ),
    "la": Collection(
        "LA",
        range(301, 451),
        {
            "tfidf": Published((26.3, 4.6), (17.92, 23.54), (60.05, 65.09), 39.67),
            "qld": Published((139.6, 54.3), (34.50, 36.16), (69.15, 70.29), 34.03),
            "bm25": Published((29.2, 16.6), (34.98, 40.04), (68.47, 72.00), 32.35),
            "drmm": Published(">10^4", 36.22, 70.41),
            "duet": Published(">10^5", 15.26, 58.65),
            "conv-knrm": Published(">10^5", 22.65, 60.41),
        },
    ),
    "ft91-94": Collection(
        "FT91-94",
        range(251, 451),
        {
            "tfidf": Published((56.6, 15.1), (17.82, 25.11), (50.98, 55.55), 45.77),
            "qld": Published((270.9, 122.6), (35.15, 37.78), (59.63, 61.56), 40.25),
            "bm25": Published((83.1, 42.8), (35.31, 36.98), (60.40, 62.68), 44.42),
            "drmm": Published(">10^4", 35.95, 61.42),
            "duet": Published(">10^5", 16.88, 45.25),
            "conv-knrm": Published(">10^5", 37.95, 51.42),
        },
    ),
    "wiki165k": Collection("wiki165k"),
    "cranfield": Collection("cranfield"),
    "vaswani": Collection("vaswani"),
    "cisi": Collection("cisi"),
    "other": Collection("your collection"),
}
