"""Advice on searching an index that was just written, and on what it may have lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


UNKNOWN = (
    "\nWhether ranking improves depends on what your users ask, which no index shows.\n"
    "To find out, pass a query log (--queries), or run 'learn' with judged queries."
)
"""What is known of an index that was pruned without queries."""


def said_of_log(chosen: Mapping[str, Any]) -> str:
    """What a log's queries return after the reduction that was chosen by it."""
    log, kept, most = chosen["log"], chosen["kept"], chosen["loss_at_most"]
    dropped = "Drops nothing: no larger reduction is within"
    if chosen["reduction"] > 0:
        dropped = f"Drops {percent(chosen['reduction'])} of the postings: the most within"
    return (
        f"{dropped} {percent(chosen['max_loss'])}.\n"
        f"By {log['queries']:,} queries, against the re-weighted index with nothing dropped: loses "
        f"at most {percent(max(0, most))} of nDCG@5 if its first answers are the only relevant "
        "ones (95 % interval).\n"
        f"Of its ten best answers {percent(kept['10'])} are among the first ten, "
        f"{percent(kept['100'])} among the first 100, {percent(kept['1000'])} among the first "
        "1,000. Only judgements tell which changes are losses."
    )


def said_of_tiers(tiers: Mapping[str, Any] | None) -> str:
    """What two tiers return of the whole field's answers, if a log was asked."""
    if tiers is None:
        return (
            "\nHow much of the whole field's answers both tiers return was not measured: pass a "
            "query log (--queries)."
        )
    low, high = (percent(bound) for bound in tiers["fidelity_ci95"])
    return (
        f"\nThe hot field drops {percent(tiers['reduction'])} of the postings; of the documents "
        f"that it finds the whole one ranks {tiers['ranked']:.0f} a query (margin "
        f"{tiers['margin']:g}, at most {tiers['depth']}).\n"
        f"Over {tiers['queries']:,} queries both return {percent(tiers['fidelity'])} of the whole "
        f"field's ten best documents ({low} to {high}, 95 % interval), and another first answer to "
        f"{percent(tiers['first_changed'])} of them.\n"
        f"A search stops at {tiers['visits']:,.0f} postings, in the whole field alone at "
        f"{tiers['visits_whole']:,.0f}."
    )


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
