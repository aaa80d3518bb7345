"""Inputs of a comparison: indexes and query sets, read and checked before any measurement."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..evaluation import topics as reading
from ..evaluation.topics import Qrels, Topics
from ..index.analysis import FieldAnalysis, analysis_of, refuse_different
from ..index.index import Index
from ..index.inspection import inspect_index
from ..index.parameters import recorded_parameters
from ..index.queries import check_query_terms, searchable_topics, shortened_topics
from ..index.record import SOURCE_PATH
from ..jvm.searcher import known_documents
from ..ranking import SearchParameters
from ..source import ID_FIELD
from .config import CompareConfig, ExplainConfig

FilePair = tuple[str | os.PathLike[str], str | os.PathLike[str]]  # topics and qrels


@dataclass(frozen=True)
class System:
    """An index and its search parameters; ``is_tuned`` for the first index with tuned ones.

    ``tier_of`` is the name of the index in two tiers that this searches one tier of.
    """

    index: Index
    parameters: SearchParameters
    is_tuned: bool = False
    tier_of: str | None = None

    @classmethod
    def tiers(cls, systems: Mapping[str, System]) -> dict[str, System]:
        """Return the whole and the hot field alone of each index that is searched in both."""
        found = {}
        for name, system in systems.items():
            tiers = system.parameters.tiers
            if tiers is not None and tiers.depth:
                for tier, alone in (("whole", None), ("hot", tiers.of_hot())):
                    parameters = system.parameters.in_tiers(alone)
                    found[f"{name}-{tier}"] = cls(system.index, parameters, tier_of=name)
        return found


@dataclass(frozen=True)
class QuerySet:
    """Topics and judgements under one label, the names of both files, and how queries were
    shortened, if they were."""

    label: str
    topics: Topics
    qrels: Qrels
    files: str = ""
    shortened: Mapping[str, float] | None = None

    @classmethod
    def read(
        cls, topics: str | os.PathLike[str], qrels: str | os.PathLike[str],
        topic_field: str = "title", topic_reader: str | None = None,
    ) -> QuerySet:  # fmt: skip
        """Read both files; the label is the topics' file name without its ending."""
        named = reading.without_prefix(topics) or topics
        label = re.sub(r"\.(gz|jsonl|tsv|txt|topics|trec|xml)\b", "", Path(named).name)
        label = {"": "queries", reading.STDIN: "stdin"}.get(label, label)
        texts = reading.read_topics(topics, topic_field, topic_reader)
        return cls(label, texts, reading.read_qrels(qrels), f"{qrels} for {topics}")


@dataclass(frozen=True)
class Compared:
    """The checked inputs."""

    found: Mapping[str, dict[str, Any]]  # by name, what inspect_index returns
    systems: dict[str, System]  # without tuned ones; all are compared with the first
    query_sets: Sequence[QuerySet]  # to measure on, the first also for latency
    relevant: Mapping[str, tuple[int, int]]  # by label: what the first index lacks, and all
    training: QuerySet | None  # to tune on
    analysed: FieldAnalysis  # of the indexes, and of queries


