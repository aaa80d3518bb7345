"""The collections a prior is made from: indexed with positions, their queries analysed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sources import Sources

from tdv_lucene import load_matrix, read_qrels, read_topics
from tdv_lucene.analysis import DEFAULT, Analysis
from tdv_lucene.jvm.analysis import analyze
from tdv_lucene.learning.prior import ASKED, DETAILS
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import Problem

_MOST_SHOWN = 1500
"""Queries of a set that is only measured."""

BY_RULE = "by rule"
"""The kind of queries that nobody asked, beside the prior's kinds: tables show them, no more."""


class QuerySet(NamedTuple):
    """Queries of a collection.

    Attributes
    ----------
    suffix : str
        Of their files.
    kind : str
    made, shown : bool
        Whether the prior is made of them, and whether tables show them.
    name : str
        In place of the collection's.
    documents : range or None
        Only queries about a document whose id has such a number.
    """

    suffix: str
    kind: str
    made: bool = True
    shown: bool = True
    name: str = ""
    documents: range | None = None

    def label(self, collection: str) -> str:
        name = self.name or collection
        return f"{name}-{self.suffix}" if self.suffix else name


class Row(NamedTuple):
    """A collection, in a subfolder: its query sets, how its text is analysed, and what it is."""

    sets: tuple[QuerySet, ...] = (QuerySet("", ASKED),)
    subfolder: str = "."
    analysis: Analysis = DEFAULT
    text: str = "passages"


def _halves(kind: str, name: str = "", documents: range | None = None) -> tuple[QuerySet, ...]:
    """The prior is made of one half, and tables show the other."""
    return (
        QuerySet("train", kind, True, False, name, documents),
        QuerySet("test", kind, False, True, name, documents),
    )


_WORDS = Analysis(stemmer="none")
"""Of languages that Anserini has no analyzer for."""


def _passages(analysis: Analysis, kind: str) -> Row:
    return Row(_halves(kind), "lang", analysis)


_OF_ARCD = range(1, 462)
"""Documents of ar-arcd-tydi whose questions were written with them in view: those in ARCD's order,
with three questions each."""

