"""Changes by pruning: of one query's terms and hits, and of all terms."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError
from ..index.analysis import analysis_of, refuse_different
from ..index.index import Index
from ..index.parameters import recorded_parameters, warn_of_another_search
from ..index.queries import check_query_terms
from ..jvm import searcher
from ..jvm.analysis import analyze
from ..jvm.searcher import Hit
from ..report.wording import shortened
from ..vocabulary import ByteStrings
from .config import ExplainConfig
from .inputs import asked_tiers, notes_on_strangers, open_alike, refuse_swapped, shared_model

_log = logging.getLogger(__name__)
_Frequencies = Mapping[str, Mapping[str, int]]  # document -> term -> its frequency


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
        the one that ``pruned`` records is used; any other causes a warning in the log.

    Returns
    -------
    dict
        - ``query``, ``analysis``, and the ``parameters`` of both searches.
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
    field, parameters, best = config.field, {}, {}
    with open_alike({"before": index, "after": pruned}, config.id_field) as indexes:
        found = {name: analysis_of(one, field, config.analysis) for name, one in indexes.items()}
        analysed = refuse_different(found, "the indexes")
        model = config.model or shared_model(indexes, field)
        named = {f"{one}": one for one in indexes.values()}
        refuse_swapped(named, field)
        for note in notes_on_strangers(named, field):
            _log.warning("%s", note)
        check_query_terms(indexes["before"], field, analysed, [query])
        (tokens,) = analyze([query], field, analysed.analysis)
        if not tokens:
            raise TdvError(
                f"nothing is left of '{shortened(query)}', analysed as {analysed.describe()}: it "
                "may be only stop words; ask another query"
            )
        for when, one in indexes.items():
            asked = asked_tiers(one, config)
            parameters[when] = chosen = recorded_parameters(one, model, field=field, **asked)
            warn_of_another_search(one, chosen, one.record(field))
            with searcher.open_searched(
                one, searcher.make_similarity(chosen), field, analysis=analysed.analysis, threads=1,
                tiers=chosen.tiers,
            ) as search:  # fmt: skip
                best[when] = search.best(query, config.hits)
        terms = Counter(tokens)
        shown = list(dict.fromkeys(hit.document for hits in best.values() for hit in hits))
        held = {
            when: searcher.query_postings(one, field, [*terms], shown)
            for when, one in indexes.items()
        }
        counts = [searcher.count_terms(one, field, [*terms]) for one in indexes.values()]
        tdv_of, _ = learned_tdvs(indexes["after"], field)
        frequencies = [documents for _, documents in held.values()]
        return {
            "query": query,
            "analysis": analysed.describe(),
            "terms": [
                {
                    "term": term,
                    "in_query": times,
                    "tdv": (tdv_of(term.encode()) if is_[0] else 0.0) if was[0] else None,
                    "df_before": was[0],
                    "df_after": is_[0],
                    "postings_removed": was[0] - is_[0],
                }
                for term, times in terms.items()
                for was, is_ in [(counts[0][term], counts[1][term])]
            ],
            "matching": {when: matching for when, (matching, _) in held.items()},
            "hits": {
                "before": _hits(best["before"], best["after"], *frequencies),
                "after": _hits(best["after"], best["before"], *frequencies),
            },
            "parameters": {when: chosen.describe() for when, chosen in parameters.items()},
        }


def _hits(
    found: Sequence[Hit], others: Sequence[Hit], before: _Frequencies, after: _Frequencies
) -> list[dict[str, Any]]:
    ranks = {hit.document: rank for rank, hit in enumerate(others, 1)}
    hits = []
    for rank, hit in enumerate(found, 1):
        there = after.get(hit.document, {})
        held = {term: tf for term, tf in before.get(hit.document, {}).items() if tf}
        hits.append(
            {
                "rank": rank,
                "document": hit.document,
                "score": hit.score,
                "other_rank": ranks.get(hit.document),
                "tf": {term: [tf, there.get(term, 0)] for term, tf in held.items()},
                "lost": [term for term in held if not there.get(term)],
            }
        )
    return hits


_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Tdv = Callable[[bytes], float | None]
"""The TDV of a term; None if it has none."""


def learned_tdvs(pruned: Index, field: str) -> tuple[Tdv, str]:
    """Return the TDVs of an index's plan, and what they were learned from; none without a plan."""
    plan = None if pruned.plan is None else pruned.plan.of(field)
    if plan is None:
        return lambda term: None, "nothing: the index has no plan"

    def tdv(term: bytes) -> float | None:
        position = int(plan.vocabulary.find([term])[0])
        return None if position < 0 else float(plan.tdv[position])

    return tdv, str(plan.facts["learned_from"])


def describe_terms(index: Index, pruned: Index, field: str) -> dict[str, Any]:
    """Return :func:`list_changes` of two indexes, with the ``source`` of their TDVs."""
    tdv_of, source = learned_tdvs(pruned, field)
    with searcher.every_pair(index, pruned, field) as (terms, counts):
        return {"source": source, **list_changes(terms, counts, index.documents, tdv_of)}


def list_changes(
    terms: ByteStrings, counts: np.ndarray, documents: int, tdv_of: Tdv
) -> dict[str, Any]:
    """Return the terms most worth showing, 20 a list.

    ``counts``, int64[n, 4], are document and total term frequency before, and those after.

    Returns
    -------
    dict
        ``dropped`` (number of terms), ``most_dropped`` (by postings saved), ``raised`` and
        ``lowered`` (by TDV, of terms in at least one document of a thousand): lists of dicts of
        ``term``, ``tdv`` (0 if dropped), ``df_before`` and ``df_after``.
    """

    def change(term: bytes, tdv: float, before: int, after: int) -> dict[str, Any]:
        text = term.decode(errors="backslashreplace")
        return {"term": text, "tdv": tdv, "df_before": before, "df_after": after}

    doc_freq = counts[:, 0]
    dropped = (doc_freq > 0) & (counts[:, 2] == 0)
    least = np.sort(doc_freq[dropped])[-_MOST:].min(initial=doc_freq.max(initial=0))
    most = np.flatnonzero(dropped & (doc_freq >= least)).tolist()  # a few more if some are equal
    largest = sorted(((int(doc_freq[i]), terms[i]) for i in most), reverse=True)[:_MOST]
    kept = []
    common = doc_freq >= max(_FEWEST_DOCUMENTS, documents // _COMMON)
    for i in np.flatnonzero(common & ~dropped).tolist():
        if (tdv := tdv_of(terms[i])) is not None:
            kept.append(change(terms[i], tdv, int(doc_freq[i]), int(counts[i, 2])))
    kept.sort(key=lambda change: (change["tdv"], change["term"]))
    return {
        "dropped": int(np.count_nonzero(dropped)),
        "most_dropped": [change(term, 0.0, df, 0) for df, term in largest],
        "raised": [row for row in reversed(kept) if row["tdv"] > 1][:_MOST],
        "lowered": [row for row in kept if row["tdv"] < 1][:_MOST],
    }


def trade_off(pruned: Index, field: str) -> dict[str, Any] | None:
    """Return the operating points that learning measured, or None.

    ``points`` have ``reduction`` and ``measures``, ``full`` has the measures of the full index on
    the same held-out queries, ``chosen`` is the reduction asked for.
    """
    plan = None if pruned.plan is None else pruned.plan.of(field)
    if plan is None or not plan.learned["points"]:
        return None
    chosen, points = plan.facts["requested_reduction"], plan.learned["points"]
    return {"points": points, "full": plan.learned["full"], "chosen": chosen}
