"""What a comparison is given: indexes, their TDVs and query sets, read and checked first."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError, argument
from ..evaluation.measures import Evaluation, evaluate_run, note_on_chance
from ..evaluation.runs import Run, compare_rankings, share_names
from ..evaluation.topics import (
    STDIN,
    Qrels,
    Topics,
    check_overlap,
    note_on_missing,
    read_qrels,
    read_topics,
    relevant_documents,
    without_prefix,
)
from ..indexes.analysis import analysis_of, refuse_different
from ..indexes.field_analysis import FieldAnalysis
from ..indexes.index import Index
from ..indexes.inspection import inspect_index
from ..indexes.queries import searchable_topics, shortened_topics
from ..indexes.query_terms import check_query_terms, note_on_nothing_found, notes_on_query_terms
from ..indexes.search_parameters import recorded_parameters
from ..indexes.user_data import notes_on_strangers
from ..jvm.searcher import known_documents
from ..output import Output
from ..ranking import SearchParameters
from ..searching.search import RUN, search_with
from ..source import ID_FIELD
from ..timing.latency import DEPTH
from .config import CompareConfig

SHOWN = 10
"""Documents of each ranking in a report."""
_LOOKED_UP = 10_000


@dataclass(frozen=True)
class System:
    """An index, and how it is searched.

    ``is_tuned`` says whether it is the first index once more, with parameters tuned for it.
    """

    index: Index
    parameters: SearchParameters
    is_tuned: bool = False


@dataclass(frozen=True)
class QuerySet:
    """Topics and their judgements under one label, and the names of both files; ``shortened`` if
    they were, and how."""

    label: str
    topics: Topics
    qrels: Qrels
    files: str = ""
    shortened: Mapping[str, float] | None = None

    @classmethod
    def read(
        cls,
        topics: str | os.PathLike[str],
        qrels: str | os.PathLike[str],
        topic_field: str = "title",
        topic_reader: str | None = None,
    ) -> QuerySet:
        """Read both files; the label is the topics' file name without its ending."""
        named = without_prefix(topics) or topics
        label = re.sub(r"\.(gz|jsonl|tsv|txt|topics|trec|xml)\b", "", Path(named).name)
        label = {"": "queries", STDIN: "stdin"}.get(label, label)
        texts = read_topics(topics, topic_field, topic_reader)
        return cls(label, texts, read_qrels(qrels), f"{qrels} for {topics}")

    def check(self, index: Index) -> tuple[int, int]:
        """Return how many relevant documents ``index`` lacks, and how many there are.

        Raises :class:`TdvError` unless topics, qrels and index have something in common.
        """
        relevant = relevant_documents(self.topics, self.qrels)
        known = known_documents(index, relevant)
        check_overlap(self.topics, self.qrels, known)
        return len(relevant) - len(set(known)), len(relevant)


@dataclass(frozen=True, eq=False)
class Results:
    """What the systems gave for one query set, by the systems' names.

    Attributes
    ----------
    runs : TREC runs, ``DEPTH`` hits deep
    evaluations : per-query values
    without_hits : topics without an answer
    rank_effects : agreement of each further system's rankings with the first's
    best : judged query -> ids of its ``SHOWN`` best documents
    retrieved : ids of documents that the first system retrieves, at most ``_LOOKED_UP``
    """

    queries: QuerySet
    runs: dict[str, Path]
    evaluations: dict[str, Evaluation]
    without_hits: dict[str, list[str]]
    rank_effects: dict[str, dict[str, Any]]
    best: dict[str, dict[str, list[str]]]
    retrieved: list[str]


def read_query_sets(
    pairs: Sequence[tuple[str | os.PathLike[str], str | os.PathLike[str]]],
    topic_field: str,
    topic_reader: str | None = None,
) -> list[QuerySet]:
    """Read (topics, qrels) pairs; labels that occur twice are numbered."""
    sets: list[QuerySet] = []
    for number, (topics, qrels) in enumerate(pairs, 1):
        read = QuerySet.read(topics, qrels, topic_field, topic_reader)
        if read.label in {other.label for other in sets}:
            read = replace(read, label=f"{read.label}-{number}")
        sets.append(read)
    return sets


def pairs_to_test(systems: Mapping[str, System]) -> list[tuple[str, str]]:
    """The (baseline, treatment) pairs tested: all against the first, and against its tuned self."""
    first, *others = systems
    tuned = [name for name in others if systems[name].is_tuned]
    indexes = [name for name in others if not systems[name].is_tuned]
    return [(first, name) for name in others] + [(t, name) for t in tuned for name in indexes]


def check_names(names: Sequence[str], reserved: Collection[str]) -> None:
    """Names become keys of the report, beside the ``reserved`` ones, and names of files."""
    for name in names:
        if not re.fullmatch(r"\w[\w.+-]*", name) or name in reserved:
            raise TdvError(
                f"name '{name}' is not usable: write letters, digits, '_', '-', '+', '.', and "
                f"none of {', '.join(sorted(reserved))}"
            )
    for name in names:
        if names.count(name) > 1:
            raise TdvError(f"two indexes are named '{name}': give two different names")


