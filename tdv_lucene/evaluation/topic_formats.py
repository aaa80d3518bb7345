"""The formats that files of topics have: TSV, TREC and JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument

TOPIC_FIELDS = {"title": ("title", "text", "query"), "desc": ("desc", "description"),
                "narr": ("narr", "narrative")}  # fmt: skip
"""Parts of a topic that can be the query, and what JSON and Anserini call them."""

VECTOR = "vector"
"""What JSON calls the weights of a topic's terms, in place of its text."""
LARGEST_WEIGHT = 10_000
"""More would be asked for by many megabytes of text."""

_ID_KEYS = ("id", "qid", "query_id", "_id")
_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(num|title|desc|narr)>(.*?)(?=<[a-z/]+>|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)


def form_of(text: str, path: Path) -> Callable[[str, Path, str], Iterator[tuple[str, str, str]]]:
    """What reads these topics: as they are named, or begin."""
    if "<top>" in text[:10_000].lower():
        return _trec_topics
    if ".tsv" in path.suffixes:
        return _tsv
    first = text.lstrip().partition("\n")[0]
    return _json_topics if ".jsonl" in path.suffixes or _is_object(first) else _tsv


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers. Only newlines end a line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _json_topics(text: str, path: Path, topic_field: str) -> Iterator[tuple[str, str, str]]:
    for number, line in lines(text):
        where = f"{path}, line {number}"
        try:
            topic = json.loads(line)
        except ValueError as error:
            raise TdvError(f"{where}: not JSON ({error})") from error
        if not isinstance(topic, dict):
            raise TdvError(f"{where}: expected an object such as {{'id': '1', 'title': 'text'}}")
        qid, query = (
            next((topic[key] for key in keys if topic.get(key) not in (None, "")), None)
            for keys in (_ID_KEYS, (VECTOR, *TOPIC_FIELDS[topic_field]))
        )
        if isinstance(query, dict):
            query = _repeated(query, where)
        texts = ", ".join((*TOPIC_FIELDS[topic_field], VECTOR))
        if not isinstance(qid, (str, int)) or not isinstance(query, str) or not query.strip():
            raise TdvError(
                f"{where}: expected an id ({', '.join(_ID_KEYS)}) and a text ({texts}), found "
                f"{', '.join(topic) or 'nothing'}"
            )
        yield where, str(qid), query


def _repeated(vector: dict[str, Any], where: str) -> str:
    """The text of a topic that gives each term a weight: terms, repeated as often."""
    terms = []
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
        terms += [term] * int(weight)
    return " ".join(terms)


def _tsv(text: str, path: Path, topic_field: str) -> Iterator[tuple[str, str, str]]:
    if topic_field != "title":
        raise TdvError(
            f"{path} has 'qid<TAB>text' lines, which have no {argument('topic_field', topic_field)}"
        )
    for number, line in lines(text):
        where = f"{path}, line {number}"
        qid, _, query = line.partition("\t")
        qid, query = qid.strip(), query.strip()
        if not query:
            why = "no tab" if "\t" not in line else f"no text after the query id '{qid[:60]}'"
            raise TdvError(f"{where}: {why} in '{line.strip()[:60]}': write 'qid<TAB>text'")
        if not qid:
            raise TdvError(f"{where}: no query id before the tab: write 'qid<TAB>text'")
        yield where, qid, query


def _trec_topics(text: str, path: Path, topic_field: str) -> Iterator[tuple[str, str, str]]:
    if len(re.findall("<top>", text, re.IGNORECASE)) != len(_TOP.findall(text)):
        raise TdvError(f"{path}: a <top> is not closed by </top>")
    for block in _TOP.finditer(text):
        where = f"{path}, line {text.count(chr(10), 0, block.start()) + 1}"
        fields = {tag.lower(): _LABEL.sub("", value, 1) for tag, value in _TAG.findall(block[1])}
        qid, query = (" ".join(fields.get(tag, "").split()) for tag in ("num", topic_field))
        if not qid or not query:
            raise TdvError(f"{where}: this <top> has no <{topic_field if qid else 'num'}> text")
        yield where, str(int(qid)) if qid.isdecimal() else qid, query
