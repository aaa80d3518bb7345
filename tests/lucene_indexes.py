"""Small Lucene indexes of every kind the package must serve, written by the testing jar.

The default is what Anserini writes: ``id`` (stored, indexed, and in doc values), the field
(DOCS_AND_FREQS with norms), ``raw`` stored. A document's tokens are given one by one, so that any
bytes can be a term.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing_jar import change_described, write_described

from tdv_lucene.analysis import DEFAULT, Analysis
from tdv_lucene.index.analysis import as_user_data
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.analysis import make_analyzer

_LUCENE = "org.apache.lucene."


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
    norms: str = "default"  # or "accurate", "impact", "none"
    raw: bool = True
    extras: bool = False  # doc values, points, a k-NN vector
    title: str = "DOCS_AND_FREQS_AND_POSITIONS"  # index options of the second field
    title_vectors: str = ""
    compound: bool = False
    sort: bool = False  # by a numeric doc-values field
    soft_deletes: bool = False
    parent: str = ""  # Lucene 10's field of nested documents: a segment's are one block
    id_doc_values: bool = True
    analysis: Analysis | None = DEFAULT  # that it says queries are to have; None if it is silent

    def described(self) -> dict[str, Any]:
        """As the testing jar has it."""
        of_title = "default" if self.norms == "none" else self.norms
        fields = {
            self.field: {"options": self.options, "vectors": self.vectors, "norms": self.norms},
            "title": {"options": self.title, "vectors": self.title_vectors, "norms": of_title},
        }
        return {
            "fields": fields, "compound": self.compound, "sorted": self.sort,
            "softDeletes": self.soft_deletes, "idDocValues": self.id_doc_values,
            "userData": {} if self.analysis is None else as_user_data(self.analysis),
            **({"parent": self.parent} if self.parent else {}),
        }  # fmt: skip


def _tokens(tokens: Iterable[str | bytes]) -> list[list[Any]]:
    """Tokens one after the other, a blank between them, as the testing jar has them."""
    found, at = [], 0
    for token in tokens:
        term = token.encode() if isinstance(token, str) else token
        length = len(token)
        found.append([term.decode("latin-1"), 1, at, at + length, None])
        at += length + 1
    return found


def described_doc(doc: Doc, number: int, layout: Layout) -> dict[str, Any]:
    fields = {} if doc.tokens is None else {layout.field: [_tokens(doc.tokens)]}
    if doc.title:
        fields["title"] = [_tokens(doc.title)]
    dead = "soft" if layout.soft_deletes else "hard"
    found: dict[str, Any] = {"id": doc.id, "fields": fields, "deleted": dead * doc.deleted}
    if layout.raw:
        found["raw"] = " ".join(map(str, doc.tokens or ()))
    if layout.extras or layout.sort:
        vector = [1.0 + number, 2.0, 3.0]
        found |= {"rank": number * 7 % 11, "year": 1900 + number, "embedding": vector}
    return found


def write_index(path: Path, segments: Iterable[Iterable[Doc]], layout: Layout = Layout()) -> Path:
    """Write one Lucene segment for each inner iterable, then apply the deletions."""
    numbers = itertools.count()
    described = [[described_doc(doc, next(numbers), layout) for doc in part] for part in segments]
    write_described(path, {"layout": layout.described(), "segments": described})
    return path


def change(
    path: Path, added: Sequence[Doc] = (), deleted: Iterable[str] = (), merge: int = 0,
    policy: str = "by size", layout: Layout = Layout(),
) -> None:  # fmt: skip
    """Go on with an index in one commit."""
    kind = "soft" if layout.soft_deletes else "hard"
    step: dict[str, Any] = {
        "add": [described_doc(doc, 100 + number, layout) for number, doc in enumerate(added)],
        "change": [{"id": name, "deleted": kind} for name in deleted],
        **({"merge": merge} if merge else {}),
    }
    policy = policy if merge else "none"
    change_described(path, {"layout": layout.described(), "steps": [step], "policy": policy})


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
    document.add(text_field("contents", f"quick w{number} index", "DOCS_AND_FREQS"))
    return document


def text_field(name: str, text: str, options: str, omit_norms: bool = False):
    """A field of what the writer's analyzer makes of a text, with these index options."""
    kind = java_class(_LUCENE + "document.FieldType")()
    kind.setIndexOptions(getattr(java_class(_LUCENE + "index.IndexOptions"), options))
    kind.setOmitNorms(omit_norms)
    # pyjnius takes the first constructor whose arguments are objects, whatever their class.
    return java_class(_LUCENE + "document.Field")(
        name, text, kind,
        signature="(Ljava/lang/String;Ljava/lang/CharSequence;"
        "Lorg/apache/lucene/index/IndexableFieldType;)V",
    )  # fmt: skip


def say(writer, user_data: Mapping[str, str]) -> None:
    """Give the next commit this user data."""
    entries = java_class("java.util.HashMap")()
    for name, value in user_data.items():
        entries.put(name, value)
    writer.setLiveCommitData(entries.entrySet())


def open_writer(path: Path, merges: bool = False, analyzer: Any = None):
    """A Lucene ``IndexWriter`` on ``path``: it holds the write lock until closed."""
    given = () if analyzer is None else (analyzer,)
    config = java_class(_LUCENE + "index.IndexWriterConfig")(*given)
    if not merges:
        config.setMergePolicy(java_class(_LUCENE + "index.NoMergePolicy").INSTANCE)
    return java_class(_LUCENE + "index.IndexWriter")(_directory(path), config)


def _directory(path: Path):
    paths = java_class("java.nio.file.Paths")
    return java_class(_LUCENE + "store.FSDirectory").open(paths.get(str(path)))


def _binary_doc_values(name: str, value: bytes):
    return java_class(_LUCENE + "document.BinaryDocValuesField")(name, _bytes_ref(value))


def _bytes_ref(value: bytes):
    return java_class(_LUCENE + "util.BytesRef")(value)
