"""What a comparison compares: indexes with the parameters of their search, and query sets."""

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
from ..evaluation.evaluate import Evaluation, evaluate_run
from ..evaluation.named_topics import without_prefix
from ..evaluation.rank_agreement import compare_rankings
from ..evaluation.run_arrays import Run, share_names
from ..evaluation.topics import (
    STDIN,
    Qrels,
    Topics,
    check_overlap,
    read_qrels,
    read_topics,
    relevant_documents,
)
from ..indexes.index import Index
from ..jvm.searcher import known_documents
from ..output import Output
from ..ranking import SearchParameters
from ..searching.search import RUN, search_with
from ..source import ID_FIELD
from ..timing.latency import DEPTH

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
