"""The rows of the table: collections, what trains, what is measured, how queries are split."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tdv_lucene import read_qrels, read_topics
from tdv_lucene.evaluation.topics import Qrels, Topics, judged_queries

FOLDS = 5


class QueryData(NamedTuple):
    """Judged topics and their qrels."""

    topics: Topics
    qrels: Qrels

    def some(self, ids: list[str]) -> QueryData:
        return QueryData(
            {q: self.topics[q] for q in ids}, {q: self.qrels[q] for q in ids}
        )  # fmt: skip

    def digest(self) -> str:
        return digest([list(self.topics.items()), sorted(self.qrels.items())])

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write both as files, which is what the stages of learning take."""
        folder.mkdir(parents=True, exist_ok=True)
        topics, qrels = folder / f"{name}.topics.tsv", folder / f"{name}.qrels.txt"
        lines = [f"{q}\t{' '.join(text.split())}" for q, text in self.topics.items()]
        topics.write_text("\n".join(lines) + "\n", encoding="utf-8")
        judged = [
            f"{q} 0 {doc} {g}" for q, grades in self.qrels.items() for doc, g in grades.items()
        ]
        qrels.write_text("\n".join(judged) + "\n", encoding="utf-8")
        return topics, qrels


class Split(NamedTuple):
    """Training queries, and those measured with what was learned from them.

    ``inner_folds`` is the recipe's ``folds`` where the table takes fewer, for the time it takes.
    """

    name: str
    train: QueryData
    test: QueryData
    inner_folds: int | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``measured`` and ``train`` are suffixes of the query files ("" is a collection's plain set);
    without ``train`` the measured queries are split into ``FOLDS``, each measured with what was
    learned from the others; ``seed`` says how.
    """

    collection: str
    measured: str = ""
    train: str | None = None
    inner_folds: int | None = None
    seed: int = 0

    @property
    def name(self) -> str:
        how = f"{FOLDS}-fold" if self.train is None else f"from {self.train}"
        return f"{self.collection} {self.measured or ('test' if self.train else '')}".strip() + (
            f" ({how})"
        )

    @property
    def key(self) -> str:
        parts = (self.collection, self.measured, "5fold" if self.train is None else "")
        return "-".join(part for part in parts if part)

    def measured_queries(self, collections: Path) -> QueryData:
        return _read(collections / self.collection, self.measured)

    def tuning_queries(self, collections: Path) -> QueryData:
        """All that any split trains on."""
        if self.train is None:
            return self.measured_queries(collections)
        return _read(collections / self.collection, self.train)

    def splits(self, collections: Path) -> list[Split]:
        measured = self.measured_queries(collections)
        if self.train is not None:
            return [Split(self.train, _read(collections / self.collection, self.train), measured)]
        ids = list(measured.topics)
        order = np.random.default_rng(self.seed).permutation(len(ids))
        folds = [sorted(part.tolist()) for part in np.array_split(order, FOLDS)]
        return [
            Split(
                f"{self.measured or 'all'}-fold{k}" + (f"-seed{self.seed}" if self.seed else ""),
                measured.some([q for i, q in enumerate(ids) if i not in set(fold)]),
                measured.some([ids[i] for i in fold]),
                self.inner_folds,
            )
            for k, fold in enumerate(folds)
        ]


ROWS = (
    Row("vaswani"),
    Row("cranfield"),
    Row("cisi"),
    Row("scifact", "", "train"),
    Row("wiki165k", "tydi-dev", "tydi-train"),
    Row("wiki165k", "dbpedia", "tydi-train"),
    Row("wiki165k", "boolq-train", "tydi-train"),
    Row("wiki165k", "fever-dev", "tydi-train"),
    Row("wiki165k", "dbpedia", inner_folds=3),
)


@cache
def _read(source: Path, suffix: str) -> QueryData:
    end = f".{suffix}" if suffix else ""
    topics = read_topics(source / f"queries{end}.tsv")
    qrels = read_qrels(source / f"qrels{end}.txt")
    return QueryData(topics, qrels).some(judged_queries(topics, qrels))


def digest(content: object) -> str:
    """Sixteen hexadecimal digits that stand for ``content``."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
