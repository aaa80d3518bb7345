"""An index as an object: opened once, at one commit, and asked for what is known of it."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from ..errors import TdvError
from ..jvm.index import OpenedIndex
from ..plan import Plan
from ..source import ID_FIELD, Source
from .parameters import Described, Searcher
from .record import CHECKSUM, WrittenSince, read_records, user_data_of_whole

_log = logging.getLogger(__name__)

FILE_KINDS = {
    "postings": ("doc",),
    "positions": ("pos", "pay"),
    "dictionary": ("tim", "tip", "tmd"),
    "norms": ("nvd", "nvm"),
    "stored": ("fdt", "fdx", "fdm"),
    "vectors": ("tvd", "tvx", "tvm"),
    "doc_values": ("dvd", "dvm"),
    "points": ("kdd", "kdi", "kdm"),
    "knn": ("vec", "vem", "vex", "vemf", "veq", "vemq"),
}
"""File extensions of Lucene 9's codec by what they hold; all others are ``other``."""


@dataclass(frozen=True)
class IndexedField:
    """Lucene's description of a field."""

    has_norms: bool
    has_frequencies: bool


class Index(Described):
    """An index, or shards that are read as one, open at their last commit.

    Everything that is given this object reads that commit, whatever writers do meanwhile.
    ``fields`` is name -> :class:`IndexedField`; ``bytes_by_kind`` has the commit's files by what
    they hold (:data:`FILE_KINDS`), those inside a compound file under their own kind; ``deleted``
    counts soft-deleted documents too; ``since`` tells what another writer did to the folders since
    they were pruned; ``detected`` keeps what :func:`.analysis.analysis_of` finds out of a field.
    """

    def __init__(self, source: Source, opened: OpenedIndex) -> None:
        found = opened.found
        self.source, self.java = source, opened.java
        self.identity = whole_identity(source, found["commits"])
        parts = [commit["user_data"] for commit in found["commits"]]
        self.user_data = user_data_of_whole(source, parts)
        first = self.record()
        if first.version and not first.is_pruned:
            raise TdvError(
                f"{source} was made by a development version of tdv-lucene ({first.version}): make "
                "it again"
            )
        self.fields = {name: IndexedField(**about) for name, about in found["fields"].items()}
        self.bytes_by_kind = dict.fromkeys((*FILE_KINDS, "other"), 0)
        for extension, size in found["files"].items():
            of = (kind for kind, extensions in FILE_KINDS.items() if extension in extensions)
            self.bytes_by_kind[next(of, "other")] += size
        self.since = [
            WrittenSince(folder, **commit["since"])
            for folder, commit in zip(source.folders_here, found["commits"])
            if commit["since"]
        ]
        self.searcher = Searcher(found["why_not_anserinis"])
        self.deleted: int = sum(commit["deleted"] for commit in found["commits"])
        self._opened = opened
        self._frequencies: dict[str, str] = {}
        self.detected: dict[str, Any] = {}

    @classmethod
    @contextmanager
    def open(
        cls, index: str | os.PathLike[str], id_field: str | None = None, *, mixed: bool = False
    ) -> Iterator[Self]:
        """Open an index until the ``with`` block ends; one that is open is yielded as it is.

        ``index`` is a folder, a :class:`..source.Source`, or an :class:`Index`, ``id_field`` the
        field that names documents, None for the one that the index says. ``mixed`` opens a pruned
        index as well to which another writer has added documents, which are neither ranked nor
        analysed as its record says.

        Raises :class:`TdvError` when there is no index, or this Lucene cannot read it; when shards
        were not pruned together; when ``id_field`` is given for shards; when the index is mixed,
        unless such are wanted.
        """
        if isinstance(index, cls):
            yield index
            return
        source = Source.of(index).named_by(id_field)
        with OpenedIndex(source) as opened:
            made = cls(source, opened)
            for since in () if mixed else made.since:
                if since.mixes:
                    raise TdvError(f"{since}: {since.remedy}")
                _log.warning("%s: %s", since, since.remedy)
            lucene = made.identity["lucene_version"]
            _log.info("%s is at commit %s, of Lucene %s", source, made.commit, lucene)
            yield made

    @property
    def documents(self) -> int:
        """Live documents."""
        return int(self.identity["documents"])

    @property
    def bytes(self) -> int:
        """Bytes of the commit's files."""
        return sum(self.bytes_by_kind.values())

    def holds_weights(self, field: str) -> bool | None:
        """Return whether a field's frequencies are a model's weights; None if no norms show it.

        Warns once where frequencies look like weights, and norms say that they count words. Raises
        :class:`TdvError` for a field of Lucene's features, which are neither.
        """
        if field not in self._frequencies:
            self._frequencies[field] = self._opened.frequencies(field)
            if self._frequencies[field] == "likely weights":
                _log.warning(
                    "the frequencies of field '%s' of %s look like weights: few of them are 1. It "
                    "was not indexed with -impact, so they are ranked as counts of words; if they "
                    "are learned weights (JsonVectorCollection), index it again with -impact",
                    field, self,
                )  # fmt: skip
        known = self.fields.get(field)
        if known is None or not known.has_norms:
            return None
        return self._frequencies[field] == "weights"

    @cached_property
    def plan(self) -> Plan | None:
        """The plan by which the index was pruned; None if it was not.

        Raises :class:`TdvError` when the folder lacks the plan, or has a damaged or another one.
        """
        if not self.record().is_pruned:
            return None
        records = read_records(self, self.user_data)
        return Plan.load(
            self.source.folders_here[0], {r.field: r.content[CHECKSUM] for r in records}
        )

    def require_prunable(self, field: str, lead: bool = False) -> None:
        """Raise :class:`TdvError` where no pruning can be applied to a field, or a document has no
        id; with a first-position boost (``lead``), where term vectors lack its positions. Warns as
        :meth:`holds_weights`."""
        self.holds_weights(field)
        self._opened.require_prunable(field, lead)


def whole_identity(source: Source, parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the identity of an index from the commits of its ``parts``, in order: ``path``,
    ``commit``, ``lucene_version``, ``documents`` (live ones), and ``id_field`` if one was asked
    for. Of shards the commit is a digest of theirs, and ``shards`` has the name, commit and
    documents of each."""
    if not source.is_sharded:
        (commit,) = parts
        own = ("commit", "segments_file", "lucene_version", "documents")
        asked = {} if source.id_field is None else {ID_FIELD: source.id_field}
        return {"path": source.absolute, **{name: commit[name] for name in own}, **asked}
    commits = b"".join(bytes.fromhex(part["commit"]) for part in parts)
    return {
        "path": source.absolute,
        "commit": hashlib.sha256(commits).hexdigest()[:32],
        "lucene_version": " ".join(sorted({part["lucene_version"] for part in parts})),
        "documents": sum(part["documents"] for part in parts),
        "shards": [
            {"name": part.name, "commit": about["commit"], "documents": about["documents"]}
            for part, about in zip(source.parts, parts)
        ],
    }
