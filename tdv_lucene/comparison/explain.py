"""Explain what pruning did to one query: its terms, their TDVs, the hits before and after."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ..errors import TdvError
from ..index.analysis import analysis_of, refuse_different
from ..index.parameters import recorded_parameters, warn_of_another_search
from ..index.queries import check_query_terms
from ..index.record import notes_on_strangers
from ..jvm.analysis import analyze
from ..jvm.open_index import Hit, OpenIndex
from ..jvm.searcher import make_similarity
from ..report.wording import shortened
from .config import ExplainConfig
from .inputs import asked_tiers, open_alike, shared_model
from .term_changes import Value, measure_terms

_log = logging.getLogger(__name__)


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
    field, parameters, searchers = config.field, {}, {}
    with ExitStack() as stack:
        paths = {"before": index, "after": pruned}
        indexes = stack.enter_context(open_alike(paths, config.id_field))
        found = {name: analysis_of(one, field, config.analysis) for name, one in indexes.items()}
        analysed = refuse_different(found, "the indexes")
        model = config.model or shared_model(indexes, field)
        for note in notes_on_strangers({f"{one}": one for one in indexes.values()}, field):
            _log.warning("%s", note)
        for name, one in indexes.items():
            parameters[name] = recorded_parameters(
                one, model, field=field, **asked_tiers(one, config)
            )
            warn_of_another_search(one, parameters[name], one.record(field))
            similarity = make_similarity(parameters[name])
            searchers[name] = stack.enter_context(
                OpenIndex(one, similarity, field, analysed.analysis, parameters[name].tiers)
            )
        shown = measure_terms(indexes["after"], field)
        check_query_terms(indexes["before"], field, analysed, [query])
        (tokens,) = analyze([query], field, analysed.analysis)
        if not tokens:
            raise TdvError(
                f"nothing is left of '{shortened(query)}', analysed as {analysed.describe()}: it "
                "may be only stop words; ask another query"
            )
        terms = Counter(tokens)
        answers = _ask(searchers, query, terms, config.hits)
        before, after = answers.values()
        return {
            "query": query,
            "analysis": analysed.describe(),
            "tdv_kind": shown.kind,
            "terms": _explain_terms(terms, before, after, shown.value),
            "matching": {when: answer.matching for when, answer in answers.items()},
            "hits": {
                "before": _hits(before, after, before, after),
                "after": _hits(after, before, before, after),
            },
            "parameters": {when: chosen.describe() for when, chosen in parameters.items()},
        }


@dataclass(frozen=True)
class _Answer:
    """The answer of one index."""

    hits: list[Hit]  # best first
    counts: dict[str, tuple[int, int]]  # term -> (document frequency, total term frequency)
    matching: int  # number of documents that hold a term of the query
    frequencies: dict[str, dict[str, int]]  # document -> term -> its frequency, for all shown


def _ask(
    searchers: Mapping[str, OpenIndex], query: str, terms: Mapping[str, int], hits: int
) -> dict[str, _Answer]:
    """Return the answers of all indexes, ``hits`` documents from each."""
    found = {name: searcher.search(query, hits) for name, searcher in searchers.items()}
    shown = list(dict.fromkeys(hit.document for best in found.values() for hit in best))
    answers = {}
    for name, best in found.items():
        matching, frequencies = searchers[name].query_postings(list(terms), shown)
        counts = searchers[name].count_terms(list(terms))
        answers[name] = _Answer(best, counts, matching, frequencies)
    return answers


def _explain_terms(
    terms: Mapping[str, int], before: _Answer, after: _Answer, value: Value
) -> list[dict[str, Any]]:
    counts = {term: (before.counts[term], after.counts[term]) for term in terms}
    return [
        {
            "term": term,
            "in_query": terms[term],
            "tdv": value(term, was, is_) if was[0] else None,
            "df_before": was[0],
            "df_after": is_[0],
            "postings_removed": was[0] - is_[0],
        }
        for term, (was, is_) in counts.items()
    ]


def _hits(found: _Answer, other: _Answer, before: _Answer, after: _Answer) -> list[dict[str, Any]]:
    """Return the hits of ``found``, which is ``before`` or ``after``."""
    other_ranks = {hit.document: rank for rank, hit in enumerate(other.hits, 1)}
    hits = []
    for rank, hit in enumerate(found.hits, 1):
        there = after.frequencies.get(hit.document, {})
        held = {t: tf for t, tf in before.frequencies.get(hit.document, {}).items() if tf}
        hits.append(
            {
                "rank": rank,
                "document": hit.document,
                "score": hit.score,
                "other_rank": other_ranks.get(hit.document),
                "tf": {term: [tf, there.get(term, 0)] for term, tf in held.items()},
                "lost": [term for term in held if not there.get(term)],
            }
        )
    return hits
