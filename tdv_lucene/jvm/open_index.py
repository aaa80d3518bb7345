"""Indexes kept open, for queries that are asked one at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysis
from ..ranking.parameters import Tiers
from ._jobs import JavaObject, ask, java_class, java_index
from .analysis import make_analyzer
from .searcher import make_tiers

Place = tuple[int, int, str]
"""Where a token stands in a text, from and to, and its term."""


@dataclass(frozen=True)
class Hit:
    """A document found."""

    document: str
    score: float


class OpenIndex(JavaObject):
    """The last commit of an index; for one thread.

    Raises :class:`TdvError` when the index cannot be opened, or ``field`` has no frequencies.
    """

    def __init__(
        self,
        index: str | os.PathLike[str],
        similarity: Any,
        field: str,
        analysis: Analysis,
        tiers: Tiers | None = None,
    ) -> None:
        how = similarity, make_tiers(tiers)
        given = java_index(index), *how, field, make_analyzer(analysis)
        super().__init__("tdvlucene.search.OpenIndex", *given)

    def search(self, query: str, hits: int) -> list[Hit]:
        """Return the best ``hits`` documents."""
        return [Hit(*row) for row in ask(self.java.search, query, hits)]

    def count_terms(self, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Term -> (document frequency, total term frequency), zeros where it is absent."""
        found = ask(self.java.counts, json.dumps(list(terms)))
        return {term: tuple(counts) for term, counts in zip(terms, found)}

    def query_postings(
        self, terms: Sequence[str], doc_ids: Sequence[str]
    ) -> tuple[int, dict[str, dict[str, int]]]:
        """(documents with any of the terms, document id -> term -> its frequency there, or 0).

        Documents that the index lacks are left out.
        """
        found = ask(self.java.postings, json.dumps(list(terms)), json.dumps(list(doc_ids)))
        documents = {doc: dict(zip(terms, tf)) for doc, tf in found["documents"].items()}
        return found["matching"], documents


def find_places(
    texts: Sequence[str], terms: Sequence[str], field: str, analysis: Analysis
) -> list[list[Place]]:
    """Where each text has one of the terms, as the analysis sees it, in one call."""
    java = java_class("tdvlucene.search.Analysis")
    asked = json.dumps(list(texts)), json.dumps(list(terms))
    found = json.loads(java.places(make_analyzer(analysis), field, *asked))
    return [[(start, end, term) for start, end, term in places] for places in found]
