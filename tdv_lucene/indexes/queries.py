"""Topics as Lucene can search them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ..analysis import Analysis

_log = logging.getLogger(__name__)

_SHOWN = 3


def searchable_topics(topics: Mapping[str, str], field: str, analysis: Analysis) -> dict[str, str]:
    """Return the topics; of those with more different terms than Lucene takes in one query, only
    the beginning, with a warning: one of them would end the search of all others."""
    from ..jvm.long_queries import most_terms, shorten

    most = most_terms()
    # Each term has a character at least: most topics need no analysis to be short enough.
    suspects = {qid: text for qid, text in topics.items() if len(text) > most}
    found = dict(zip(suspects, shorten(list(suspects.values()), field, analysis)))
    cut = {qid: (terms, text) for qid, (terms, text) in found.items() if terms > most}
    if cut:
        named = ", ".join(f"'{qid}' ({terms:,})" for qid, (terms, _) in [*cut.items()][:_SHOWN])
        _log.warning(
            "Lucene takes %s different terms in a query, and %d of the topics have more: %s%s. "
            "Their beginning is searched, with so many",
            f"{most:,}", len(cut), named, ", ..." if len(cut) > _SHOWN else "",
        )  # fmt: skip
    return {**topics, **{qid: text for qid, (_, text) in cut.items()}}
