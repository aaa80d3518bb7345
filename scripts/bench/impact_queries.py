"""Query sets as terms of an impact index: those to train on, and those to measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tdv_lucene import read_qrels, read_topics
from tdv_lucene.evaluation.topics import Qrels, Topics
from tdv_lucene.jvm.analysis import analyze_topics

HALVES = "halves"
"""The name of half of the queries of all measured sets."""


class QueryData(NamedTuple):
    """Judged topics, whose texts are terms, and their qrels."""

    topics: Topics
    qrels: Qrels

    @classmethod
    def read(cls, folder: Path, name: str = "") -> QueryData:
        """Read a set of a collection, without queries that are not judged or have no term."""
        end = f".{name}" if name else ""
        qrels = read_qrels(folder / f"qrels{end}.txt")
        terms = analyze_topics(read_topics(folder / f"queries{end}.tsv"))
        return cls({q: " ".join(of) for q, of in terms.items() if of and q in qrels}, qrels)

    @property
    def terms(self) -> dict[str, list[str]]:
        return {qid: text.split() for qid, text in self.topics.items()}

    def some(self, ids: list[str]) -> QueryData:
        return QueryData({q: self.topics[q] for q in ids}, {q: self.qrels[q] for q in ids})

    def every_second(self, first: int) -> QueryData:
        return self.some([*self.topics][first::2])

    def at_most(self, number: int) -> QueryData:
        return self.some([*self.topics][:: -(-len(self.topics) // number)])

    def named(self, name: str) -> QueryData:
        """Return the same, with ids that no other set has."""
        return QueryData(
            {f"{name}-{q}": text for q, text in self.topics.items()},
            {f"{name}-{q}": grades for q, grades in self.qrels.items()},
        )

    @classmethod
    def joined(cls, parts: Sequence[QueryData]) -> QueryData:
        topics, qrels = ({k: v for part in parts for k, v in part[i].items()} for i in (0, 1))
        return cls(topics, qrels)

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write both as files, which is what the stages take."""
        topics, qrels = folder / f"{name}.topics.tsv", folder / f"{name}.qrels.txt"
        lines = [f"{qid}\t{text}\n" for qid, text in self.topics.items()]
        topics.write_text("".join(lines), encoding="utf-8")
        judged = [
            f"{qid} 0 {doc} {grade}\n"
            for qid, grades in self.qrels.items()
            for doc, grade in grades.items()
        ]
        qrels.write_text("".join(judged), encoding="utf-8")
        return topics, qrels


def read_query_sets(
    folder: Path, train: str, sets: Sequence[str], most: int
) -> tuple[QueryData, dict[str, QueryData]]:
    """Return queries to train on, and of each set at most so many to measure.

    A collection of one set is split: every second query trains, the others measure. So is each of
    several sets if ``train`` is ``HALVES``: at most so many of each train, too.
    """
    if (folder / "queries.tsv").exists():
        every = QueryData.read(folder)
        return every.every_second(0), {folder.name: every.every_second(1).at_most(most)}
    read = {name: QueryData.read(folder, name) for name in sets}
    if train != HALVES:
        return QueryData.read(folder, train), {n: of.at_most(most) for n, of in read.items()}
    trains = [of.every_second(0).at_most(most).named(name) for name, of in read.items()]
    return QueryData.joined(trains), {n: of.every_second(1).at_most(most) for n, of in read.items()}
