"""Topics and qrels: strict readers, so that a bad line is found here and not in a mean."""

from __future__ import annotations

import gzip
import logging
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import TdvError, argument
from ..interruption import waiting
from .named_topics import dataset_qrels, dataset_topics, without_prefix
from .topic_formats import TOPIC_FIELDS, form_of, lines, query_of

_log = logging.getLogger(__name__)

Topics = dict[str, str]
"""Query id -> query text, in file order."""

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> grade; a grade above zero is relevant."""

LARGEST_GRADE = 2**31 - 1
"""What learning keeps grades in has 32 bits."""

STDIN = "-"
"""In place of a file of topics: standard input."""

_BEIR = ["query-id", "corpus-id", "score"]
_NUMBER = re.compile(r"[-+]?\d[\d.]*")

_GZIPPED = b"\x1f\x8b"
"""How such a file begins; no text in UTF-8 does."""

_FILE_SUFFIXES = {".gz", ".jsonl", ".qrels", ".topics", ".trec", ".tsv", ".txt", ".xml"}


def read_topics(
    topics: str | os.PathLike[str], topic_field: str = "title", topic_reader: str | None = None
) -> Topics:
    """Read topics from a file, by a name Pyserini knows such as ``robust04``, or by an identifier
    of ir_datasets such as ``ir_datasets:vaswani`` (also ``irds:vaswani``), from its cache.

    Files may be TSV (``qid<TAB>text``, or ``qid:text`` with numbers), JSON (lines or an array of
    ``{"id": ..., "title": ...}``, or ``text`` or ``query``; CAsT), or markup (TREC, FIRE, CLEF,
    NTCIR), any of them gzipped; ``-`` is standard input. Ids are kept as they are written.
    ``topic_field`` says which part of a topic is the query: ``title``, ``desc`` or ``narr``.
    ``topic_reader`` names the reader of Anserini to use instead, as ``Cacm`` for its
    CacmTopicReader. Names of topics are left to Anserini, which downloads what it lacks.

    Raises
    ------
    TdvError
        When there is no such file or name, a part of the file is not understood (with its line), a
        query id occurs twice, or there is no topic at all.
    """
    if topic_field not in TOPIC_FIELDS:
        raise TdvError(f"no topic field '{topic_field}': choose one of {', '.join(TOPIC_FIELDS)}")
    identifier, path = without_prefix(topics), Path(topics)
    is_file = not identifier and (topics == STDIN or _is_file(path, "topics"))
    if topic_reader and not is_file:
        raise TdvError(f"{argument('topic_reader', topic_reader)} reads files: {topics} is none")
    if identifier:
        return dataset_topics(identifier, TOPIC_FIELDS[topic_field])
    if not is_file:
        from ..jvm.named import read_named_topics

        return read_named_topics(os.fspath(topics), TOPIC_FIELDS[topic_field])
    text = _read_text(path, "topics")
    if topic_reader is None:
        entries = form_of(text, path)(text, path)
    else:
        from ..jvm.named import read_with_anserini

        entries = read_with_anserini(topic_reader, text, path)
    found: Topics = {}
    for where, topic in entries:
        qid, query = query_of(topic, topic_field, where)
        if qid in found:
            raise TdvError(f"{where}: query id '{qid}' occurs twice; ids must be unique")
        _check_id(qid, f"{where}: ")
        found[qid] = query
    if not found:
        raise TdvError(
            f"{path} holds no topic: expected 'qid<TAB>text' lines, JSON or <top> blocks"
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
    """Read relevance judgements: ``qid 0 docid grade`` lines (TREC), BEIR's three columns below
    their header, or either gzipped. Lines that begin with ``#`` are comments, unless they judge.

    A name Pyserini knows, such as ``robust04``, is left to Pyserini, which downloads what it lacks;
    an identifier of ir_datasets (``irds:vaswani``) is read from its cache. A judgement
    given twice with the same grade counts once.

    Raises
    ------
    TdvError
        When there is no such file, a line has other columns or no integer grade, a document is
        judged twice with different grades (with the line number), or there is no line at all.
    """
    if identifier := without_prefix(path):
        return dataset_qrels(identifier)
    path = Path(path)
    if not _is_file(path, "qrels"):
        from ..jvm.named import find_named_qrels

        path = find_named_qrels(os.fspath(path))
    qrels: Qrels = {}
    width = 4
    for number, line in lines(_read_text(path, "qrels")):
        where, columns = f"{path}, line {number}", line.split()
        if line.startswith("#") and (
            len(columns) != width or columns[0] == "#" or not _NUMBER.fullmatch(columns[-1])
        ):
            continue
        if columns == _BEIR and not qrels:
            width = 3
            continue
        if len(columns) != width:
            is_run = "; a run has 6: pass the qrels" if len(columns) == 6 else ""
            expected = " ".join(_BEIR) if width == 3 else "qid 0 docid grade"
            raise TdvError(
                f"{where}: {len(columns)} columns, expected {width} ({expected}){is_run}"
            )
        qid, doc_id, grade = columns[0], columns[-2], _grade(columns[-1], where)
        judged = qrels.setdefault(qid, {})
        if judged.setdefault(doc_id, grade) != grade:
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
    bare = {qid.lstrip("0"): qid for qid in qrels if qid.isdecimal()}
    for qid in topics:
        if qid.isdecimal() and qid not in qrels and qid.lstrip("0") in bare:
            raise TdvError(
                f"topic '{qid}' and the qrels' '{bare[qid.lstrip('0')]}' differ in leading zeros: "
                f"write both alike, or read TREC topics by {argument('topic_reader', 'Trec')}"
            )
    if not topics.keys() & qrels.keys():
        raise TdvError(
            f"topics and qrels share no query (topics: {_some(topics)}; qrels: {_some(qrels)}): "
            "they must use the same ids. For topics such as MB01 and qrels that say 1, read by "
            f"{argument('topic_reader', 'Microblog')}, which keeps the number only"
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


def _is_file(path: Path, what: str) -> bool:
    """Return False for what may be a name. Raises :class:`TdvError` for a file that is missing."""
    if not path.exists() and (os.sep in os.fspath(path) or path.suffix in _FILE_SUFFIXES):
        raise TdvError(f"no such {what} file: {path}")
    return path.exists()


def _read_text(path: Path, what: str) -> str:
    named = f"{what} {path}"
    try:
        if os.fspath(path) == STDIN:
            named = f"{what} on standard input"
            if sys.stdin is None:
                raise TdvError("standard input is closed, and should hold the topics: name a file")
            with waiting():
                content = sys.stdin.buffer.read()
        else:
            content = path.read_bytes()
        if content.startswith(_GZIPPED):  # whatever its name
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TdvError(f"the {named} are not UTF-8 (byte {error.start}): convert them") from error
    except (OSError, EOFError, zlib.error) as error:
        raise TdvError(f"cannot read the {named}: {error}") from error


def _grade(text: str, where: str) -> int:
    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not grade.is_integer() or abs(grade) > LARGEST_GRADE:
        raise TdvError(
            f"{where}: grade '{text[:60]}' is no whole number from -{LARGEST_GRADE:,} to "
            f"{LARGEST_GRADE:,}"
        )
    return int(grade)


def _some(ids: Iterable[str]) -> str:
    return ", ".join(repr(qid) for _, qid in zip(range(3), ids)) + ", ..."
