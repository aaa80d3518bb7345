"""Advice on searching an index that was just written, and on what it may have lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..pruning.reports import PruneReport
from ..ranking import DEFAULT_MODEL, MODELS, NAMED_DEFAULTS, RankingFunction, ranking_function
from ._options import percent


def how_to_search(report: PruneReport) -> str:
    """Return how other programs must search it: with the model that was validated."""
    model, search = report["model"], report["search"]
    if report["norm_kind"] == "accurate":
        return _by_exact_lengths(model, search)
    if model not in MODELS:  # any will do
        functions = map(ranking_function, MODELS)
        return _to_be_told([each for each in functions if not each.of_weights], search)
    function = ranking_function(model)
    if function.flags(search) is None:
        return (
            "\nSearch it with 'tdv-lucene search', which reads this from the index, or with "
            "tdv_lucene.open_searcher(...)."
        )
    told = ", ".join(f"{name} {search[name]:g}" for name in function.parameters)
    for searcher, defaults in NAMED_DEFAULTS.items():
        if all(search[name] == defaults[name] for name in function.parameters):
            return (
                f"\nSearch it like any other index: {function.title} with {searcher.title()}'s "
                f"default parameters ({told}) ranks as learned.{_beyond(report)}"
            )
    if report["baked"] is not None:
        return f"\nSearch it with {function.title}, {told}.{_beyond(report)}"
    return _to_be_told([function], search)


_ASKED_HOW = {
    "asked": "Queries written without seeing the documents",
    "details": "Queries written from a passage, in its words",
}
"""The kinds of queries that a prior knows, in words."""


def what_to_expect(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return what other collections gained or lost (see :meth:`..prior.prior.Prior.expected`)."""
    told = [
        f"  {_ASKED_HOW[line['kind']]} ({line['query_sets']} query sets of {line['collections']} "
        f"collections):\n    nDCG@5 {_gain(line['nDCG@5'])}, R@100 {_gain(line['R@100'])}"
        for line in lines
    ]
    return "\n".join(
        [
            "\nWhether ranking improves depends on what your users ask, which no index shows.",
            # Shares are compared at one length of documents: see prior.reduction_for.
            "Other collections, each with a prior learned without it, pruned as strongly for its "
            "document length as yours (mean, range):",
            *told,
            "To find out for yours, pass a query log (--queries), or run 'learn' with judged "
            "queries.",
        ]
    )


def said_of_log(chosen: Mapping[str, Any]) -> str:
    """Return what is known of a reduction that a query log chose."""
    most, queries = percent(chosen["max_loss"]), chosen["log"]["queries"]
    dropped = f"Drops {percent(chosen['reduction'])} of the postings: the largest reduction whose"
    if chosen["loss_at_most"] > chosen["max_loss"]:
        dropped = "Drops nothing: there is no reduction whose"
    return (
        f"{dropped} careful estimate loses at most {most} of the full index's nDCG@5.\n"
        f"Change in nDCG@5 against the full index, by {queries:,} "
        f"{'query' if queries == 1 else 'queries'}: {_change(chosen['loss'])} expected; "
        f"{_change(chosen['loss_at_most'])} careful (of judged collections with such figures, "
        f"three in four did better); {_change(max(0, worst_loss(chosen)))} if the first answers "
        "were the only relevant documents (bound)."
    )


def _change(loss: float) -> str:
    return f"{100 * max(-loss, -1) + 0:+.1f} %"


def worst_loss(point: Mapping[str, Any]) -> float:
    """Return the largest loss by first answers: the worse end of the 95 % interval."""
    return -float(point["difference"]["nDCG@5"]["ci95"][0])


def _gain(found: Sequence[float]) -> str:
    low, mean, high = (f"{100 * share:+.1f}" for share in found)
    return f"{mean} % ({low} to {high} %)"


def _to_be_told(functions: Iterable[RankingFunction], search: Mapping[str, float]) -> str:
    """Return the flags of ranking functions for Pyserini and Anserini."""
    flags = [given for function in functions if (given := function.flags(search)) is not None]
    pyserini, anserini = ("    ".join(parts) for parts in zip(*flags))
    return (
        "\nPass these parameters at search ('tdv-lucene search' reads them from the index):\n"
        f"  Pyserini  {pyserini}\n  Anserini  {anserini}"
    )


def _by_exact_lengths(model: str, search: Mapping[str, float]) -> str:
    told = (
        "\nIts norms are exact lengths (-bm25.accurate), which most searchers misread as bytes. "
        "Search it with 'tdv-lucene search' or tdv_lucene.open_searcher(...)"
    )
    if model in MODELS and model != DEFAULT_MODEL:
        return f"{told}."
    k1, b = search["k1"], search["b"]
    return f"{told},\nor with Anserini's -bm25.accurate -bm25.k1 {k1:g} -bm25.b {b:g}."


def _beyond(report: PruneReport) -> str:
    """Return a warning if documents are too short or too long for exact norms."""
    norms = report["norms"]
    if norms is None or not norms["beyond"]:
        return ""
    return (
        f"\n{norms['beyond']:,} documents are too short or too long for exact norms: their length "
        f"norm is off by {percent(norms['mean_off'])} on average and "
        f"{percent(norms['largest_off'])} at most. "
        + (
            "A larger --scale helps short documents."
            if report["tf"] == "scaled"
            else "For short documents pass --search-as K1,B with a smaller K1 (1 - B)."
        )
    )
