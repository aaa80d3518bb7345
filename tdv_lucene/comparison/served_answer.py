"""What the page of :mod:`.serving` shows of one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..errors import TdvError, argument
from ..jvm.open_index import find_places
from .config import MOST_SERVED
from .excerpts import WHOLE_LENGTH, excerpt, mark
from .side_by_side import Answer, SideBySide, explain_terms, lost_terms

DEPTH = 100
"""How deep the rank of a document is looked up in the other rankings."""


def answer(session: SideBySide, query: str, hits: int) -> dict[str, Any]:
    """What the page shows of one query.

    Raises :class:`TdvError` when nothing is left of the query after analysis, or ``hits`` is out of
    range.

    Returns
    -------
    dict
        - ``query``; ``hits``; ``depth``, how deep ranks are looked up.
        - ``terms``, for each term of the query: ``term``, ``in_query``, ``df`` (index name ->
          documents with it) and ``tdv`` (name of a further index -> TDV, 0 if dropped, None if
          unknown).
        - ``indexes.NAME``: ``ms``, ``matching`` (documents that hold a term), ``hits``, and
          ``gone``: the best documents of the first index that are not among the best of this one,
          each with ``document``, ``first_rank`` and ``rank`` (None below ``depth``).

        A hit has ``rank``, ``document``, ``score``, ``first_rank`` (in the first index), ``ranks``
        (name of another index -> rank), ``lost`` (terms whose posting in it was dropped),
        ``excerpt`` and ``whole`` (lists of :class:`Piece` as dicts, None if no text is stored),
        and ``cut`` (whether ``whole`` is cut).
    """
    if not 1 <= hits <= MOST_SERVED:
        raise TdvError(f"{argument('hits', hits)} is out of range: 1 to {MOST_SERVED} can be shown")
    terms = session.analyze(query)
    answers = session.ask(query, list(terms), hits, DEPTH)
    times = session.time(query, hits)
    first, *others = answers
    explained = {
        name: explain_terms(terms, answers[first], answers[name], session.opened[name].shown.value)
        for name in others
    }
    return {
        "query": query,
        "hits": hits,
        "depth": DEPTH,
        "terms": [
            {
                "term": term,
                "in_query": times_,
                "df": {name: found.counts[term][0] for name, found in answers.items()},
                "tdv": {name: rows[at]["tdv"] for name, rows in explained.items()},
            }
            for at, (term, times_) in enumerate(terms.items())
        ],
        "indexes": {
            name: {
                "ms": times[name],
                "matching": found.matching,
                "hits": _hits(session, list(terms), name, answers),
                "gone": _gone(answers[first], found),
            }
            for name, found in answers.items()
        },
    }


def _hits(
    session: SideBySide, terms: list[str], name: str, answers: Mapping[str, Answer]
) -> list[dict[str, Any]]:
    before, *_ = answers.values()
    found = answers[name]
    texts = [hit.text or "" for hit in found.hits]
    rows = []
    marked = find_places(texts, terms, session.field, session.analysed.analysis)
    for rank, (hit, text, places) in enumerate(zip(found.hits, texts, marked), 1):
        lost = lost_terms(hit.document, before, found)
        shown, whole = excerpt(text, places, lost), mark(text, places, lost, 0, WHOLE_LENGTH)
        rows.append(
            {
                "rank": rank,
                "document": hit.document,
                "score": hit.score,
                "first_rank": before.ranks.get(hit.document),
                "ranks": {n: a.ranks.get(hit.document) for n, a in answers.items() if n != name},
                "lost": lost,
                "excerpt": None if hit.text is None else [asdict(piece) for piece in shown],
                "whole": None if hit.text is None else [asdict(piece) for piece in whole],
                "cut": len(text) > WHOLE_LENGTH,
            }
        )
    return rows


def _gone(before: Answer, after: Answer) -> list[dict[str, Any]]:
    kept = {hit.document for hit in after.hits}
    return [
        {"document": hit.document, "first_rank": rank, "rank": after.ranks.get(hit.document)}
        for rank, hit in enumerate(before.hits, 1)
        if hit.document not in kept
    ]
