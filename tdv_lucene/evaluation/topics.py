"""Read topics and qrels strictly: from files, by Pyserini's names, or by ir_datasets' identifiers.

From ir_datasets only what it has stored already is read: its downloads can be gigabytes, under
terms that somebody has to accept.
"""

from __future__ import annotations

import gzip
import json
import logging
import math
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..interruption import waiting
from .topic_formats import TOPIC_FIELDS, form_of, lines, query_of

PREFIXES = ("ir_datasets:", "irds:")
_DOWNLOADS = ("RequestsDownload", "GoogleDriveDownload", "GoogleCloudBucketStream")


def without_prefix(name: str | os.PathLike[str]) -> str | None:
    """Return the identifier after ``ir_datasets:`` or ``irds:``; None for other names and paths."""
    text = os.fspath(name)
    return next((text.removeprefix(p) for p in PREFIXES if text.startswith(p)), None)


def _read_dataset(identifier: str, what: str) -> list[Any]:
    """Return all ``queries`` or ``qrels`` that ir_datasets has stored of a data set."""
    name = f"{PREFIXES[0]}{identifier}"
    try:
        import ir_datasets

        dataset = ir_datasets.load(identifier)
    except ImportError as error:
        needed = f"{name} needs ir_datasets: pip install 'tdv-lucene[ir-datasets]'"
        raise TdvError(needed) from error
    except KeyError as error:
        raise TdvError(
            f"no such data set: ir_datasets has no '{identifier}'; its names are listed by "
            "'ir_datasets list' and at ir-datasets.com"
        ) from error
    if not getattr(dataset, f"has_{what}")():
        raise TdvError(f"{name} has no {what}: choose one of its subsets that has")
    try:
        with _without_network():
            found = list(getattr(dataset, f"{what}_iter")())
    except Exception as error:  # whatever its many readers raise
        raise TdvError(
            f"the {what} of {name} are not stored on this machine ({error}): store them with "
            f"'ir_datasets export {identifier} {what}', or pass a file"
        ) from error
    if not found:
        raise TdvError(f"{name} holds no {what}")
    return found


@contextmanager
def _without_network() -> Iterator[None]:
    """Refuse ir_datasets' downloads, for which it has no setting."""
    from ir_datasets.util import download

    def refuse(self: Any) -> Any:
        raise OSError("not in its cache")

    streams = {kind: kind.stream for name in _DOWNLOADS if (kind := getattr(download, name, None))}
    try:
        for kind in streams:
            kind.stream = refuse
        yield
    finally:
        for kind, stream in streams.items():
            kind.stream = stream


_log = logging.getLogger(__name__)

