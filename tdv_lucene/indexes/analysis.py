"""Whether queries are analysed as an index was: it does not record its analyzer, but it shows."""

from __future__ import annotations

import logging
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ..jvm.dictionary import Dictionary, Known

_log = logging.getLogger(__name__)

_ENOUGH = 50
"""Different terms that say something; with fewer, queries tell less than the index itself."""
_MISSING = 0.1
"""A share of the terms that any collection may lack, misspelt ones among them; so much more, at
least, are known to the analyzer that made the index."""
_STRANGE = 0.5
"""A share that no queries lack which are of the index's collection and language."""
_MOST_TEXTS = 1000

_UNLIKE = "is the index of their collection and language, and of the default analyzer?"

_Form: TypeAlias = Literal["NFC", "NFD"]
_FORMS: tuple[tuple[_Form, str, str], ...] = (
    ("NFC", "a base and marks (Unicode NFD)", "single characters (NFC)"),
    ("NFD", "single characters (Unicode NFC)", "a base and marks (NFD)"),
)
"""How the queries should be, what they are then, and what the index has."""

_COMMON_WORDS = (
    "information libraries countries companies studies activities communities families cities "
    "possibilities operations relations conditions positions decisions solutions questions "
    "organization education production population situation application description "
    "development government management statement movement agreement requirement "
    "including using making taking following according building leading beginning understanding "
    "developed required provided described considered produced established increased "
    "different important national political economic historical natural available possible "
    "years times systems methods results problems services members groups changes values "
    "generally especially usually particularly recently directly currently finally"
).split()
"""English words that the default analyzer changes, of which a dictionary of English has many."""


def warn_of_another_analyzer(
    index: str | os.PathLike[str], field: str, queries: Iterable[str] = ()
) -> None:
    """Log :func:`notes_on_analysis` as warnings."""
    for note in notes_on_analysis(index, field, queries):
        _log.warning("%s", note)


def warn_of_lost_queries(
    index: str | os.PathLike[str],
    field: str,
    queries: Mapping[str, str],
    without_hits: Sequence[str],
) -> None:
    """Log as warnings why a search found less than it could, or nothing at all."""
    if len(without_hits) == len(queries):
        _log.warning("%s", note_on_nothing_found(index, field, queries))
    warn_of_another_analyzer(index, field, queries.values())


def notes_on_analysis(
    index: str | os.PathLike[str],
    field: str,
    queries: Iterable[str] = (),
    name: str | None = None,
) -> list[str]:
    """Return in words what queries lose because ``field`` was analysed otherwise; mostly nothing.

    Queries are analysed by Anserini's default English analyzer. It is compared with the others that
    Anserini indexes with, by the share of different terms that the field's dictionary has: of the
    queries, or where those are few, of text that the index stores, or of common English words.
    ``name`` is what to call the index; None for its path.
    """
    from ..jvm.dictionary import open_dictionary

    texts = _some(list(dict.fromkeys(queries)))
    where = f"{name or index} (field '{field}')"
    with open_dictionary(index, field) as dictionary:
        asked = dictionary.look_up(texts)
        notes = [_note_on_form(where, dictionary, texts, asked)]
        if asked.terms >= _ENOUGH:
            note = _note_on_analyzer(where, dictionary, texts, asked, "the queries")
            if not note and asked.known and not _is_pruned(index, field):
                note = _note_on_strange(where, asked)
            notes.append(note)
        else:
            stored = dictionary.stored_texts() if field == "contents" else []
            for source, what in (
                (stored, "text that it stores"), (_COMMON_WORDS, "common English words")
            ):  # fmt: skip
                found = dictionary.look_up(source)
                if found.terms >= _ENOUGH:
                    notes.append(_note_on_analyzer(where, dictionary, source, found, what))
                    break
    return [note for note in notes if note]


