"""Topics and qrels: strict readers, so that a bad line is found here and not in a mean."""

from __future__ import annotations

import gzip
import logging
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import TdvError, argument
from .named_topics import dataset_qrels, dataset_topics, without_prefix
from .topic_formats import TOPIC_FIELDS, form_of, lines

_log = logging.getLogger(__name__)

Topics = dict[str, str]
"""Query id -> query text, in file order."""

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> grade; a grade above zero is relevant."""

LARGEST_GRADE = 2**31 - 1
"""What learning keeps grades in has 32 bits."""

STDIN = "-"
"""In place of a file of topics: standard input."""

_GZIPPED = b"\x1f\x8b"
"""How such a file begins; no text in UTF-8 does."""

_FILE_SUFFIXES = {".gz", ".jsonl", ".qrels", ".topics", ".trec", ".tsv", ".txt", ".xml"}


def read_topics(topics: str | os.PathLike[str], topic_field: str = "title") -> Topics:
    """Read topics from a file, by a name Pyserini knows such as ``robust04``, or by an identifier
    of ir_datasets such as ``ir_datasets:vaswani`` (also ``irds:vaswani``), from its cache.

    Files may be TSV (``qid<TAB>text``), TREC (``<top>``, in the formats since TREC-1) or JSON
    lines (``{"id": ..., "title": ...}``, or ``text`` or ``query``), any of them gzipped; ``-`` is
    standard input. ``topic_field`` says which part of a topic is the query: ``title``, ``desc``
    or ``narr``. A number loses its leading zeros in the TREC
    format, as in the qrels that go with it. Names are left to Anserini, on the JVM,
    which downloads what it lacks.

    Raises
    ------
    TdvError
        When there is no such file or name, a line is malformed (with its number), a query id
        occurs twice, or there is no topic at all.
    """
    if topic_field not in TOPIC_FIELDS:
        raise TdvError(f"no topic field '{topic_field}': choose one of {', '.join(TOPIC_FIELDS)}")
    if identifier := without_prefix(topics):
        return dataset_topics(identifier, TOPIC_FIELDS[topic_field])
    path = Path(topics)
    if topics != STDIN and not path.exists():
        if os.sep in os.fspath(topics) or path.suffix in _FILE_SUFFIXES:
            raise TdvError(f"no such topics file: {topics}")
        from ..jvm.named import read_named_topics

        return read_named_topics(os.fspath(topics), TOPIC_FIELDS[topic_field])
    text = _read_text(path, "topics")
    entries = form_of(text, path)(text, path, topic_field)
    found: Topics = {}
    for where, qid, query in entries:
        if qid in found:
            raise TdvError(f"{where}: query id '{qid}' occurs twice; ids must be unique")
        _check_id(qid, f"{where}: ")
        found[qid] = query
    if not found:
        raise TdvError(
            f"{path} holds no topic: expected 'qid<TAB>text' lines, TREC <top> blocks or JSON lines"
        )
    _log.info("read %d topics from %s", len(found), path)
    return found


def checked_topics(topics: Mapping[str, str]) -> Topics:
    """Topics given in memory, once sure that a run can hold their ids.

    Raises :class:`TdvError` when an id is empty or holds a space, tab or line break.
    """
    for qid in topics:
        _check_id(qid)
    return dict(topics)


def _check_id(qid: str, where: str = "the ") -> None:
    if qid.split() != [qid]:
        what = "holds a space, tab or line break" if qid else "is empty"
        raise TdvError(
            f"{where}query id '{qid}' {what}: TREC runs have their columns between blanks, and no "
            "tool would read this one; give the topic another id, there and in the qrels"
        )


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read relevance judgements: ``qid 0 docid grade`` lines (TREC), or the same gzipped.

    A name Pyserini knows, such as ``robust04``, is left to Pyserini, which downloads what it lacks;
    an identifier of ir_datasets (``irds:vaswani``) is read from its cache. A judgement
    given twice with the same grade counts once.

    Raises
    ------
    TdvError
        When there is no such file, a line has not four columns or no integer grade, a document is
        judged twice with different grades (with the line number), or there is no line at all.
    """
    if identifier := without_prefix(path):
        return dataset_qrels(identifier)
    path = Path(path)
    if not path.exists():
        if os.sep in os.fspath(path) or path.suffix in _FILE_SUFFIXES:
            raise TdvError(f"no such qrels file: {path}")
        from ..jvm.named import find_named_qrels

        path = find_named_qrels(os.fspath(path))
    qrels: Qrels = {}
    for number, line in lines(_read_text(path, "qrels")):
        where, columns = f"{path}, line {number}", line.split()
        if len(columns) != 4:
            raise TdvError(f"{where}: {len(columns)} columns, expected 4 (qid 0 docid grade)")
        qid, _, doc_id, grade = columns
        judged = qrels.setdefault(qid, {})
        if judged.setdefault(doc_id, _grade(grade, where)) != int(grade):
            raise TdvError(
                f"{where}: document '{doc_id}' of query '{qid}' is judged {grade}, "
                f"and {judged[doc_id]} on an earlier line; keep one of them"
            )
    if not qrels:
        raise TdvError(f"{path} holds no judgement: expected 'qid 0 docid grade' lines")
    _log.info("read judgements of %d queries from %s", len(qrels), path)
    return qrels


