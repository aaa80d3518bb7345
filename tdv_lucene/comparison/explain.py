"""What pruning did to one query: its terms and their TDVs, and the hits before and after."""

from __future__ import annotations

import os
from typing import Any

from ..indexes.query_terms import check_query_terms
from .config import ExplainConfig
from .side_by_side import Answer, SideBySide, explain_terms, lost_terms


def explain_query(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    query: str,
    config: ExplainConfig | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compare how two indexes answer ``query``, each searched with the parameters it records.

    Parameters
    ----------
    config, options
        A :class:`ExplainConfig`, or its options by name, as ``hits=20``. Without ``model``,
        the one that ``pruned`` records is used; any other causes a warning in the log. Terms of an
        index that has no plan are shown with the ratio of their frequencies in the two indexes.

    Returns
    -------
    dict
        - ``query``, ``analysis``, and the ``parameters`` of both searches.
        - ``tdv_kind``: ``"learned"`` or ``"ratio"``, which ``tdv`` is.
        - ``terms``, for each distinct term of the analysed query: ``term``, ``in_query`` (times),
          ``tdv`` (0 if dropped, None if unknown), ``df_before``, ``df_after``,
          ``postings_removed``.
        - ``hits``, ``before`` and ``after``: the best documents, each with ``rank``, ``document``,
          ``score``, ``other_rank`` (in the other list, None outside it), ``tf`` (term ->
          frequencies before and after, for the query's terms in the document) and ``lost``, the
          terms whose posting in the document was dropped.
        - ``matching``: how many documents hold a term of the query, ``before`` and ``after``.

        Scores and frequencies of the two indexes are on different scales.

    Raises
    ------
    TdvError
        When an index cannot be read, ``hits`` is below 1, or nothing is left of the query after
        analysis.
    """
    config = ExplainConfig.of(config, options)
    field = config.field
    paths = {"before": index, "after": pruned}
    with SideBySide(
        paths, model=config.model, field=field, analysis=config.analysis, id_field=config.id_field
    ) as both:
        check_query_terms(both.indexes["before"], field, both.analysed, [query])
        terms = both.analyze(query)
        answers = both.ask(query, list(terms), config.hits)
        before, after = answers.values()
        return {
            "query": query,
            "analysis": both.analysed.describe(),
            "tdv_kind": both.opened["after"].shown.kind,
            "terms": explain_terms(terms, before, after, both.opened["after"].shown.value),
            "matching": {when: answer.matching for when, answer in answers.items()},
            "hits": {
                "before": _hits(before, after, before, after),
                "after": _hits(after, before, before, after),
            },
            "parameters": {
                when: opened.parameters.describe() for when, opened in both.opened.items()
            },
        }


def _hits(found: Answer, other: Answer, before: Answer, after: Answer) -> list[dict[str, Any]]:
    """Return the hits of ``found`` (``before`` or ``after``) as :func:`explain_query` has them."""
    hits = []
    for rank, hit in enumerate(found.hits, 1):
        there = after.frequencies.get(hit.document, {})
        held = before.frequencies.get(hit.document, {})
        hits.append(
            {
                "rank": rank,
                "document": hit.document,
                "score": hit.score,
                "other_rank": other.ranks.get(hit.document),
                "tf": {term: [tf, there.get(term, 0)] for term, tf in held.items() if tf},
                "lost": lost_terms(hit.document, before, after),
            }
        )
    return hits