Topics = dict[str, str]
"""Query id -> query text, in file order."""

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> grade; a grade above zero is relevant."""

LARGEST_GRADE = 2**31 - 1  # learning keeps grades in 32 bits
STDIN = "-"  # in place of a file of topics
_OWN = 0.1  # a share of queries that find documents with their ids first only if they are those
MOST_OF_LOG = 1000  # queries

_BEIR = ["query-id", "corpus-id", "score"]
_NUMBER = re.compile(r"[-+]?\d[\d.]*")

_PACKED = b"BZh", b"\xfd7zXZ", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"  # bzip2, xz, zip, zstd
_GZIPPED = b"\x1f\x8b"  # begins no text in UTF-8

_FILE_SUFFIXES = {".gz", ".jsonl", ".qrels", ".topics", ".trec", ".tsv", ".txt", ".xml"}


def read_topics(
    topics: str | os.PathLike[str],
    topic_field: str = "title",
    topic_reader: str | None = None,
    *,
    is_log: bool = False,
) -> Topics:
    """Read topics from a file, by a name Pyserini knows such as ``robust04``, or by an identifier
    of ir_datasets such as ``ir_datasets:vaswani`` (or ``irds:vaswani``), from its cache.

    Files may be TSV (``qid<TAB>text``, or ``qid:text`` with numbers), JSON (lines or an array of
    ``{"id": ..., "title": ...}``, or ``text`` or ``query``; CAsT), or markup (TREC, FIRE, CLEF,
    NTCIR), any of them gzipped; ``-`` is standard input. Ids are kept as they are written.
    ``topic_field`` is the part of a topic to use as query: ``title``, ``desc`` or ``narr``.
    ``topic_reader`` names a reader of Anserini to use instead: ``Cacm`` for CacmTopicReader.
    Names of topics are left to Anserini, which downloads missing ones. Queries of a log need no
    ids: those without are numbered, and they may be plain lines.

    Raises :class:`TdvError` when there is no such file or name, a part of the file is not
    understood (with its line), a query id occurs twice, or there is no topic at all.
    """
    if topic_field not in TOPIC_FIELDS:
        raise TdvError(f"no topic field '{topic_field}': choose one of {', '.join(TOPIC_FIELDS)}")
    identifier, path = without_prefix(topics), Path(topics)
    is_file = not identifier and (topics == STDIN or _is_file(path, "topics"))
    if topic_reader and not is_file:
        raise TdvError(f"topic_reader {topic_reader} reads files: {topics} is none")
    if identifier:
        keys, texts = TOPIC_FIELDS[topic_field], {}
        for query in _read_dataset(identifier, "queries"):
            text = next(filter(None, (getattr(query, key, None) for key in keys)), "").split()
            if not text:
                raise TdvError(f"{topics}: query '{query.query_id}' has no {keys[0]}")
            texts[query.query_id] = " ".join(text)
        return texts
    if not is_file:
        from ..jvm.named import read_named_topics

        return read_named_topics(os.fspath(topics), TOPIC_FIELDS[topic_field])
    text = _read_text(path, "topics")
    if topic_reader is None:
        entries = form_of(text, path, is_log)(text, path)
    else:
        from ..jvm.named import read_with_anserini

        entries = read_with_anserini(topic_reader, text, path)
    found: Topics = {}
    for number, (where, topic) in enumerate(entries, 1):
        qid, query = query_of(topic, topic_field, where, number if is_log else None)
        if qid in found:
            raise TdvError(f"{where}: query id '{qid}' occurs twice; ids must be unique")
        if qid.split() != [qid]:
            what = "holds a space, tab or line break" if qid else "is empty"
            raise TdvError(
                f"{where}: query id '{qid}' {what}: TREC runs have their columns between blanks, "
                "and no tool would read this one; give the topic another id, there and in the qrels"
            )
        found[qid] = query
    empty = [qid for qid, query in found.items() if not query]
    if len(empty) == len(found):
        what = "topic with any text" if found else "topic"
        raise TdvError(
            f"{path} holds no {what}: expected 'qid<TAB>text' lines, JSON or <top> blocks"
        )
    if empty:
        _log.warning(
            "%d topics of %s are empty and find nothing: %s", len(empty), path, _first_three(empty)
        )
    _log.info("read %d topics from %s", len(found), path)
    return found


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read relevance judgements: ``qid 0 docid grade`` lines (TREC), BEIR's three columns below
    their header, or one JSON object of query id -> document id -> grade, also gzipped. Lines that
    begin with ``#`` are comments, unless they judge.

    A name Pyserini knows, such as ``robust04``, is left to Pyserini, which downloads missing ones;
    an identifier of ir_datasets (``irds:vaswani``) is read from its cache. A judgement given twice
    with the same grade counts once.

    Raises :class:`TdvError` when there is no such file, a line has other columns or no integer
    grade, a document is judged twice with different grades (with the line number), or there is no
    line at all.
    """
    qrels: Qrels = {}
    if identifier := without_prefix(path):
        for one in _read_dataset(identifier, "qrels"):
            qrels.setdefault(one.query_id, {})[one.doc_id] = int(one.relevance)
        return qrels
    path = Path(path)
    if not _is_file(path, "qrels"):
        from ..jvm.named import find_named_qrels

        path = find_named_qrels(os.fspath(path))
    width, text = 4, _read_text(path, "qrels")
    if text.lstrip().startswith("{"):
        first = text.lstrip().split("\n", 1)[0].split()
        if not (len(first) == width and _NUMBER.fullmatch(first[-1])):  # ids may begin so, too
            qrels, text = _from_dict(text, path), ""
    for number, line in lines(text):
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
    if not any(qrels.values()):
        raise TdvError(f"{path} holds no judgement: expected 'qid 0 docid grade' lines")
    _log.info("read judgements of %d queries from %s", len(qrels), path)
    return qrels


def _from_dict(text: str, path: Path) -> Qrels:
    """Read a JSON object of query id -> document id -> grade, as BEIR and pytrec_eval keep it."""
    try:
        return {
            qid: {
                doc: _grade(str(grade), f"{path}, query '{qid}'") for doc, grade in judged.items()
            }
            for qid, judged in json.loads(text).items()
        }
    except (ValueError, RecursionError, AttributeError) as error:
        raise TdvError(
            f'{path} is not JSON of the form {{"qid": {{"docid": grade}}}}: {error}'
        ) from error


