"""Topics as Lucene can search them, and as users shorten them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping

from ..analysis import Analysis
from ..errors import TdvError
from ..jvm.analysis import analyze, most_terms, shorten
from ..jvm.open_index import find_places
from ..ranking import DEFAULT_MODEL, SearchParameters, ranking_function

_log = logging.getLogger(__name__)

_SHOWN = 3


def searchable_topics(topics: Mapping[str, str], field: str, analysis: Analysis) -> dict[str, str]:
    """Return the topics; of those with more different terms than Lucene takes in one query, only
    the beginning, with a warning: one of them would end the search of all others."""
    most = most_terms()
    # Each term has a character at least: most topics need no analysis to be short enough.
    suspects = {qid: text for qid, text in topics.items() if len(text) > most}
    found = dict(zip(suspects, shorten(list(suspects.values()), field, analysis)))
    cut = {qid: (terms, text) for qid, (terms, text) in found.items() if terms > most}
    if cut:
        named = ", ".join(f"'{qid}' ({terms:,})" for qid, (terms, _) in [*cut.items()][:_SHOWN])
        _log.warning(
            "queries of more than %s different terms, the most that Lucene takes: %s%s. Only the "
            "beginning of each is searched",
            f"{most:,}", named, ", ..." if len(cut) > _SHOWN else "",
        )  # fmt: skip
    return {**topics, **{qid: text for qid, (_, text) in cut.items()}}


def heaviest_terms(weights: Mapping[str, int], share: float) -> set[str]:
    """Return the fewest terms, the heaviest first, that hold this share of a query's weight.

    Terms as heavy as the last of them are kept too: their order in the query decides nothing.
    """
    needed = share * sum(weights.values()) * (1 - 1e-12)  # 0.55 * 100 is above 55
    held, least = 0, 0
    for weight in sorted(weights.values(), reverse=True):
        if held < needed:
            held, least = held + weight, weight
    return {term for term, weight in weights.items() if weight >= least}


def shortened_topics(
    topics: Mapping[str, str],
    share: float,
    parameters: SearchParameters,
    field: str,
    analysis: Analysis,
) -> tuple[dict[str, str], dict[str, float]]:
    """Return the topics with the :func:`heaviest_terms` of each, and for summaries the share, and
    how many different terms a query had and has on average. A term weighs as much as it is
    repeated.

    It looks at no index, so that all indexes are asked for the same terms.

    Raises :class:`TdvError` when queries of the ranking function do not weigh their terms.
    """
    function = ranking_function(parameters.model or DEFAULT_MODEL)
    if not function.of_weights:
        raise TdvError(
            f"query_terms {share} has no effect without an impact index: queries for "
            f"{function.title} do not weigh their terms; leave it out"
        )
    found, before, after = {}, 0, 0
    counted = map(Counter, analyze([*topics.values()], field, analysis))
    for (qid, text), weights in zip(topics.items(), counted):
        kept = heaviest_terms(weights, share)
        (places,) = find_places([text], [*kept], field, analysis)
        # As they are written: a stem may have another stem.
        found[qid] = " ".join(text[start:end] for start, end, _ in places)
        before, after = before + len(weights), after + len(kept)
    return found, {
        "query_terms": share,
        "terms_per_query_before": before / len(topics),
        "terms_per_query": after / len(topics),
    }
