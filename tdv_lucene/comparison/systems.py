"""What a comparison compares: indexes with the parameters of their search, and query sets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..evaluation.evaluate import Evaluation, evaluate_run, read_run
from ..evaluation.named_topics import without_prefix
from ..evaluation.rank_agreement import compare_rankings
from ..evaluation.topics import (
    Qrels,
    Topics,
    check_overlap,
    read_qrels,
    read_topics,
    relevant_documents,
)
from ..ranking import SearchParameters
from ..searching.search import search_index
from ..timing.latency import DEPTH

_RESERVED = {"tests", "trec_eval", "difference", "ci95", "p_value", "wins", "ties", "losses"}


@dataclass(frozen=True)
class System:
    """An index, and how it is searched."""

    path: str | os.PathLike
    parameters: SearchParameters


@dataclass(frozen=True)
class QuerySet:
    """Topics and their judgements under one label."""

    label: str
    topics: Topics
    qrels: Qrels

    @classmethod
    def read(cls, topics: str | os.PathLike, qrels: str | os.PathLike) -> QuerySet:
        """Read both files; the label is the topics' file name without its ending."""
        named = without_prefix(topics) or topics
        label = re.sub(r"\.(gz|tsv|txt|topics|trec|xml)\b", "", Path(named).name) or "queries"
        return cls(label, read_topics(topics), read_qrels(qrels))

    def check(self, index: str | os.PathLike) -> None:
        """Raise :class:`TdvError` unless topics, qrels and index have something in common."""
        from ..jvm.searcher import known_documents

        relevant = relevant_documents(self.topics, self.qrels)
        check_overlap(self.topics, self.qrels, known_documents(index, relevant))


@dataclass(frozen=True, eq=False)
class Results:
    """What the systems gave for one query set, by the systems' names.

    Attributes
    ----------
    runs : TREC runs, ``DEPTH`` hits deep
    evaluations : per-query values
    without_hits : topics without an answer
    rank_effects : agreement of each further system's rankings with the first's
    """

    queries: QuerySet
    runs: dict[str, Path]
    evaluations: dict[str, Evaluation]
    without_hits: dict[str, list[str]]
    rank_effects: dict[str, dict[str, Any]]

    def emptied(self, name: str) -> list[str]:
        """Judged queries which the first system answers and ``name`` does not."""
        first, *_ = self.without_hits.values()
        judged = set(self.evaluations[name].queries) - set(first)
        return [qid for qid in self.without_hits[name] if qid in judged]


def read_query_sets(pairs: Sequence[tuple[str | os.PathLike, str | os.PathLike]]) -> list[QuerySet]:
    """Read (topics, qrels) pairs; labels that occur twice are numbered."""
    sets: list[QuerySet] = []
    for number, (topics, qrels) in enumerate(pairs, 1):
        read = QuerySet.read(topics, qrels)
        if read.label in {of.label for of in sets}:
            read = QuerySet(f"{read.label}-{number}", read.topics, read.qrels)
        sets.append(read)
    return sets


def check_names(names: Sequence[str]) -> None:
    """Names become keys of the report and names of files."""
    for name in names:
        if not re.fullmatch(r"\w[\w.+-]*", name) or name in _RESERVED:
            raise TdvError(
                f"name '{name}' is not usable: write letters, digits, '_', '-', '+', '.', and "
                f"none of {', '.join(sorted(_RESERVED))}"
            )
    for name in names:
        if names.count(name) > 1:
            raise TdvError(f"two indexes are named '{name}': give two different names")


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
    results = Results(queries, {}, {}, {}, {})
    frames = {}
    for name, system in systems.items():
        run = results.runs[name] = folder / f"{prefix}{name}.run"
        parameters = system.parameters
        summary = search_index(
            system.path, queries.topics, run, hits=DEPTH, model=parameters.model,
            **parameters.values(), **search,
        )  # fmt: skip
        results.without_hits[name] = summary["queries_without_hits"]
        frames[name] = read_run(run)
        results.evaluations[name] = evaluate_run(
            frames[name], queries.topics, queries.qrels, measures=measures
        )
    first, *others = frames
    for name in others:
        results.rank_effects[name] = compare_rankings(frames[first], frames[name])
    return results