def read_inputs(
    indexes: Mapping[str, Index], queries: Sequence[FilePair], tune: FilePair | None,
    config: CompareConfig,
) -> Compared:  # fmt: skip
    """Read the query sets and inspect the indexes; refuse what does not belong together."""
    first, *_ = indexes.values()
    refuse_swapped(indexes, config.field)
    analysed = refuse_different(
        {name: analysis_of(one, config.field, config.analysis) for name, one in indexes.items()},
        "the indexes",
    )
    how = config.field, analysed.analysis

    def read(pairs: Sequence[FilePair]) -> list[QuerySet]:
        sets: list[QuerySet] = []
        for number, (topics, qrels) in enumerate(pairs, 1):
            one = QuerySet.read(topics, qrels, config.topic_field, config.topic_reader)
            taken = one.label in {other.label for other in sets}
            label = f"{one.label}-{number}" if taken else one.label
            sets.append(replace(one, label=label, topics=searchable_topics(one.topics, *how)))
        return sets

    query_sets = read(queries)
    training = None if tune is None else read([tune])[0]
    known = partial(known_documents, first, passages=config.max_passage)
    relevant = {
        one.label: reading.check_overlap(one.topics, one.qrels, known) for one in query_sets
    }
    if training is not None:
        reading.check_overlap(training.topics, training.qrels, known)
    for one in query_sets:
        check_query_terms(first, config.field, analysed, one.topics.values())
    found = {name: inspect_index(index) for name, index in indexes.items()}
    model = config.model or shared_model(indexes, config.field)
    systems = {
        name: System(
            index,
            recorded_parameters(index, model, field=config.field, **asked_tiers(index, config)),
        )
        for name, index in indexes.items()
    }
    if config.query_terms is not None:
        ranked = next(iter(systems.values())).parameters
        for at, one in enumerate(query_sets):
            topics, told = shortened_topics(one.topics, config.query_terms, ranked, *how)
            query_sets[at] = replace(one, topics=topics, shortened=told)
    return Compared(found, systems, query_sets, relevant, training, analysed)


def asked_tiers(index: Index, config: CompareConfig | ExplainConfig) -> dict[str, Any]:
    """Return which tiers of an index to search in, if it has any."""
    has = index.record(config.field).tiers is not None
    return {"tier": config.tier, "depth": config.depth} if has else {}


@contextmanager
def open_alike(
    paths: Mapping[str, str | os.PathLike[str]], id_field: str | None
) -> Iterator[dict[str, Index]]:
    """Open indexes with one field that names documents: the one asked for, or that any records.

    So an index names its documents as indexes pruned from it do.
    """
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


def shared_model(indexes: Mapping[str, Index], field: str) -> str | None:
    """Return the model that the indexes were learned for; None if none records one."""
    found = {name: index.record(field).known_model for name, index in indexes.items()}
    recorded = {name: model for name, model in found.items() if model is not None}
    if len({*recorded.values()}) > 1:
        told = ", ".join(f"'{name}' for {model}" for name, model in recorded.items())
        raise TdvError(
            f"the indexes were learned for different models ({told}): say which one to compare "
            f"them with (model), or compare indexes of one model"
        )
    return next(iter(recorded.values()), None)


def pairs_to_test(systems: Mapping[str, System]) -> list[tuple[str, str]]:
    """Return the (baseline, treatment) pairs: all against the first, and against its tuned self;
    without those that search one tier alone."""
    first, *others = systems
    others = [name for name in others if systems[name].tier_of is None]
    tuned = [name for name in others if systems[name].is_tuned]
    indexes = [name for name in others if not systems[name].is_tuned]
    return [(first, name) for name in others] + [(t, name) for t in tuned for name in indexes]


def refuse_swapped(found: Mapping[str, Index], field: str) -> None:
    """Refuse indexes of which the first was pruned from another one."""
    (first, full), *others = found.items()
    source = full.record(field).source_commit
    for name, other in others:
        if source == other.commit:
            raise TdvError(f"'{first}' was pruned from '{name}': put the full index first")


def notes_on_strangers(found: Mapping[str, Index], field: str) -> list[str]:
    """Note what is of another source than the first index, or its source, by their commits."""
    (first, full), *others = found.items()
    source = full.record(field).source_commit
    strangers, notes = [], []
    for name, other in others:
        other_source = other.record(field).source_commit
        shared = {full.commit, source} & {other.commit, other_source} - {None}
        if shared or source == other_source is None:
            continue
        if other.user_data.get(SOURCE_PATH) == os.path.abspath(full):
            notes.append(
                f"'{name}' was pruned from '{first}' as it was before: 'tdv-lucene update' makes "
                "it follow"
            )
        else:
            strangers.append(f"'{name}'")
    if strangers:
        of = f"not of the same source as '{first}', or of it as it was before"
        notes.append(f"{of}, by their commits: {', '.join(strangers)}")
    return notes
