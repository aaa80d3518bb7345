"""Topics as Lucene can search them, and whether an index has the terms they are analysed into."""

from __future__ import annotations

import logging
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..analysis import Analysis
from ..errors import TdvError
from ..jvm.analysis import Dictionary, Known, find_places, most_terms
from ..ranking import DEFAULT_MODEL, SearchParameters, ranking_function
from .analysis import FieldAnalysis, candidates
from .index import Index
from .parameters import Described

_log = logging.getLogger(__name__)

_SHOWN = 3


def searchable_topics(topics: Mapping[str, str], field: str, analysis: Analysis) -> dict[str, str]:
    """Return the topics; of those with more different terms than Lucene takes in one query, only
    the beginning, with a warning: one of them would end the search of all others."""
    most = most_terms()
    # Each term has a character at least: most topics need no analysis to be short enough.
    suspects = {qid: text for qid, text in topics.items() if len(text) > most}
    cut = {}
    for qid, places in zip(suspects, find_places([*suspects.values()], field, analysis)):
        first: dict[str, int] = {}
        for number, (*_, term) in enumerate(places):
            first.setdefault(term, number)
        if len(first) > most:  # up to the token before the first term too many
            _, end, _ = places[[*first.values()][most] - 1]
            cut[qid] = len(first), suspects[qid][:end]
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
    for (qid, text), places in zip(
        topics.items(), find_places([*topics.values()], field, analysis)
    ):
        weights = Counter(term for *_, term in places)
        kept = heaviest_terms(weights, share)
        # As they are written: a stem may have another stem.
        found[qid] = " ".join(text[start:end] for start, end, term in places if term in kept)
        before, after = before + len(weights), after + len(kept)
    return found, {
        "query_terms": share,
        "terms_per_query_before": before / len(topics),
        "terms_per_query": after / len(topics),
    }


_ENOUGH = 50  # different terms that say something
# A share of the terms that any collection may lack, misspelt ones among them; half as many more, at
# least, are known to the analyzer that made the index.
_MISSING = 0.1
_STRANGE = 0.5  # no queries of the index's collection and language lack such a share
_MOST_TEXTS = 1000

_UNLIKE = "is the index of their collection and language?"


def check_query_terms(
    index: Described,
    field: str,
    analysed: FieldAnalysis,
    queries: Iterable[str],
    dictionary: Dictionary | None = None,
) -> None:
    """Log :func:`notes_on_query_terms` as warnings.

    Raises :class:`TdvError` when the index has less than half as many of the queries' terms as by
    another analysis.
    """
    given = index, field, analysed, queries
    for note in notes_on_query_terms(*given, refuse=True, dictionary=dictionary):
        _log.warning("%s", note)


def notes_on_query_terms(
    index: Described,
    field: str,
    analysed: FieldAnalysis,
    queries: Iterable[str],
    name: str | None = None,
    *,
    refuse: bool = False,
    dictionary: Dictionary | None = None,
) -> list[str]:
    """Return in words what queries lose because ``field`` was analysed otherwise; mostly nothing.

    The share of the queries' different terms that the field's dictionary has is held against the
    same by other analyses. ``name`` is what to call the index; None for its path. With ``refuse``
    a large loss is an error. ``dictionary`` None is the index's own.
    """
    texts = _sampled(dict.fromkeys(queries))
    where = f"{name or index} (field '{field}')"
    if dictionary is None:
        assert isinstance(index, Index)
        dictionary = Dictionary(index, field)
    asked = dictionary.look_up(texts, analysed.analysis)
    notes = [_note_on_form(where, dictionary, texts, asked)]
    doubt = _note_on_doubt(where, dictionary, analysed, texts, asked)
    if asked.terms >= _ENOUGH and 1 - asked.share >= _MISSING:
        best = dictionary.compare(texts, candidates(texts))[0]
        is_better = best.share >= asked.share + _MISSING / 2 and len(best.known) >= len(asked.known)
        has = f"{where} has {asked.share:.0%} of the {asked.terms:,} terms of the queries"
        if not analysed.is_proved and is_better:
            doubt = (
                f"{has}, analysed as {analysed.describe()} (not {_such_as(asked)}), and would have "
                f"{best.share:.0%} analysed as {best.analysis.describe()}. If the index was made "
                f"so, give {best.analysis.flags()}: else queries find less than they could, and "
                "what is learned and measured is worse"
            )
            if refuse and 2 * asked.share < best.share:
                raise TdvError(doubt)
        elif asked.known and not index.record(field).is_pruned and 1 - asked.share >= _STRANGE:
            notes.append(
                f"{has} (not {_such_as(asked)}): is it of their collection, in their language, and "
                "is this the field to search?"
            )
    return [note for note in (*notes, doubt) if note]


