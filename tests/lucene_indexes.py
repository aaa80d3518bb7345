"""Small Lucene indexes written through Lucene itself, of every kind the package must serve.

The default is what Anserini writes: ``id`` (stored, indexed, and in doc values), the field
(DOCS_AND_FREQS with norms), ``raw`` stored. A document's tokens are given one by one, so that any
bytes can be a term.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tdv_lucene.analysis import DEFAULT, Analysis
from tdv_lucene.index.analysis import as_user_data
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.analysis import make_analyzer

_LUCENE = "org.apache.lucene."
_SIMILARITIES = {
    "default": _LUCENE + "search.similarities.BM25Similarity",
    "accurate": "io.anserini.search.similarity.AccurateBM25Similarity",
    "impact": "io.anserini.search.similarity.ImpactSimilarity",
}
# pyjnius takes the first constructor whose arguments are objects, whatever their class.
_STREAM_FIELD = (
    "(Ljava/lang/String;Lorg/apache/lucene/analysis/TokenStream;"
    "Lorg/apache/lucene/index/IndexableFieldType;)V"
)


@dataclass(frozen=True)
class Doc:
    """One document. ``tokens`` None: the field is absent; empty: present without a token."""

    id: str  # empty: it has none
    tokens: Sequence[str | bytes] | None
    title: Sequence[str] = ()
    deleted: bool = False


@dataclass(frozen=True)
class Layout:
    """How the field is indexed and what stands beside it."""

    field: str = "contents"
    options: str = "DOCS_AND_FREQS"
    vectors: str = ""  # any of "v" (vectors), "p" (their positions), "o" (offsets)
    norms: str = "default"  # a key of _SIMILARITIES, or "none"
    raw: bool = True
    extras: bool = False  # doc values, points, a k-NN vector
    title: str = "DOCS_AND_FREQS_AND_POSITIONS"  # index options of the second field
    title_vectors: str = ""
    compound: bool = False
    sort: str = ""  # a numeric doc-values field to sort the index by
    soft_deletes: str = ""  # the soft-deletes field
    parent: str = ""  # Lucene 10's field of nested documents: a segment's are one block
    id_doc_values: bool = True
    analysis: Analysis | None = DEFAULT  # that it says queries are to have; None if it is silent

    @property
    def offsets(self) -> bool:
        """Whether tokens have offsets, in postings or vectors."""
        return "OFFSETS" in self.options or "o" in self.vectors


def without_raw_bytes(segments: Iterable[Iterable[Doc]]) -> list[list[Doc]]:
    """The same documents without tokens that are no text: Lucene 10 gives those no offsets."""
    return [
        [
            replace(doc, tokens=[token for token in doc.tokens if isinstance(token, str)])
            if doc.tokens
            else doc
            for doc in segment
        ]
        for segment in segments
    ]


def write_index(path: Path, segments: Iterable[Iterable[Doc]], layout: Layout = Layout()) -> Path:
    """Write one Lucene segment for each inner iterable, then apply the deletions."""
    writer = open_writer(path, layout)
    try:
        deleted = []
        number = 0
        for segment in segments:
            documents = []
            for doc in segment:
                documents.append(_document(doc, number, layout))
                number += 1
                deleted += [doc.id] if doc.deleted else []
            _add(writer, documents, layout)
            writer.flush()
        for doc_id in deleted:
            delete_document(writer, doc_id, layout)
        if layout.analysis is not None:
            say(writer, as_user_data(layout.analysis))
        writer.commit()
    finally:
        writer.close()
    return path


def change(
    path: Path, added: Sequence[Doc] = (), deleted: Sequence[str] = (), merge: int = 0,
    policy: str = "Tiered", layout: Layout = Layout(),
) -> None:  # fmt: skip
    """Go on with an index in one commit."""
    writer = open_writer(path)
    for number, doc in enumerate(added):
        writer.addDocument(_document(doc, 100 + number, layout))
    for name in deleted:
        delete_document(writer, name, layout)
    if merge:
        merging = java_class(f"{_LUCENE}index.{policy}MergePolicy")()
        writer.getConfig().setMergePolicy(merging)
        writer.forceMerge(merge)
    writer.commit()
    writer.close()


def write_texts(path: Path, texts: Sequence[str], analysis: Analysis, *, raw: bool = True) -> Path:
    """Write documents d0, d1, ... as Anserini analyses and writes them; it records nothing."""
    config = java_class(_LUCENE + "index.IndexWriterConfig")(make_analyzer(analysis))
    writer = java_class(_LUCENE + "index.IndexWriter")(_directory(path), config)
    stored = java_class(_LUCENE + "document.Field$Store")
    new_field = java_class(_LUCENE + "document.TextField")
    for number, text in enumerate(texts):
        name = f"d{number}"
        document = java_class(_LUCENE + "document.Document")()
        document.add(java_class(_LUCENE + "document.StringField")("id", name, stored.YES))
        document.add(_binary_doc_values("id", name.encode()))
        document.add(new_field("contents", text, stored.NO))
        if raw:
            content = json.dumps({"id": name, "contents": text})
            document.add(java_class(_LUCENE + "document.StoredField")("raw", content))
        writer.addDocument(document)
    writer.forceMerge(1)
    writer.close()
    return path


def write_documents(path: Path, documents: Sequence) -> Path:
    """Write Lucene's documents as a program of its own would."""
    writer = open_writer(path)
    for document in documents:
        writer.addDocument(document)
    writer.close()
    return path