def judged_queries(topics: Mapping[str, str], qrels: Qrels) -> list[str]:
    """The topics that can be measured: those asked with a relevant document, in topic order.

    Raises :class:`TdvError` when there is none.
    """
    if not topics.keys() & qrels.keys():
        raise TdvError(
            f"topics and qrels share no query (topics: {_some(topics)}; qrels: {_some(qrels)}): "
            "they must use the same ids"
        )
    judged = [qid for qid in topics if any(grade > 0 for grade in qrels.get(qid, {}).values())]
    if not judged:
        raise TdvError("no topic has a relevant document in the qrels (a grade above 0)")
    return judged


def relevant_documents(topics: Iterable[str], qrels: Mapping[str, Mapping[str, int]]) -> set[str]:
    """Ids of the documents relevant to any of the topics."""
    return {
        doc_id
        for qid in topics
        for doc_id, grade in qrels.get(qid, {}).items()
        if grade > 0
    }  # fmt: skip


def note_on_missing(missing: int, number: int, judgements: str, index: str) -> str:
    """Return in words how many of the ``number`` relevant documents an index lacks, if any."""
    if not missing:
        return ""
    return (
        f"{missing:,} of the {number:,} relevant documents of {judgements} are not in {index}, and "
        "count as not found"
    )


def check_overlap(topics: Mapping[str, str], qrels: Qrels, doc_ids: Iterable[str]) -> None:
    """Raise :class:`TdvError` when topics and qrels share no query, or no relevant document is
    among ``doc_ids``, those of the index."""
    judged_queries(topics, qrels)
    relevant = relevant_documents(topics, qrels)
    if relevant.isdisjoint(doc_ids):
        raise TdvError(
            f"qrels and index share no document: none of the {len(relevant):,} relevant documents "
            f"(such as '{min(relevant)}') is in the index; are the qrels of another collection, or "
            f"does another field name the documents ({argument('id_field')})?"
        )


def _read_text(path: Path, what: str) -> str:
    named = f"{what} {path}"
    if os.fspath(path) == STDIN:
        if sys.stdin is None:
            raise TdvError("standard input is closed, and should hold the topics: name a file")
        named, content = "topics on standard input", sys.stdin.buffer.read()
    else:
        try:
            content = path.read_bytes()
            if content.startswith(_GZIPPED):  # whatever its name
                content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise TdvError(f"cannot read the {named}: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TdvError(f"the {named} are not UTF-8 (byte {error.start}): convert them") from error


def _grade(text: str, where: str) -> int:
    try:
        grade = int(text)
    except ValueError:
        raise TdvError(f"{where}: grade '{text[:60]}' is not a whole number") from None
    if abs(grade) > LARGEST_GRADE:
        raise TdvError(
            f"{where}: grade '{text[:60]}' is out of range: write one from -{LARGEST_GRADE:,} to "
            f"{LARGEST_GRADE:,}"
        )
    return grade


def _some(ids: Iterable[str]) -> str:
    return ", ".join(repr(qid) for _, qid in zip(range(3), ids)) + ", ..."