ROWS = {
    **{name: Row(text="abstracts") for name in ("adi", "cranfield", "cisi", "lisa", "vaswani")},
    "time": Row(text="news"),
    "scifact": Row(
        (QuerySet("", ASKED), QuerySet("train", ASKED, shown=False)), text="abstracts"
    ),
    "wiki165k": Row(
        (
            *(QuerySet(s, ASKED) for s in ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")),
            QuerySet("tydi-train", ASKED, shown=False),
        ),
        text="encyclopedia",
    ),
    "wikir": Row((QuerySet("wikir-dev", BY_RULE, made=False),), text="encyclopedia"),
    "sw-tydi": _passages(_WORDS, ASKED),
    "ru-tydi": _passages(Analysis("ru"), ASKED),
    "de-klexikon": Row(
        (QuerySet("test", BY_RULE, made=False),), "lang", Analysis("de"), "encyclopedia"
    ),
    "ar-arcd-tydi": Row(
        (
            *_halves(DETAILS, "ar-arcd", _OF_ARCD),
            *_halves(ASKED, "ar-tydi", range(_OF_ARCD.stop, 10**9)),
        ),
        "lang",
        Analysis("ar"),
    ),
    "fr-piaf": _passages(Analysis("fr"), DETAILS),
    "fa-pquad": _passages(Analysis("fa"), DETAILS),
    "ja-jaquad": _passages(Analysis("ja"), DETAILS),
    "zh-drcd": _passages(Analysis("zh"), DETAILS),
    "xquad-en": _passages(DEFAULT, DETAILS),
    "xquad-de": _passages(Analysis("de"), DETAILS),
    "xquad-hi": _passages(Analysis("hi"), DETAILS),
    "xquad-el": _passages(_WORDS, DETAILS),
    **{
        name: Row((QuerySet("", ASKED, made=False),), "domains", text=text)
        for name, text in (
            ("nfcorpus", "medicine"), ("icecat_chorus", "shops"), ("msrd_movies", "films"),
            ("stackfaq", "help"), ("cosqa", "code"),
        )
    },
}  # fmt: skip
"""wikir is wiki165k without the two lines its queries are made of, and the xquads are one text in
four languages: each counts as one collection."""

QUERY_SETS = {each.label(name): each for name, row in ROWS.items() for each in row.sets}
_ROW_OF = {each.label(name): name for name, row in ROWS.items() for each in row.sets}


def text_of(name: str) -> str:
    """Return the kind of text of a collection, or of what a query set asks."""
    return ROWS[_ROW_OF.get(name, name)].text


def collection_of(name: str) -> str:
    """The collection that is left out with this one, or with this query set."""
    name = _ROW_OF.get(name, name)
    return "wiki165k" if name == "wikir" else name.split("-")[0] if "xquad" in name else name


def is_left_out(name: str, without: str | None) -> bool:
    """Tell whether a collection or query set is of ``without``, a collection or kind of text."""
    return without in (collection_of(name), text_of(name))


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

    @property
    def in_sets(self) -> np.ndarray:
        """The numbers of the queries of its sets."""
        return np.sort(np.concatenate([*self.sets.values()]))

    def of_model(self, model: str) -> Problem:
        return replace(self.problem, model=model)

    def only(self, wanted: Callable[[QuerySet], bool]) -> Judged:
        """Return the same with those query sets only, numbered as they were."""
        some = {label: n for label, n in self.sets.items() if wanted(QUERY_SETS[label])}
        return replace(self, sets=some)


def read_collections(
    folder: Path,
    work: Path,
    most: int,
    seed: int,
    only: Collection[str] | None = None,
    *,
    shown: int = _MOST_SHOWN,
) -> Iterator[Judged]:
    """Yield the collections (of ``only``) in ``folder``, query sets that the prior is made of cut
    to ``most`` at random, others to ``shown`` if that is more."""
    for name in ROWS if only is None else only:
        if source_of(name, folder).exists():
            yield read_collection(name, folder, work, most, seed, shown=shown)


def source_of(name: str, folder: Path) -> Path:
    return folder / ROWS[name].subfolder / ("wiki165k" if name == "wikir" else name)


def sources_of(name: str, folder: Path, work: Path) -> Sources:
    """Its indexes and matrices, which ``work`` holds or will hold."""
    source, row = source_of(name, folder), ROWS[name]
    documents = _without_titles(source, work) if name == "wikir" else source
    flags = () if row.analysis == DEFAULT else row.analysis.flags()[1:].split()
    return Sources(documents, work / name, flags)


def read_collection(
    name: str, folder: Path, work: Path, most: int, seed: int, *, shown: int = _MOST_SHOWN
) -> Judged:
    """Read the collection's counts and its query sets."""
    source, row = source_of(name, folder), ROWS[name]
    matrix = _in_memory(load_matrix(sources_of(name, folder, work).matrix_with_positions))
    topics, qrels, sets = {}, {}, {}
    for each in row.sets:
        end = f".{each.suffix}" if each.suffix else ""
        texts = read_topics(source / f"queries{end}.tsv")
        judged = read_qrels(source / f"qrels{end}.txt")
        ids = [q for q in texts if _is_about(each.documents, judged.get(q, {}))]
        at_most = most if each.made else max(most, shown)
        drawn = sorted(np.random.default_rng(seed).permutation(len(ids))[:at_most])
        tokens = analyze([texts[ids[i]] for i in drawn], analysis=row.analysis)
        label = each.label(name)
        topics |= {f"{label}:{ids[i]}": words for i, words in zip(drawn, tokens)}
        qrels |= {f"{label}:{ids[i]}": judged[ids[i]] for i in drawn}
    vectors = latent_semantic_vectors(matrix, dimensions=0)
    problem = Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())
    of_set = np.array([query.split(":")[0] for query in problem.queries.ids])
    sets = {label: np.flatnonzero(of_set == label) for label in dict.fromkeys(of_set.tolist())}
    return Judged(name, problem, sets)


def _is_about(documents: range | None, judged: Mapping[str, int]) -> bool:
    relevant = [doc for doc, grade in judged.items() if grade > 0]
    if documents is not None:
        relevant = [doc for doc in relevant if int(doc.rsplit("d", 1)[1]) in documents]
    return bool(relevant)


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
