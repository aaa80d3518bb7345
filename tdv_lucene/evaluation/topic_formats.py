"""Formats of topics: lines, JSON and markup. Each reader accounts for all of a file, or fails.

Anserini's readers are only called by name, because most drop text silently: Trec's drops a title up
to its colon, and a topic whose ``<top>`` or ``<num>`` does not begin a line; Web's drops what
follows a second colon. They turn ids into integers (041 is 41) and keep ``<i>`` and ``&amp;``.
"""

from __future__ import annotations

import html
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from ..errors import TdvError

_log = logging.getLogger(__name__)

# Parts of a topic that can be the query, and their names in JSON, markup and Anserini.
TOPIC_FIELDS = {"title": ("title", "text", "query", "content", "raw_utterance", "question"),
                "desc": ("desc", "description", "question"),
                "narr": ("narr", "narrative")}  # fmt: skip
VECTOR = "vector"  # key in JSON for the weights of a topic's terms, in place of its text
LARGEST_WEIGHT = 10_000  # weights become repetitions: larger ones would make megabytes of text

_ID_KEYS = ("id", "qid", "query_id", "_id", "question_id", "num", "number", "identifier", "docno")
_NAMES = {*_ID_KEYS, *TOPIC_FIELDS["title"], *TOPIC_FIELDS["desc"], *TOPIC_FIELDS["narr"]}
_BREAKS = "br|div|hr|li|p"
_INLINE = f"{_BREAKS}|a|b|em|font|i|small|span|strong|sub|sup|tt|u"
_SGML = re.DOTALL | re.IGNORECASE | re.MULTILINE
_TOPIC = re.compile(r"<(top|topic|query|doc|qapairs)(?=[\s>])([^<>]*)>(?:(.*?)</\1\s*>)?", _SGML)
_ID_ATTRIBUTE = re.compile(
    r"""\b(?:id|num|number|topic_id)\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)""", _SGML
)
_TAG = re.compile(r"<[/!?]?(?:[a-z]{2}-)?([a-z][\w-]*)[^<>]*>", _SGML)
_BREAK = re.compile(rf"</?(?:{_BREAKS})\b[^<>]*>|<[a-z][^<>]*/>", _SGML)
_PAIR = re.compile(r"<([a-z][\w-]*)(?=[\s>])[^<>]*>(.*?)</\1\s*>", _SGML)
_FIELD = re.compile(rf"^[ \t]*(?=<(?!(?:{_INLINE})\b)[a-z])|(?=<(?:num|title|desc|narr)>)", _SGML)
_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", _SGML)
# Id, query and unused rest of a line: TSV, Anserini's Web and TREC CAR.
_LINES = [
    re.compile(r"([^\t]+)\t([^\t]*)(\t.*)?"),
    re.compile(r"(\d+):(?!\d+:)([^\t]+)()"),
    re.compile(r"(?=(\S+))enwiki:(\S+)()"),
]
_JUDGED = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+(?:\s+\S+\s+\S+)?")  # or ranked: qrels, a run

_Topics = Iterator[tuple[str, Mapping[str, Any]]]
"""File and line of each topic, and its fields."""


def form_of(text: str, path: Path, is_log: bool = False) -> Callable[[str, Path], _Topics]:
    """Return the reader for this text, by its first line or the file's name. A log's lines may be
    queries without ids."""
    first = next((line.strip() for _, line in lines(text)), "")
    if {".json", ".jsonl"} & set(path.suffixes) or _is(dict, first) or _is((dict, list), text):
        return _json
    if first.startswith("<") and not re.match(r"\S+\t+[^<\s]", first):
        return _markup
    form = next((form for form in _LINES if form.fullmatch(first)), None)
    return _plain_lines if is_log and form is None else partial(_lines, form or _LINES[0])


