"""Read small indexes through Lucene itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tdv_lucene.analysis import DEFAULT
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.analysis import make_analyzer
from tdv_lucene.jvm.searcher import open_searched

_LUCENE = "org.apache.lucene."


def default_codec() -> str:
    """The name of the codec this Lucene writes."""
    return java_class(_LUCENE + "codecs.Codec").getDefault().getName()


@contextmanager
def open_reader(path: Path) -> Iterator[Any]:
    """A Lucene ``DirectoryReader``, in which soft-deleted documents (of field ``gone``) are not
    live."""
    paths = java_class("java.nio.file.Paths")
    directory = java_class(_LUCENE + "store.FSDirectory").open(paths.get(str(path)))
    reader = java_class(_LUCENE + "index.DirectoryReader").open(directory)
    marked = java_class(_LUCENE + "index.FieldInfos").getMergedFieldInfos(reader).fieldInfo("gone")
    if marked is not None and marked.isSoftDeletesField():
        reader = java_class(_LUCENE + "index.SoftDeletesDirectoryReaderWrapper")(reader, "gone")
    try:
        yield reader
    finally:
        reader.close()
        directory.close()


def search_lucene(
    path: Path, topics: Mapping[str, str], similarity: Any = None, *, field: str = "contents",
    name: str = "id",
) -> dict[str, list[tuple[str, float]]]:  # fmt: skip
    """Query id -> (what the stored field ``name`` calls a document, score) of all hits of its words
    by Lucene's own searcher, with all its defaults or another similarity."""
    term_query, new_term = (
        java_class(_LUCENE + "search.TermQuery"),
        java_class(_LUCENE + "index.Term"),
    )
    should = java_class(_LUCENE + "search.BooleanClause$Occur").SHOULD
    found = {}
    with open_reader(path) as reader:
        searcher = java_class(_LUCENE + "search.IndexSearcher")(reader.getContext())
        if similarity is not None:
            searcher.setSimilarity(similarity)
        stored = reader.storedFields()
        for qid, text in topics.items():
            builder = java_class(_LUCENE + "search.BooleanQuery$Builder")()
            for word in text.split():
                builder.add(term_query(new_term(field, word)), should)
            hits = searcher.search(builder.build(), 1000).scoreDocs
            found[qid] = [(stored.document(hit.doc).get(name), hit.score) for hit in hits]
    return found


def explain_scores(
    path: Path, similarity: Any, field: str, topics: Mapping[str, str], hits: int
) -> dict[str, list[tuple[str, float, float]]]:
    """Query id -> (document id, score, score by Lucene's ``explain``) of the best ``hits``."""
    analyzer = make_analyzer(DEFAULT)
    generator = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    found = {}
    opening = open_searched(path, similarity, field, analysis=DEFAULT, threads=1)
    with opening as opened, open_reader(path) as reader:
        stored = reader.storedFields()
        numbers = {stored.document(n).get("id"): n for n in range(reader.maxDoc())}
        searcher = java_class(_LUCENE + "search.IndexSearcher")(reader.getContext())
        searcher.setSimilarity(similarity)
        for qid, text in topics.items():
            query = generator.buildQuery(field, analyzer, text)
            found[qid] = [
                (
                    hit.document,
                    hit.score,
                    float(searcher.explain(query, numbers[hit.document]).getValue().toString()),
                )
                for hit in opened.best(text, hits)
            ]
    return found


def check_index(path: Path) -> None:
    """Run Lucene's CheckIndex with its slow checks (vectors against postings among them)."""
    paths = java_class("java.nio.file.Paths")
    no_lock = java_class(_LUCENE + "store.NoLockFactory").INSTANCE  # a writer may be open
    directory = java_class(_LUCENE + "store.FSDirectory").open(paths.get(str(path)), no_lock)
    check = java_class(_LUCENE + "index.CheckIndex")(directory)
    printed = java_class("java.io.ByteArrayOutputStream")()
    try:
        check.setInfoStream(java_class("java.io.PrintStream")(printed, True))
        if hasattr(check, "setDoSlowChecks"):  # Lucene 9
            check.setDoSlowChecks(True)
        else:
            check.setLevel(java_class(_LUCENE + "index.CheckIndex$Level").MIN_LEVEL_FOR_SLOW_CHECKS)
        clean = check.checkIndex().clean
    finally:
        check.close()
        directory.close()
    assert clean, f"{path} is damaged; CheckIndex says:\n{printed.toString()}"


def read_embeddings(path: Path) -> list[list[float] | None]:
    """The k-NN vector of each live document in order."""
    with open_reader(path) as reader:
        return [
            _embedding(leaf.getFloatVectorValues("embedding"), doc)
            for leaf, numbers in leaves(reader)
            for doc in numbers
        ]


def leaves(reader: Any) -> Iterator[tuple[Any, dict[int, int]]]:
    """Each segment's reader with the numbers of its live documents in the whole index."""
    next_number = 0
    for context in reader.leaves().toArray():
        leaf = context.reader()
        live = leaf.getLiveDocs()
        docs = [doc for doc in range(leaf.maxDoc()) if live is None or live.get(doc)]
        yield leaf, {doc: next_number + i for i, doc in enumerate(docs)}
        next_number += len(docs)


def _embedding(vectors: Any, doc: int) -> list[float] | None:
    """Lucene 9 walks k-NN vectors by document; Lucene 10 by number, with an iterator beside."""
    if vectors is None:
        return None
    places = vectors.iterator() if hasattr(vectors, "iterator") else vectors
    if places.advance(doc) != doc:
        return None
    number = [places.index()] if places is not vectors else []
    return list(vectors.vectorValue(*number))
