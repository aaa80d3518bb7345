"""What pruning did to one query: its terms and their values, and the hits before and after."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from ..arguments import checked_hits
from ..errors import TdvError
from ..indexes.record import (
    java_similarity,
    recorded_model,
    recorded_parameters,
    warn_of_another_model,
)
from .term_changes import measure_terms


def explain_query(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    query: str,
    *,
    model: str | None = None,
    field: str = "contents",
    values: str | os.PathLike | None = None,
    hits: int = 10,
) -> dict[str, Any]:
    """Compare what the two indexes make of ``query``, each searched with what it records.

    Parameters
    ----------
    model
        None for what ``pruned`` records; another one is warned of in the log.
    values
        The folder of term values that ``pruned`` was made with; without them, terms are shown with
        the ratio of their frequencies in the two indexes.

    Returns
    -------
    dict
        ``query``; ``tdv_kind``, what is shown of terms: ``"learned"`` or ``"ratio"``; ``terms``:
        for each distinct term of the analysed query ``term``, ``in_query`` (times), ``tdv`` (0
        where dropped, None where unknown), ``df_before``, ``df_after``, ``postings_removed``;
        ``hits``: ``before`` and ``after``, the best documents with ``rank``, ``document``,
        ``score``, ``other_rank`` (in the other list, None outside it), ``tf`` (term: frequency
        before and after, of the query's terms that the document held) and ``lost``, the terms of
        which it lost its posting; ``matching``: how many documents hold a term of the
        query, ``before`` and ``after``; and the ``parameters`` of both searches. Scores and
        frequencies of the two indexes are of different scales.

    Raises
    ------
    TdvError
        When an index or the values cannot be read, ``pruned`` was not made with them, ``hits`` is
        below 1, or nothing is left of the
        query after analysis.
    """
    from ..jvm.index import analyze
    from ..jvm.searcher import count_terms

    hits = checked_hits(hits)
    (tokens,) = analyze([query], field)
    if not tokens:
        raise TdvError(f"nothing is left of '{query}' after analysis (stop words?): ask more")
    counted = Counter(tokens)
    before, after = (count_terms(path, field, list(counted)) for path in (index, pruned))
    shown = measure_terms(pruned, field, values)
    searches = {"before": index, "after": pruned}
    model = model or recorded_model(pruned, field)
    parameters = {
        when: recorded_parameters(path, model, field=field) for when, path in searches.items()
    }
    for path in searches.values():
        warn_of_another_model(path, parameters["after"].model, field)
    found = {
        when: _search(path, java_similarity(parameters[when], path), field, query, hits)
        for when, path in searches.items()
    }
    ranked = {
        "before": _ranked(found["before"], found["after"]),
        "after": _ranked(found["after"], found["before"]),
    }
    return {
        "query": query,
        "tdv_kind": shown.kind,
        "terms": [
            {
                "term": term,
                "in_query": times,
                "tdv": shown.of(term, before[term], after[term]) if before[term][0] else None,
                "df_before": before[term][0],
                "df_after": after[term][0],
                "postings_removed": before[term][0] - after[term][0],
            }
            for term, times in counted.items()
        ],
        "matching": _add_postings(ranked, index, pruned, field, list(counted)),
        "hits": ranked,
        "parameters": {when: of.describe() for when, of in parameters.items()},
    }


def _search(
    index: str | os.PathLike, similarity: Any, field: str, query: str, hits: int
) -> list[tuple[str, float]]:
    from ..jvm.searcher import explain_scores

    (rows,) = explain_scores(index, similarity, field, {"q": query}, hits).values()
    return [(document, score) for document, score, _ in rows]


def _add_postings(
    ranked: dict[str, list[dict[str, Any]]],
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    field: str,
    terms: list[str],
) -> dict[str, int]:
    """Tell of each hit which postings of the query's terms it has lost; return ``matching``."""
    from ..jvm.searcher import query_postings

    shown = list(dict.fromkeys(of["document"] for hits in ranked.values() for of in hits))
    (held, before), (left, after) = (
        query_postings(path, field, terms, shown) for path in (index, pruned)
    )
    for hits in ranked.values():
        for of in hits:
            here, there = before.get(of["document"], {}), after.get(of["document"], {})
            of["tf"] = {t: [tf, there.get(t, 0)] for t, tf in here.items() if tf}
            of["lost"] = [t for t, (_, kept) in of["tf"].items() if not kept]
    return {"before": held, "after": left}


def _ranked(found: list[tuple[str, float]], other: list[tuple[str, float]]) -> list[dict[str, Any]]:
    ranks = {document: rank for rank, (document, _) in enumerate(other, 1)}
    return [
        {"rank": rank, "document": document, "score": score, "other_rank": ranks.get(document)}
        for rank, (document, score) in enumerate(found, 1)
    ]