def judged_queries(topics: Mapping[str, str], qrels: Qrels) -> list[str]:
    """Return the topics that can be measured, those with a relevant document, in their order."""
    bare = {qid.lstrip("0"): qid for qid in qrels if qid.isdecimal()}
    for qid in topics:
        if qid.isdecimal() and qid not in qrels and qid.lstrip("0") in bare:
            raise TdvError(
                f"topic '{qid}' and the qrels' '{bare[qid.lstrip('0')]}' differ in leading zeros: "
                f"write both alike, or read TREC topics by topic_reader Trec"
            )
    if not topics.keys() & qrels.keys():
        raise TdvError(
            f"topics and qrels share no query (topics: {_first_three(topics)}; "
            f"qrels: {_first_three(qrels)}): "
            "they must use the same ids. For topics such as MB01 and qrels that say 1, read by "
            f"topic_reader Microblog, which keeps the number only"
        )
    judged = [qid for qid in topics if any(grade > 0 for grade in qrels.get(qid, {}).values())]
    if not judged:
        raise TdvError("no topic has a relevant document in the qrels (a grade above 0)")
    return judged


def relevant_documents(topics: Iterable[str], qrels: Mapping[str, Mapping[str, int]]) -> set[str]:
    """Return the ids of documents relevant to any of the topics."""
    return {doc for qid in topics for doc, grade in qrels.get(qid, {}).items() if grade > 0}


def note_on_own_documents(first: int, queries: int, removed: bool) -> str:
    """Return a warning that ``first`` of the queries find the document that has their id, and is
    not judged relevant, before all others, if that is no chance."""
    if removed or first < max(2, _OWN * queries):
        return ""
    return (
        f"{first:,} of {queries:,} queries find the document that has their id before all others. "
        "If queries are documents of the collection themselves (ArguAna, Quora), pass "
        "remove_query: nothing below the first place is measured rightly without"
    )


def note_on_missing(missing: int, number: int, judgements: str, index: str) -> str:
    """Return a warning that an index lacks some of the ``number`` relevant documents, if any."""
    told = f"{missing:,} of the {number:,} relevant documents of {judgements} are not in {index}"
    return f"{told}, and count as not found" if missing else ""


def check_overlap(
    topics: Mapping[str, str], qrels: Qrels, known: Callable[..., Iterable[str]]
) -> tuple[int, int]:
    """Return how many relevant documents an index lacks, and how many there are.

    ``known`` returns those of some ids that it has; with ``passages=True``, of whose documents it
    has passages.
    """
    judged_queries(topics, qrels)
    relevant = sorted(relevant_documents(topics, qrels))
    here = set(known(relevant))
    if not here and (passages := [*known(relevant, passages=True)]):
        raise TdvError(
            f"the qrels judge documents, such as '{passages[0]}', and the index has passages of "
            f"them, '{passages[0]}#...': pass max_passage to search, compare or tune, or judge "
            "passages"
        )
    if not here:
        raise TdvError(
            f"qrels and index share no document: none of the {len(relevant):,} relevant documents "
            f"(such as '{relevant[0]}') is in the index; are the qrels of another collection, or "
            f"does another field name the documents (id_field)?"
        )
    return len(relevant) - len(here), len(relevant)


def _is_file(path: Path, what: str) -> bool:
    """Return whether ``path`` exists, else may be a name. Raise :class:`TdvError` if missing."""
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
        text = content.decode("utf-8-sig")
        return text if "\n" in text else text.replace("\r", "\n")  # as Excel writes on a Mac
    except UnicodeDecodeError as error:
        remedy = "unpack" if content.startswith(_PACKED) else "convert"
        raise TdvError(f"the {named} are not UTF-8 (byte {error.start}): {remedy} them") from error
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


def _first_three(ids: Iterable[str]) -> str:
    return ", ".join(repr(qid) for _, qid in zip(range(3), ids)) + ", ..."


def drawn(texts: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return a log, or a thousand queries drawn at random from a longer one."""
    import numpy as np  # commands that read no log do without

    ids = list(texts)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(ids))[:MOST_OF_LOG])
    return {ids[number]: texts[ids[number]] for number in chosen.tolist()}
