"""The paper's collections and the numbers it prints, to stand beside those measured here.

Frej, Mulhem, Schwab and Chevallet, "Learning Term Discrimination", SIGIR 2020: section 3.1, and
Tables 1 to 3. (baseline, TDV); milliseconds a query, percent, percent of the index removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MODELS = {"tfidf": "TF-IDF", "qld": "LM", "bm25": "BM25"}
"""Our names of the paper's methods, in its order."""

Pair = tuple[float, float]


@dataclass(frozen=True)
class Collection:
    """One collection of the paper; it says nothing of those without figures.

    Attributes
    ----------
    title : str
    topics : range or None
        Numbers of the topics used; None for all that are given.
    latency_ms, ndcg5, recall1000 : model -> (baseline, TDV)
        Tables 1 and 2.
    removed : model -> float
        Table 3.
    neural_ndcg5, neural_recall1000 : name of a re-ranker -> float
    neural_latency_ms : name of a re-ranker -> str
    """

    title: str
    topics: range | None = None
    latency_ms: dict[str, Pair] = field(default_factory=dict)
    ndcg5: dict[str, Pair] = field(default_factory=dict)
    recall1000: dict[str, Pair] = field(default_factory=dict)
    removed: dict[str, float] = field(default_factory=dict)
    neural_ndcg5: dict[str, float] = field(default_factory=dict)
    neural_recall1000: dict[str, float] = field(default_factory=dict)
    neural_latency_ms: dict[str, str] = field(default_factory=dict)


_NEURAL_MS = {"drmm": ">10^4", "duet": ">10^5", "conv-knrm": ">10^5"}

COLLECTIONS = {
    "ap88-89": Collection(
        "AP88-89",
        range(51, 201),
        {"tfidf": (147.4, 29.2), "qld": (683.8, 180.1), "bm25": (207.0, 61.2)},
        {"tfidf": (26.38, 30.28), "qld": (44.64, 46.30), "bm25": (44.70, 47.09)},
        {"tfidf": (53.08, 58.42), "qld": (67.26, 67.98), "bm25": (67.09, 66.78)},
        {"tfidf": 45.00, "qld": 46.06, "bm25": 46.91},
        {"drmm": 44.05, "duet": 43.86, "conv-knrm": 44.13},
        {"drmm": 68.24, "duet": 67.86, "conv-knrm": 67.36},
        _NEURAL_MS,
    ),
    "la": Collection(
        "LA",
        range(301, 451),
        {"tfidf": (26.3, 4.6), "qld": (139.6, 54.3), "bm25": (29.2, 16.6)},
        {"tfidf": (17.92, 23.54), "qld": (34.50, 36.16), "bm25": (34.98, 40.04)},
        {"tfidf": (60.05, 65.09), "qld": (69.15, 70.29), "bm25": (68.47, 72.00)},
        {"tfidf": 39.67, "qld": 34.03, "bm25": 32.35},
        {"drmm": 36.22, "duet": 15.26, "conv-knrm": 22.65},
        {"drmm": 70.41, "duet": 58.65, "conv-knrm": 60.41},
        _NEURAL_MS,
    ),
    "ft91-94": Collection(
        "FT91-94",
        range(251, 451),
        {"tfidf": (56.6, 15.1), "qld": (270.9, 122.6), "bm25": (83.1, 42.8)},
        {"tfidf": (17.82, 25.11), "qld": (35.15, 37.78), "bm25": (35.31, 36.98)},
        {"tfidf": (50.98, 55.55), "qld": (59.63, 61.56), "bm25": (60.40, 62.68)},
        {"tfidf": 45.77, "qld": 40.25, "bm25": 44.42},
        {"drmm": 35.95, "duet": 16.88, "conv-knrm": 37.95},
        {"drmm": 61.42, "duet": 45.25, "conv-knrm": 51.42},
        _NEURAL_MS,
    ),
    "wiki165k": Collection("wiki165k"),
    "cranfield": Collection("cranfield"),
    "vaswani": Collection("vaswani"),
    "cisi": Collection("cisi"),
    "other": Collection("your collection"),
}
