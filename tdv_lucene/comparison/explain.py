"""What pruning did to one query: its terms and their TDVs, and the hits before and after."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysis
from ..errors import TdvError
from ..indexes.analysis import analysis_of, refuse_different
from ..indexes.query_terms import check_query_terms
from ..indexes.search_parameters import recorded_parameters, warn_of_another_search
from ..indexes.user_data import notes_on_strangers
from ..jvm.analysis import analyze
from ..jvm.open_index import Hit, OpenIndex
from ..jvm.searcher import make_similarity
from ..ranking import SearchParameters
from ..report.wording import shortened
from .config import ExplainConfig
from .inputs import open_alike, shared_model
from .term_changes import TermMeasure, Value, measure_terms

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedIndex:
    """An open index, with what is needed to search it and to explain what pruning did to it.

    ``shown`` is what is shown of terms: their TDVs, or a ratio of frequencies.
    """

    parameters: SearchParameters
    searcher: OpenIndex
    shown: TermMeasure


@dataclass(frozen=True)
class Answer:
    """What one index answered.

    Attributes
    ----------
    hits : best first
    ranks : document -> rank from 1
    counts : term -> (document frequency, total term frequency)
    matching : documents that hold a term of the query
    frequencies : document -> term -> its frequency, of all documents that any index shows
    """

    hits: list[Hit]
    ranks: dict[str, int]
    counts: dict[str, tuple[int, int]]
    matching: int
    frequencies: dict[str, dict[str, int]]


class SideBySide:
    """Several indexes open at once, each searched with what it records. A context manager.

    Parameters
    ----------
    indexes
        Name -> index; the first is the one the others are compared with.
    model
        None for what the further indexes record; any other causes a warning in the log.
    analysis
        How queries are analysed; None as the indexes were.

    Raises
    ------
    TdvError
        When an index cannot be read, or the indexes record different models and none is given.
    """

    def __init__(
        self,
        indexes: Mapping[str, str | os.PathLike[str]],
        *,
        model: str | None = None,
        field: str = "contents",
        analysis: Analysis | None = None,
        id_field: str | None = None,
    ) -> None:
        self.field = field
        self.opened: dict[str, OpenedIndex] = {}
        with ExitStack() as stack:
            self.indexes = stack.enter_context(open_alike(indexes, id_field))
            found = {
                name: analysis_of(index, field, analysis) for name, index in self.indexes.items()
            }
            self.analysed = refuse_different(found, "the indexes")
            model = model or shared_model(self.indexes, field)
            for note in notes_on_strangers({f"{i}": i for i in self.indexes.values()}, field):
                _log.warning("%s", note)
            for name, index in self.indexes.items():
                parameters = recorded_parameters(index, model, field=field)
                warn_of_another_search(index, parameters, index.record(field))
                searcher = stack.enter_context(
                    OpenIndex(index, make_similarity(parameters), field, self.analysed.analysis)
                )
                shown = measure_terms(index, field)
                self.opened[name] = OpenedIndex(parameters, searcher, shown)
            self._stack = stack.pop_all()

    def __enter__(self) -> SideBySide:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def analyze(self, query: str) -> Counter[str]:
        """The terms of the query and how often each is in it.

        Raises :class:`TdvError` when nothing is left.
        """
        (tokens,) = analyze([query], self.field, self.analysed.analysis)
        if not tokens:
            raise TdvError(
                f"nothing is left of '{shortened(query)}', analysed as "
                f"{self.analysed.describe()}: it may be only stop words; ask another query"
            )
        return Counter(tokens)

    def ask(self, query: str, terms: Sequence[str], hits: int) -> dict[str, Answer]:
        """Return the answers of all indexes, ``hits`` documents from each."""
        found = {name: opened.searcher.search(query, hits) for name, opened in self.opened.items()}
        shown = list(dict.fromkeys(hit.document for best in found.values() for hit in best))
        answers = {}
        for name, best in found.items():
            searcher = self.opened[name].searcher
            matching, frequencies = searcher.query_postings(terms, shown)
            ranks = {hit.document: rank for rank, hit in enumerate(best, 1)}
            counts = searcher.count_terms(terms)
            answers[name] = Answer(best, ranks, counts, matching, frequencies)
        return answers


def lost_terms(document: str, before: Answer, after: Answer) -> list[str]:
    """Return the terms of the query whose posting in the document was dropped."""
    there = after.frequencies.get(document, {})
    return [t for t, tf in before.frequencies.get(document, {}).items() if tf and not there.get(t)]


def explain_terms(
    terms: Mapping[str, int], before: Answer, after: Answer, value: Value
) -> list[dict[str, Any]]:
    """Return for each term of the query: ``term``, ``in_query`` (times), ``tdv`` (0 if dropped,
    None if unknown), ``df_before``, ``df_after``, ``postings_removed``."""
    explained = []
    for term, times in terms.items():
        was, is_ = before.counts[term], after.counts[term]
        explained.append(
            {
                "term": term,
                "in_query": times,
                "tdv": value(term, was, is_) if was[0] else None,
                "df_before": was[0],
                "df_after": is_[0],
                "postings_removed": was[0] - is_[0],
            }
        )
    return explained


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
