"""What a comparison is given: indexes, their TDVs and query sets, read and checked first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..evaluation.chance import note_on_chance
from ..evaluation.topics import note_on_missing
from ..indexes.analysis import analysis_of, refuse_different
from ..indexes.field_analysis import FieldAnalysis
from ..indexes.index import Index
from ..indexes.inspection import inspect_index
from ..indexes.queries import searchable_topics, shortened_topics
from ..indexes.query_terms import check_query_terms, note_on_nothing_found, notes_on_query_terms
from ..indexes.search_parameters import recorded_parameters
from ..jvm.searcher import known_documents
from . import content
from .config import CompareConfig
from .systems import QuerySet, Results, System, read_query_sets, shared_model

FilePair = tuple[str | os.PathLike[str], str | os.PathLike[str]]


@dataclass(frozen=True)
class Compared:
    """What is compared, read and checked before anything is measured.

    Attributes
    ----------
    found : name -> what :func:`inspect_index` says of it
    systems : name -> index and parameters, those of ``--tune-topics`` not among them; the others
        are compared with the first
    query_sets : those measured on, the first also for latency
    relevant : label -> relevant documents that the first index lacks, and all
    training : the queries to tune on, if any
    analysed : how the indexes were analysed, and queries are
    """

    found: Mapping[str, dict[str, Any]]
    systems: dict[str, System]
    query_sets: Sequence[QuerySet]
    relevant: Mapping[str, tuple[int, int]]
    training: QuerySet | None
    analysed: FieldAnalysis

    @property
    def defaults(self) -> dict[str, str]:
        """Whose defaults the systems are searched with that took some."""
        of_each = {name: one.parameters.defaults for name, one in self.systems.items()}
        return {name: told for name, told in of_each.items() if told}

    def notes(self, results: Sequence[Results], field: str) -> list[str]:
        """What a reader should know before trusting the numbers."""
        first, *_ = self.systems
        return [
            *content.notes(self.systems, field),
            *self._notes_on_documents(results),
            *self._notes_on_chance(results),
            *content.notes_on_tuning(
                self.query_sets, self.training.topics if self.training else {}
            ),
            *content.notes_on_shortening(self.query_sets),
            *self._notes_on_terms(results, field),
        ]

    def _notes_on_documents(self, results: Sequence[Results]) -> list[str]:
        """Of documents that are missing where they should be: an index pruned from the first lacks
        none that the first retrieves."""
        first, *others = self.systems
        notes = [
            note
            for label, lacking in self.relevant.items()
            if (note := note_on_missing(*lacking, f"'{label}'", f"'{first}'"))
        ]
        retrieved = list(dict.fromkeys(doc for result in results for doc in result.retrieved))
        for name in others if retrieved else ():
            missing = len(retrieved) - len(
                set(known_documents(self.systems[name].index, retrieved))
            )
            if missing:
                notes.append(
                    f"'{name}' is of another collection than '{first}': it lacks {missing:,} of "
                    f"the {len(retrieved):,} documents that '{first}' retrieves"
                )
        return notes

    def _notes_on_chance(self, results: Sequence[Results]) -> list[str]:
        """Judgements of another collection are met by chance only."""
        first, *_ = self.systems
        documents = self.systems[first].index.documents
        notes = []
        for one in results:
            of, qrels = one.evaluations[first], one.queries.qrels
            mean, judged = of.means()["nDCG@5"], [qrels[name] for name in of.queries]
            notes.append(note_on_chance(mean, judged, documents, f"'{first}'", one.queries.files))
        return [note for note in notes if note]

    def _notes_on_terms(self, results: Sequence[Results], field: str) -> list[str]:
        """Of terms that an index lacks though pruning did not drop them, and queries it empties."""
        texts = [text for one in self.query_sets for text in one.topics.values()]
        notes = []
        for name, system in self.systems.items():
            index = system.index
            if not index.record(field).is_pruned:
                notes += notes_on_query_terms(index, field, self.analysed, texts, f"'{name}'")
            notes += [
                note_on_nothing_found(
                    index, field, self.analysed, one.queries.topics.values(), f"'{name}'"
                )
                for one in results
                if len(one.without_hits[name]) == len(one.queries.topics)
            ]
        return notes


def read_inputs(
    indexes: Mapping[str, Index],
    queries: Sequence[FilePair],
    tune: FilePair | None,
    config: CompareConfig,
) -> Compared:
    """Read the query sets and inspect the indexes; refuse what does not belong together."""
    first, *_ = indexes.values()
    analysed = refuse_different(
        {name: analysis_of(one, config.field, config.analysis) for name, one in indexes.items()},
        "the indexes",
    )
    how = config.field, analysed.analysis

    def read(pairs: Sequence[FilePair]) -> list[QuerySet]:
        return [
            replace(one, topics=searchable_topics(one.topics, *how))
            for one in read_query_sets(pairs, config.topic_field, config.topic_reader)
        ]

    query_sets = read(queries)
    training = None if tune is None else read([tune])[0]
    relevant = {one.label: one.check(first) for one in query_sets}
    if training is not None:
        training.check(first)
    for one in query_sets:
        check_query_terms(first, config.field, analysed, one.topics.values())
    found = {name: inspect_index(index) for name, index in indexes.items()}
    model = config.model or shared_model(indexes, config.field)
    systems = {
        name: System(index, recorded_parameters(index, model, field=config.field))
        for name, index in indexes.items()
    }
    if config.query_terms is not None:
        ranked = next(iter(systems.values())).parameters
        made = [
            shortened_topics(one.topics, config.query_terms, ranked, *how) for one in query_sets
        ]
        query_sets = [
            replace(one, topics=topics, shortened=told)
            for one, (topics, told) in zip(query_sets, made)
        ]
    return Compared(found, systems, query_sets, relevant, training, analysed)