def shared_model(indexes: Mapping[str, Index], field: str) -> str | None:
    """Return the model that the indexes were learned for; None if none of them says."""
    found = {name: index.record(field).known_model for name, index in indexes.items()}
    recorded = {name: model for name, model in found.items() if model is not None}
    if len({*recorded.values()}) > 1:
        told = ", ".join(f"'{name}' for {model}" for name, model in recorded.items())
        raise TdvError(
            f"the indexes were learned for different models ({told}): say which one to compare "
            f"them with ({argument('model')}), or compare indexes of one model"
        )
    return next(iter(recorded.values()), None)


@contextmanager
def open_alike(
    paths: Mapping[str, str | os.PathLike[str]], id_field: str | None
) -> Iterator[dict[str, Index]]:
    """Open indexes with the field that names documents, if one was asked for or any records one:
    an index is named as those that were pruned from it."""
    with ExitStack() as stack:
        found = {
            name: stack.enter_context(Index.open(path, id_field)) for name, path in paths.items()
        }
        named = {name: index.user_data.get(ID_FIELD) for name, index in found.items()}
        by_others = next(filter(None, named.values()), None)
        for name, index in found.items():
            if id_field is None and by_others and named[name] is None and not index.is_sharded:
                found[name] = stack.enter_context(Index.open(index.source, by_others))
        yield found


def search_all(
    systems: Mapping[str, System],
    queries: QuerySet,
    folder: Path,
    prefix: str,
    measures: str | Sequence[str] = (),
    **search: Any,
) -> Results:
    """Write ``folder/<prefix><name>.run`` of every system, and evaluate them.

    ``measures`` are further ones, by their names in ir-measures.
    """
    runs = {name: folder / f"{prefix}{name}.run" for name in systems}
    found, without_hits = {}, {}
    for name, system in systems.items():
        place = Output(runs[name], RUN, is_folder=False, inputs=[system.index], made_by="compare")
        made = search_with(
            system.index, queries.topics, place, system.parameters, hits=DEPTH, keep_run=True,
            **search,
        )  # fmt: skip
        found[name], without_hits[name] = made.run(), made.summary["queries_without_hits"]
    found = dict(zip(systems, share_names([*found.values()])))
    first, *others = systems
    evaluations = {
        name: evaluate_run(run, queries.topics, queries.qrels, measures=measures)
        for name, run in found.items()
    }
    judged = evaluations[first].queries
    return Results(
        queries,
        runs,
        evaluations,
        without_hits=without_hits,
        rank_effects={name: compare_rankings(found[first], found[name]) for name in others},
        best={name: run.best(judged, SHOWN) for name, run in found.items()},
        retrieved=_some_documents(found[first]),
    )


def _some_documents(run: Run) -> list[str]:
    """Ids of at most ``_LOOKED_UP`` documents of a run."""
    documents = np.unique(run.documents)
    return [run.names[number] for number in documents[:: 1 + len(documents) // _LOOKED_UP]]


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

    def notes(self, results: Sequence[Results], field: str) -> list[str]:
        """What a reader should know before trusting the numbers."""
        first, *_ = self.systems
        return [
            *notes(self.systems, field),
            *self._notes_on_documents(results),
            *self._notes_on_chance(results),
            *notes_on_tuning(self.query_sets, self.training.topics if self.training else {}),
            *notes_on_shortening(self.query_sets),
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


def notes(systems: Mapping[str, System], field: str = "contents") -> list[str]:
    """What a reader should know before trusting the numbers."""
    model = next(iter(systems.values())).parameters.model
    (first, full), *others = [(name, system.index) for name, system in systems.items()]
    notes = notes_on_strangers(dict([(first, full), *others]), field)
    for name, pruned in others:
        learned_for = pruned.record(field).learned_for_another(model)
        if learned_for is not None:
            notes.append(
                f"the TDVs of '{name}' were learned for {learned_for}, this comparison ranks with "
                f"{model}"
            )
        if full.documents != pruned.documents:
            notes.append(
                f"the indexes hold different numbers of documents: {full.documents:,} "
                f"('{first}') and {pruned.documents:,} ('{name}')"
            )
    if full.deleted:
        notes.append(
            f"the postings of '{first}' include those of {full.deleted:,} deleted documents"
        )
    return notes


def notes_on_tuning(query_sets: Sequence[QuerySet], tuned_on: Topics) -> list[str]:
    """Notes about queries that the baseline was tuned on too: by their texts, in which blanks and
    case make no difference, and further ones by nothing but their ids."""
    notes = []
    texts = {_plain(text) for text in tuned_on.values()}
    for one in query_sets:
        of_text = {qid for qid, text in one.topics.items() if _plain(text) in texts}
        of_id = (one.topics.keys() & tuned_on.keys()) - of_text
        of_all = f"of the {len(one.topics):,} queries of '{one.label}'"
        if of_text:
            notes.append(
                f"{len(of_text):,} {of_all} are among those the baseline was tuned on: on them its "
                "tuned figures are too high"
            )
        if of_id:
            notes.append(
                f"{len(of_id):,} {of_all} have the id of a tuning query with another text: are "
                "they variants of one question?"
            )
    return notes


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def notes_on_shortening(query_sets: Sequence[QuerySet]) -> list[str]:
    """Notes about query sets of which every index was asked a part of each query."""
    return [
        f"the queries of '{one.label}' ask for their heaviest terms only, which hold "
        f"{100 * made['query_terms']:g} % of a query's weight: {made['terms_per_query']:.1f} of "
        f"{made['terms_per_query_before']:.1f} terms on average"
        for one in query_sets
        if (made := one.shortened) is not None
    ]
