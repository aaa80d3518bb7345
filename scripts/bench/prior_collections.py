"""The collections a prior is made from: indexed with positions, their queries analysed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from table_sources import Sources

from tdv_lucene import analyze, load_matrix, read_qrels, read_topics
from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import Problem

ROWS = (
    ("adi", ("",)),
    ("cranfield", ("",)),
    ("cisi", ("",)),
    ("lisa", ("",)),
    ("time", ("",)),
    ("vaswani", ("",)),
    ("scifact", ("", "train")),
    ("wiki165k", ("tydi-dev", "dbpedia", "boolq-train", "fever-dev", "tydi-train")),
    ("wikir", ("wikir-dev",)),
)
"""Collections and their query sets; wikir is wiki165k without the two lines its queries are made
of, and counts as the same collection."""

TRAINED_ONLY = ("scifact-train", "wiki165k-tydi-train")
"""Sets that networks are trained on and that the table leaves out."""


def collection_of(name: str) -> str:
    """The collection that is left out with this one."""
    return "wiki165k" if name == "wikir" else name


@dataclass(frozen=True, eq=False)
class Judged:
    """A collection with its queries.

    Attributes
    ----------
    sets : query set -> int64[n] numbers of its queries in ``problem``
    """

    name: str
    problem: Problem
    sets: dict[str, np.ndarray]

    @cached_property
    def all_queries(self) -> np.ndarray:
        return np.arange(len(self.problem.queries))

    def of_model(self, model: str) -> Problem:
        return replace(self.problem, model=model)


def read_collections(
    folder: Path, work: Path, most: int, seed: int, only: Collection[str] | None = None
) -> Iterator[Judged]:
    """Yield the collections (of ``only``) in ``folder``, query sets cut to ``most`` at random."""
    for name, suffixes in ROWS:
        source = folder / collection_of(name)
        if source.exists() and (only is None or name in only):
            yield read_collection(name, source, suffixes, work, most, seed)


def read_collection(
    name: str, source: Path, suffixes: tuple[str, ...], work: Path, most: int, seed: int
) -> Judged:
    """Index the collection in ``source`` unless ``work`` has it, and read its query sets."""
    documents = _without_titles(source, work) if name == "wikir" else source
    matrix = _in_memory(load_matrix(Sources(documents, work / name).matrix_with_positions))
    topics, qrels = {}, {}
    for suffix in suffixes:
        end = f".{suffix}" if suffix else ""
        texts = read_topics(source / f"queries{end}.tsv")
        judged = read_qrels(source / f"qrels{end}.txt")
        ids = [q for q in texts if any(grade > 0 for grade in judged.get(q, {}).values())]
        drawn = sorted(np.random.default_rng(seed).permutation(len(ids))[:most])
        tokens = analyze([texts[ids[i]] for i in drawn])
        label = f"{name}-{suffix}" if suffix else name
        topics |= {f"{label}:{ids[i]}": words for i, words in zip(drawn, tokens)}
        qrels |= {f"{label}:{ids[i]}": judged[ids[i]] for i in drawn}
    vectors = latent_semantic_vectors(matrix, dimensions=0)
    problem = Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())
    of_set = np.array([query.split(":")[0] for query in problem.queries.ids])
    sets = {label: np.flatnonzero(of_set == label) for label in dict.fromkeys(of_set.tolist())}
    return Judged(name, problem, sets)


def _in_memory(matrix: TermDocumentMatrix) -> TermDocumentMatrix:
    names = ("indptr", "indices", "data", "doc_freq", "total_term_freq", "first_positions")
    return replace(matrix, **{name: np.array(getattr(matrix, name)) for name in names})


def _without_titles(source: Path, work: Path) -> Path:
    """wiki165k's documents without their first two lines, written once."""
    folder = work / "wikir-documents" / "wikir"
    if not folder.exists():
        folder.mkdir(parents=True)
        with (
            gzip.open(source / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines,
            open(folder / "corpus.jsonl", "w", encoding="utf-8") as out,
        ):
            for line in lines:
                record = json.loads(line)
                contents = "\n".join(record["contents"].split("\n")[2:])
                out.write(json.dumps({"id": record["id"], "contents": contents}) + "\n")
    return folder