def note_on_nothing_found(
    index: str | os.PathLike[str],
    field: str,
    queries: Mapping[str, str],
    name: str | None = None,
) -> str:
    """Return in words why none of the ``queries`` finds anything, as likely as can be told."""
    from ..jvm.dictionary import open_dictionary

    texts = _some(list(queries.values()))
    with open_dictionary(index, field) as dictionary:
        asked = dictionary.look_up(texts)
        others = [other for other in dictionary.fields() if other != field]
    if not asked.terms:
        why = "nothing is left of them after analysis (only stop words?)"
    elif asked.known:
        why = "only deleted documents hold their terms"
    elif _is_pruned(index, field):
        why = "pruning left none of their terms; drop less"
    else:
        why = f"the field has none of their {asked.terms:,} terms ({_such_as(asked)})"
        for other in others:
            with open_dictionary(index, other) as dictionary:
                known = dictionary.look_up(texts).known
            if known:
                why += f"; the field '{other}' has {len(known):,} of them: search that"
                break
        else:
            why += f"; {_UNLIKE}"
    return nothing_found(field, name or index, why)


def nothing_found(field: str, name: object, why: str = _UNLIKE) -> str:
    """Return in words that no query finds anything, and why."""
    return f"no query finds a document in the field '{field}' of {name}: {why}"


def _some(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: 1 + len(texts) // _MOST_TEXTS]


def _note_on_analyzer(
    where: str,
    dictionary: Dictionary,
    texts: Sequence[str],
    found: Known,
    what: str,
) -> str:
    from ..jvm.dictionary import other_analyzers

    if 1 - found.share < _MISSING:
        return ""
    others = (
        (option, dictionary.look_up(texts, made))
        for option, made in other_analyzers(" ".join(found.unknown))
    )
    option, best = max(others, key=lambda other: other[1].share)  # the first of equals
    if best.share < found.share + _MISSING or len(best.known) < len(found.known):
        return ""
    return (
        f"{where} seems to be made with another analyzer than queries are analysed by here, "
        f"Anserini's default English one: it has {found.share:.0%} of the {found.terms:,} terms of "
        f"{what} (not {_such_as(found)}), and would have {best.share:.0%} by Anserini's {option}. "
        "Queries find less than they could, and all that is learned and measured is worse: index "
        "the collection with the default analyzer"
    )


def _note_on_strange(where: str, asked: Known) -> str:
    if 1 - asked.share < _STRANGE:
        return ""
    return (
        f"{where} has {asked.share:.0%} of the {asked.terms:,} terms of the queries (not "
        f"{_such_as(asked)}): is it of their collection, in their language, and is this the field "
        "to search?"
    )


def _is_pruned(index: str | os.PathLike[str], field: str) -> bool:
    from .user_data import FieldRecord

    return FieldRecord.read(index, field).values_sha256 is not None


def _note_on_form(where: str, dictionary: Dictionary, texts: Sequence[str], asked: Known) -> str:
    """Letters with marks are one character or several, and terms of one do not match the other."""
    if not asked.unknown:
        return ""
    for form, is_, has in _FORMS:
        normal = {text: unicodedata.normalize(form, text) for text in texts}
        changed = [text for text in texts if normal[text] != text]
        if not changed:
            continue
        before = dictionary.look_up(changed)
        after = dictionary.look_up([normal[text] for text in changed])
        # Of the terms that the form makes a difference to: some texts have both forms.
        found = {*before.known} - {*after.known, *after.unknown}
        would_be = {*after.known} - {*before.known, *before.unknown}
        if len(would_be) > len(found):
            return (
                f"queries have letters as {is_} that {where} has as {has}: they do not find, here "
                f"as in Pyserini, {len(would_be):,} of its terms, such as '{min(would_be)}'. Write "
                f"the queries in {form}"
            )
    return ""


def _such_as(found: Known) -> str:
    shown = ", ".join(f"'{term}'" for term in found.unknown[:3])
    return shown + (", ..." if len(found.unknown) > 3 else "")