def features(number: int):
    """A document of floating-point weights: OpenSearch's rank_features."""
    document = java_class(_LUCENE + "document.Document")()
    document.add(java_class(_LUCENE + "document.StoredField")("url", f"d{number}"))
    feature = java_class(_LUCENE + "document.FeatureField")
    for term in range(1 + number % 4):
        document.add(feature("contents", f"t{term}", 0.3 + number + term))
    return document


def bytes_that_are_no_text(number: int):
    """A document of Elasticsearch's kind: binary ids and sources beside the text."""
    document = java_class(_LUCENE + "document.Document")()
    value = bytes([0xFE, 0x81 + number])
    stored = java_class(_LUCENE + "document.StoredField")
    document.add(stored("_source", value, signature="(Ljava/lang/String;[B)V"))
    document.add(_binary_doc_values("_id", value))
    _add_tokens(
        document, "contents", ["quick", f"w{number}", "index"], _field_type("DOCS_AND_FREQS", "")
    )
    return document


def say(writer, user_data: Mapping[str, str]) -> None:
    """Give the next commit this user data."""
    entries = java_class("java.util.HashMap")()
    for name, value in user_data.items():
        entries.put(name, value)
    writer.setLiveCommitData(entries.entrySet())


def open_writer(path: Path, layout: Layout = Layout()):
    """A Lucene ``IndexWriter`` on ``path``: it holds the write lock until closed."""
    config = java_class(_LUCENE + "index.IndexWriterConfig")()
    config.setMergePolicy(java_class(_LUCENE + "index.NoMergePolicy").INSTANCE)
    config.setUseCompoundFile(layout.compound)
    if layout.norms != "none":
        config.setSimilarity(java_class(_SIMILARITIES[layout.norms])())
    if layout.sort:
        numbers = java_class(_LUCENE + "search.SortField$Type").LONG
        by = java_class(_LUCENE + "search.SortField")(layout.sort, numbers, True)
        config.setIndexSort(java_class(_LUCENE + "search.Sort")(by))
    if layout.soft_deletes:
        config.setSoftDeletesField(layout.soft_deletes)
    if layout.parent:
        config.setParentField(layout.parent)
    return java_class(_LUCENE + "index.IndexWriter")(_directory(path), config)