def note_on_nothing_found(
    index: Index,
    field: str,
    analysed: FieldAnalysis,
    queries: Iterable[str],
    name: str | None = None,
) -> str:
    """Return in words why none of the ``queries`` finds anything, as likely as can be told."""
    texts = _sampled(queries)
    dictionary = Dictionary(index, field)
    asked = dictionary.look_up(texts, analysed.analysis)
    others = [other for other in dictionary.fields() if other != field]
    ways = [] if analysed.is_proved else dictionary.compare(texts, candidates(texts))
    how = f"analysed as {analysed.describe()}"
    if not asked.terms:
        why = f"nothing is left of them, {how} (only stop words?)"
    elif asked.known:
        why = "only deleted documents hold their terms"
    elif index.record(field).requested_reduction:
        why = "pruning left none of their terms; drop less"
    else:
        why = f"the field has none of their {asked.terms:,} terms ({_such_as(asked)}), {how}"
        for other in others:
            known = Dictionary(index, other).look_up(texts, analysed.analysis).known
            if known:
                why += f"; the field '{other}' has {len(known):,} of them: search that"
                break
        else:
            why += f"; {_UNLIKE if analysed.is_proved else _other_ways(ways)}"
    return nothing_found(field, name or index, why)


def nothing_found(field: str, name: object, why: str = _UNLIKE) -> str:
    """Return in words that no query finds anything, and why."""
    return f"no query finds a document in the field '{field}' of {name}: {why}"


def _other_ways(ways: Sequence[Known]) -> str:
    """Name the analyses by which an index has terms of queries that find nothing."""
    most = len(ways[0].known)
    best = [one.analysis for one in ways if len(one.known) == most][:_SHOWN]
    if not most:
        return _UNLIKE
    return (
        f"it has {most:,} as {' or '.join(one.describe() for one in best)}: if the index was made "
        f"so, give {' or '.join(one.flags() for one in best)}"
    )


def _sampled(queries: Iterable[str]) -> Sequence[str]:
    texts = list(queries)
    return texts[:: 1 + len(texts) // _MOST_TEXTS]


def _note_on_doubt(
    where: str, dictionary: Dictionary, analysed: FieldAnalysis, texts: Sequence[str], asked: Known
) -> str:
    """Warn where the index may have been analysed otherwise, and it makes a difference."""
    others = [
        one for one in analysed.others
        if {*dictionary.look_up(texts, one).known} != {*asked.known}
    ]  # fmt: skip
    if not others:
        return ""
    return (
        f"how {where} was analysed cannot be told for sure. Queries are analysed as "
        f"{analysed.analysis.describe()}, and would find other terms as "
        f"{' or '.join(one.describe() for one in others[:_SHOWN])}. {analysed.advice}"
    )


def _note_on_form(where: str, dictionary: Dictionary, texts: Sequence[str], asked: Known) -> str:
    """Letters with marks are one character or several, and terms of one do not match the other."""
    form: Literal["NFC", "NFD"]
    for form in ("NFC", "NFD") if asked.unknown else ():
        normal = [unicodedata.normalize(form, text) for text in texts]
        if normal != [*texts]:
            known = dictionary.look_up(normal, asked.analysis).known
            if len(known) > len(asked.known):
                more = {*known} - {*asked.known}
                return (
                    f"{where} has letters with marks in Unicode's form {form}, and the queries in "
                    f"another: they do not find, here as in Pyserini, {len(more):,} of its terms, "
                    f"such as '{min(more)}'. Write the queries in {form}"
                )
    return ""


def _such_as(found: Known) -> str:
    shown = ", ".join(f"'{term}'" for term in found.unknown[:_SHOWN])
    return shown + (", ..." if len(found.unknown) > _SHOWN else "")
