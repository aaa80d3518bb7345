"""Topics and qrels by name: Pyserini's names, and ``ir_datasets:`` (or ``irds:``) identifiers.

Of ir_datasets only what it has stored already is read: its downloads can be of gigabytes and under
terms that somebody has to accept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import TdvError

PREFIXES = ("ir_datasets:", "irds:")
_DOWNLOADS = ("RequestsDownload", "GoogleDriveDownload", "GoogleCloudBucketStream")


def without_prefix(name: str | os.PathLike[str]) -> str | None:
    """The identifier after ``ir_datasets:`` or ``irds:``; None for any other name or path."""
    text = os.fspath(name)
    return next((text.removeprefix(p) for p in PREFIXES if text.startswith(p)), None)


def dataset_topics(identifier: str, keys: Sequence[str]) -> dict[str, str]:
    """Query id -> text under the first of ``keys`` that a query of a data set has.

    Raises :class:`TdvError` when ir_datasets is not installed, has no such data set, the data set
    has no queries or they are not stored yet, or a query has no text.
    """
    topics = {}
    for query in _read(identifier, "queries"):
        text = next(filter(None, (getattr(query, key, None) for key in keys)), "")
        topics[query.query_id] = " ".join(text.split())
        if not topics[query.query_id]:
            raise TdvError(f"{PREFIXES[0]}{identifier}: query '{query.query_id}' has no {keys[0]}")
    return topics


def dataset_qrels(identifier: str) -> dict[str, dict[str, int]]:
    """Query id -> document id -> grade. Raises :class:`TdvError` as :func:`dataset_topics`."""
    qrels: dict[str, dict[str, int]] = {}
    for judgement in _read(identifier, "qrels"):
        qrels.setdefault(judgement.query_id, {})[judgement.doc_id] = int(judgement.relevance)
    return qrels


def _read(identifier: str, what: str) -> list[Any]:
    """All ``queries`` or ``qrels``."""
    name = f"{PREFIXES[0]}{identifier}"
    try:
        import ir_datasets
    except ImportError as error:
        raise TdvError(
            f"{name} needs ir_datasets: pip install 'tdv-lucene[ir-datasets]'"
        ) from error
    try:
        dataset = ir_datasets.load(identifier)
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
    """Let none of ir_datasets' downloads begin; there is no setting for that."""
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