def _add(writer, documents: list, layout: Layout) -> None:
    if not layout.parent:
        for document in documents:
            writer.addDocument(document)
        return
    block = java_class("java.util.ArrayList")()
    for document in documents:
        block.add(document)
    writer.addDocuments(block)


def _directory(path: Path):
    paths = java_class("java.nio.file.Paths")
    return java_class(_LUCENE + "store.FSDirectory").open(paths.get(str(path)))


def delete_document(writer, doc_id: str, layout: Layout) -> None:
    term = java_class(_LUCENE + "index.Term")("id", doc_id)
    if layout.soft_deletes:
        mark = java_class(_LUCENE + "document.NumericDocValuesField")(layout.soft_deletes, 1)
        writer.updateDocValues(term, mark)
    else:
        writer.deleteDocuments(java_class(_LUCENE + "search.TermQuery")(term))


def _document(doc: Doc, number: int, layout: Layout):
    document = java_class(_LUCENE + "document.Document")()
    stored = java_class(_LUCENE + "document.Field$Store").YES
    if doc.id:
        document.add(java_class(_LUCENE + "document.StringField")("id", doc.id, stored))
    if doc.id and layout.id_doc_values:
        document.add(_binary_doc_values("id", doc.id.encode()))
    if layout.raw:
        raw = " ".join(map(str, doc.tokens or ()))
        document.add(java_class(_LUCENE + "document.StoredField")("raw", raw))
    if doc.tokens is not None:
        kind = _field_type(layout.options, layout.vectors, omit_norms=layout.norms == "none")
        _add_tokens(document, layout.field, doc.tokens, kind)
    if doc.title:
        kind = _field_type(layout.title, layout.title_vectors)
        _add_tokens(document, "title", doc.title, kind)
    if layout.extras or layout.sort:
        _add_extras(document, number, layout)
    return document


def _add_tokens(document, name: str, tokens: Sequence[str | bytes], kind) -> None:
    """Text as one analysed value, so that it has offsets; raw bytes as one value a token."""
    new_field = java_class(_LUCENE + "document.Field")
    text = " ".join(token for token in tokens if isinstance(token, str))
    if text or not tokens:  # an empty text: the field is present and has length 0
        words = java_class(_LUCENE + "analysis.core.WhitespaceTokenizer")()
        words.setReader(java_class("java.io.StringReader")(text))
        document.add(new_field(name, words, kind, signature=_STREAM_FIELD))
    raw_kind = java_class(_LUCENE + "document.FieldType")(kind)
    raw_kind.setTokenized(False)
    for token in tokens:
        if isinstance(token, bytes):
            document.add(new_field(name, _bytes_ref(token), raw_kind))


def _field_type(options: str, vectors: str, omit_norms: bool = False):
    kind = java_class(_LUCENE + "document.FieldType")()
    kind.setIndexOptions(getattr(java_class(_LUCENE + "index.IndexOptions"), options))
    kind.setOmitNorms(omit_norms)
    kind.setStoreTermVectors(bool(vectors))
    kind.setStoreTermVectorPositions("p" in vectors)
    kind.setStoreTermVectorOffsets("o" in vectors)
    return kind


def _add_extras(document, number: int, layout: Layout) -> None:
    rank = layout.sort or "rank"
    document.add(java_class(_LUCENE + "document.NumericDocValuesField")(rank, number * 7 % 11))
    document.add(java_class(_LUCENE + "document.LongPoint")("year", 1900 + number))
    vector = [1.0 + number, 2.0, 3.0]
    document.add(java_class(_LUCENE + "document.KnnFloatVectorField")("embedding", vector))


def _binary_doc_values(name: str, value: bytes):
    return java_class(_LUCENE + "document.BinaryDocValuesField")(name, _bytes_ref(value))


def _bytes_ref(value: bytes):
    return java_class(_LUCENE + "util.BytesRef")(value)