def query_of(
    topic: Mapping[str, Any], topic_field: str, where: str, number: int | None = None
) -> tuple[str, str]:
    """Return id and query of the topic at ``where``; an empty text or vector is an empty query. A
    topic without an id has its ``number``."""
    found = {key: value for key, value in topic.items() if value is not None}
    keys = (VECTOR, *TOPIC_FIELDS[topic_field])
    qid = next((found[key] for key in _ID_KEYS if found.get(key, "") != ""), number)
    texts = [found[key] for key in keys if key in found]
    query = next((text for text in texts if text not in ("", {})), next(iter(texts), None))
    if isinstance(query, dict):
        query = _repeated(query, where)
    if not isinstance(qid, (str, int)) or not isinstance(query, str):
        part = f"text for topic_field {topic_field} ({', '.join(keys)})"
        missing = part if isinstance(qid, (str, int)) else f"id ({', '.join(_ID_KEYS)})"
        raise TdvError(f"{where}: no {missing}; this topic has {', '.join(found) or 'nothing'}")
    return str(qid), query.strip()


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines that are not blank, with their numbers. Only newlines end a line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _is(kind: type | tuple[type, ...], text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and isinstance(json.loads(text), kind)
    except (ValueError, RecursionError):
        return False


def _json(text: str, path: Path) -> _Topics:
    """Yield objects, one per line or in an array, and CAsT's conversations turn by turn."""
    is_array, is_object = text.lstrip().startswith("["), _is(dict, text)
    for number, line in [(1, text)] if is_array or is_object else lines(text):
        where = f"{path}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TdvError(f"{where}: not JSON ({error})") from error
        for nth, topic in enumerate(found if is_array else [found], 1):
            where = f"{path}, topic {nth}" if is_array else where
            kinds = {type(part) for part in topic.values()} if isinstance(topic, dict) else {None}
            # Of query id -> text or parts, as Pyserini's topics in Python are.
            by_id = kinds in ({str}, {dict}) and (is_object or len(topic) == 1)
            if by_id and not topic.keys() & {*_NAMES, VECTOR}:
                for qid, query in topic.items():
                    yield where, {**_parts(query), "id": qid}
                continue
            turns = topic.get("turn") if isinstance(topic, dict) else None
            for each in turns if turns and isinstance(turns, list) else [topic]:
                if not isinstance(each, dict):
                    raise TdvError(f"{where}: expected objects such as {{'id': '1', 'title': 'x'}}")
                qid = f"{topic.get('number')}_{each.get('number')}"
                yield where, each if each is topic else {**each, "id": qid}


def _parts(query: str | dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a query that is a text, a vector, or parts by name."""
    if isinstance(query, str):
        return {"title": query}
    is_vector = not any(isinstance(part, (str, dict)) for part in query.values())
    return {VECTOR: query} if is_vector else query


def _repeated(vector: dict[str, Any], where: str) -> str:
    """Return a query that repeats each term as often as its weight says."""
    for term, weight in vector.items():
        is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not (is_number and 0 <= weight <= LARGEST_WEIGHT and weight == int(weight)):
            raise TdvError(
                f"{where}: the weight {weight!r} of '{term[:60]}' is out of range: write a whole "
                f"number from 0 to {LARGEST_WEIGHT:,}, as the index has them"
            )
        if term.split() != [term]:
            raise TdvError(
                f"{where}: the term '{term[:60]}' is empty or holds a blank: impact indexes have "
                "no such term"
            )
    return " ".join(term for term, weight in vector.items() for _ in range(int(weight)))


def _lines(form: re.Pattern[str], text: str, path: Path) -> _Topics:
    further = 0
    for number, line in lines(text):
        where, found = f"{path}, line {number}", form.fullmatch(line.strip(" \r"))
        if not found:
            kind = {4: " (are these qrels?)", 6: " (is this a run?)"}.get(len(line.split()), "")
            kind = " (CSV is not read)" if _is_csv(line) else kind
            raise TdvError(
                f"{where}: no id and query in '{line.strip()[:60]}'{kind}: write 'qid<TAB>text' "
                "('nl -w1 FILE' numbers plain lines), or name the form by topic_reader"
            )
        qid, query, more = found.groups()
        if further == 0 and line.split() == ["query-id", "corpus-id", "score"]:
            raise TdvError(f"{where}: these are BEIR's qrels, and not its queries (queries.jsonl)")
        query = unquote_plus(query) if form is _LINES[2] else query
        if more and not query.strip():
            raise TdvError(f"{where}: no text in the second column, and some after it")
        further += bool((more or "").strip())
        yield where, {"id": qid.strip(), "title": query.strip()}
    if further:
        _log.warning("columns after the query are not used (as in Anserini): %s has "
                     "them in %d lines", path, further)  # fmt: skip


def _is_csv(line: str) -> bool:
    """Whether a line looks like one of CSV: its first column has no blank."""
    first, comma, _ = line.partition(",")
    return bool(comma) and not re.search(r"\s", first.strip())


def _plain_lines(text: str, path: Path) -> _Topics:
    """Yield queries without ids, a line each."""
    every = [*lines(text)]
    if all(_is_csv(line) or _JUDGED.fullmatch(line.strip()) for _, line in every):
        raise TdvError(
            f"{path} looks like CSV, qrels or a run, and no log: write 'qid<TAB>text', or queries "
            "alone, a line each"
        )
    for number, line in every:
        yield f"{path}, line {number}", {"title": line.strip()}


def _markup(text: str, path: Path) -> _Topics:
    """Yield the topics of TREC, FIRE, CLEF or NTCIR, in SGML or XML."""
    text = re.sub(r"<!\[CDATA\[(.*?)\]\]>", lambda data: html.escape(data[1]), text, flags=_SGML)
    text = re.sub("<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=_SGML)
    end = 0
    for topic in _TOPIC.finditer(text):
        where = f"{path}, line {text.count(chr(10), 0, topic.start()) + 1}"
        name, attributes, body = topic.groups()
        if body is None or re.search(rf"<{name}[\s>]", body, _SGML):
            raise TdvError(f"{where}: this <{name}> is not closed by </{name}>")
        _refuse_text(text[end : topic.start()], f"before {where}")
        fields = {"id": "".join(_ID_ATTRIBUTE.findall(attributes)[:1]).strip("\"' ")}
        for field, value in _fields(body):
            if fields.get(field) and value and field in _NAMES:
                raise TdvError(f"{where}: this topic has a <{field}> twice, or in two languages")
            fields[field] = fields.get(field) or value
        rest = fields.pop("")
        if fields.keys() <= {*_ID_KEYS}:
            fields["text"] = rest
        else:
            _refuse_text(rest, where)
        yield where, {name: text for name, text in fields.items() if text}
        end = topic.end()
    _refuse_text(text[end:], f"the end of {path}")


def _refuse_text(text: str, where: str) -> None:
    if unknown := " ".join(_TAG.sub("", text).split()):
        raise TdvError(
            f"{where}: '{unknown[:60]}' is in no part of a topic, such as <title>text</title>"
        )


def _fields(body: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of a topic's parts, with or without end tags; then the rest, unnamed."""
    rest, at = "", 0
    while tag := _TAG.search(body, at):
        rest, at = rest + body[at : tag.start()], tag.end()
        name = tag[1].lower()
        is_within = name not in _NAMES and _TAG.sub("", rest.rpartition("\n")[2]).strip()
        if is_within or not _FIELD.match(tag[0]) or tag[0].endswith("/>"):
            rest += tag[0]
            continue
        own_end = re.compile(f"</{re.escape(tag[0][1:-1].split()[0])}\\s*>", _SGML)
        end = own_end.search(body, at) or _FIELD.search(body, at)
        yield name, _plain(_LABEL.sub("", body[at : end.start() if end else None], 1))
        at = end.end() if end else len(body)
    yield "", _plain(rest + body[at:])


def _plain(text: str) -> str:
    """Remove breaks and pairs of tags; keep what only looks like a tag."""
    text = _BREAK.sub(" ", text)
    while (without := _PAIR.sub(r"\2", text)) != text:
        text = without
    return " ".join(re.sub(r"&#?\w+;", lambda entity: html.unescape(entity[0]), text).split())
