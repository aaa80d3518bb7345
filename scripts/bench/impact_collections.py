"""Two impact indexes of a collection: BM25 quantised to 8 bits, and weights that were learned.

``bm25`` are BM25's scores with k1 0.9 and b 0.4, linearly from 1 to 256, as Pyserini's
``quantize_weights`` makes them. ``learned`` is a small network (see :class:`Features`) that weighs
a word of a document, trained on half of the questions so that the words they ask for weigh most in
the documents that answer them. 255 is the weight of which one posting in 10,000 has more, and what
rounds to 0 is left out. It is a stand-in for SPLADE and the like, whose weights have such tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from scipy.sparse import csr_array

from tdv_lucene import read_qrels, read_topics
from tdv_lucene.analysis import Analysis
from tdv_lucene.evaluation.topics import Qrels, Topics
from tdv_lucene.index.analysis import as_user_data
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.jvm.index import add_user_data
from tdv_lucene.matrix.term_document_matrix import NormKind, TermDocumentMatrix
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking.functions import Bm25, bm25_idf
from tdv_lucene.simulation.problem import JudgedMatrix
from tdv_lucene.simulation.retrieval import make_queries

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


BM25, LEARNED = KINDS = ("bm25", "learned")
_DELIMITER = "|"
_TEXT_FIELD = (
    "(Ljava/lang/String;Ljava/lang/CharSequence;Lorg/apache/lucene/index/IndexableFieldType;)V"
)
DIMENSIONS, HIDDEN, WINDOW, LONGEST = 64, 64, 5, 1000
CANDIDATES, EPOCHS, BATCH, SPARSITY = 40, 30, 64, 0.02


def bm25_weights(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return int32[nnz]."""
    terms = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    similarity = Bm25()
    lengths = np.asarray(matrix.doc_len, np.float64)
    norm = similarity.k1 * (1 - similarity.b + similarity.b * lengths / lengths.mean())
    tf = np.asarray(matrix.data, np.float64)
    scores = idf[terms] * tf / (tf + norm[matrix.indices])
    low, high = scores.min(), scores.max()
    return np.floor(255 * (scores - low) / (high - low)).astype(np.int32) + 1


class Features:
    """What the network sees of a word in a document: the vectors (LSA) of the word, of the words
    around its first occurrence and of all the document's, the product of the first and the last;
    its frequency, first position and idf, and the document's length."""

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        found = latent_semantic_vectors(matrix, dimensions=DIMENSIONS)
        self.vectors = np.zeros((matrix.shape[0], DIMENSIONS), np.float32)
        self.vectors[found.terms] = found.vectors * np.sqrt(DIMENSIONS)
        self.idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count).astype(np.float32)
        assert matrix.sequences is not None  # it was extracted with tokens
        self.sequences = matrix.sequences

    def of(self, doc: int) -> tuple[np.ndarray, np.ndarray]:
        """Return int[n], the document's terms, and float32[n, features]."""
        start, end = self.sequences.indptr[doc : doc + 2]
        tokens = np.asarray(self.sequences.terms[start:end])
        terms, first, tf = np.unique(tokens, return_index=True, return_counts=True)
        sums = np.cumsum(self.vectors[tokens[:LONGEST]], axis=0)
        sums = np.concatenate([np.zeros((1, DIMENSIONS), np.float32), sums])
        at = np.minimum(first, len(sums) - 2) if len(tokens) else first
        low, high = np.maximum(at - WINDOW, 0), np.minimum(at + WINDOW + 1, len(sums) - 1)
        own = self.vectors[terms]
        around = (sums[high] - sums[low] - own) / np.maximum(high - low - 1, 1)[:, None]
        whole = np.broadcast_to(sums[-1] / max(1, len(sums) - 1), own.shape)
        numbers = np.column_stack(
            [np.log(tf), np.log1p(first) / 3, self.idf[terms] / 4,
             np.full(len(terms), np.log1p(len(tokens)) / 3)]
        )  # fmt: skip
        parts = [own, around, whole, own * whole, numbers]
        return terms, np.concatenate(parts, axis=1).astype(np.float32)


def network(weights: Any, features: Any) -> Any:
    """The weight of each row of features, above 0."""
    hidden = jax.nn.relu(features @ weights["w1"] + weights["b1"])
    return jax.nn.softplus(hidden @ weights["w2"] + weights["b2"])


def train(matrix: TermDocumentMatrix, features: Features, topics: Any, qrels: Any) -> Any:
    """Fit the network by listwise softmax over BM25's candidates and the judged documents."""
    judged = JudgedMatrix(matrix, make_queries(matrix, topics, qrels))
    best = judged.postings.top(judged.postings.impacts(Bm25(), judged.plain), CANDIDATES)
    rng = np.random.default_rng(0)
    rows, gains = [], []
    longest = judged.queries.longest
    for query in range(len(judged.queries)):
        terms, tf = judged.queries.terms_of(query)
        docs, grades = judged.queries.judged_of(query)
        relevant = docs[grades > 0]
        others = [doc for doc in best[query] if doc >= 0 and doc not in relevant]
        listed = [*relevant[:5], *others][:CANDIDATES]
        listed += rng.integers(0, matrix.shape[1], CANDIDATES - len(listed)).tolist()
        of_query = np.zeros((CANDIDATES, longest, 4 * DIMENSIONS + 4), np.float32)
        counted = np.zeros((CANDIDATES, longest), np.float32)
        for place, doc in enumerate(listed):
            held, known = features.of(doc)
            at = np.searchsorted(held, terms)
            for number in range(len(terms)):
                if at[number] < len(held) and held[at[number]] == terms[number]:
                    of_query[place, number] = known[at[number]]
                    counted[place, number] = tf[number]
        rows.append((of_query.astype(np.float16), counted))
        gains.append(np.isin(listed, relevant).astype(np.float32))
    some = [features.of(doc)[1] for doc in rng.integers(0, matrix.shape[1], 300)]
    background = np.concatenate(some)
    width, keys = background.shape[1], jax.random.split(jax.random.key(0))
    weights = {
        "w1": jax.random.normal(keys[0], (width, HIDDEN)) / np.sqrt(width),
        "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(keys[1], (HIDDEN,)) / np.sqrt(HIDDEN), "b2": jnp.zeros(()),
    }  # fmt: skip
    steps = EPOCHS * -(-len(rows) // BATCH)
    optimizer = optax.adamw(optax.cosine_decay_schedule(2e-3, steps), weight_decay=1e-2)

    def objective(weights: Any, held: Any, counted: Any, gain: Any, sample: Any) -> Any:
        scores = (network(weights, held.astype(jnp.float32)) * counted).sum(axis=-1)
        share = gain / jnp.maximum(gain.sum(axis=-1, keepdims=True), 1)
        loss = optax.losses.safe_softmax_cross_entropy(scores, share).mean()
        return loss + SPARSITY * network(weights, sample).mean()

    @jax.jit
    def update(weights: Any, state: Any, *batch: Any) -> Any:
        loss, gradient = jax.value_and_grad(objective)(weights, *batch)
        change, state = optimizer.update(gradient, state, weights)
        return optax.apply_updates(weights, change), state, loss

    state = optimizer.init(weights)
    for epoch in range(EPOCHS):
        order, losses = rng.permutation(len(rows)), []
        for start in range(0, max(1, len(order) - BATCH + 1), BATCH):
            chosen = order[start : start + BATCH]
            held, counted = (np.stack([rows[k][part] for k in chosen]) for part in (0, 1))
            sample = background[rng.integers(0, len(background), 2048)]
            gain = np.stack([gains[k] for k in chosen])
            weights, state, loss = update(weights, state, held, counted, gain, sample)
            losses.append(float(loss))
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}", flush=True)
    return weights


def weigh_all(matrix: TermDocumentMatrix, features: Features, weights: Any) -> np.ndarray:
    """Return int32[nnz], by a network that was trained; 0 is left out."""
    weights = jax.tree.map(np.asarray, weights)
    found = np.zeros(matrix.postings, np.float32)
    numbers = np.arange(1, matrix.postings + 1, dtype=np.int32)
    rows = csr_array((numbers, matrix.indices, matrix.indptr), matrix.shape).T.tocsr()
    for doc in range(matrix.shape[1]):
        terms, known = features.of(doc)
        hidden = np.maximum(known @ weights["w1"] + weights["b1"], 0)
        here = slice(rows.indptr[doc], rows.indptr[doc + 1])
        assert np.array_equal(rows.indices[here], terms)
        found[rows.data[here] - 1] = np.logaddexp(0, hidden @ weights["w2"] + weights["b2"])
    return np.minimum(np.rint(255 * found / np.quantile(found[found > 0], 0.9999)), 255).astype(
        np.int32
    )


def as_impacts(matrix: TermDocumentMatrix, weights: np.ndarray) -> TermDocumentMatrix:
    """Return the matrix that an impact index of these weights has."""
    held = weights > 0
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[held]
    docs, data = np.asarray(matrix.indices)[held], weights[held]
    doc_freq = np.bincount(rows, minlength=matrix.shape[0])
    lengths = np.bincount(docs, data, matrix.shape[1]).astype(np.int64)
    return replace(
        matrix, indptr=np.concatenate([[0], np.cumsum(doc_freq)]), indices=docs, data=data,
        doc_freq=doc_freq, doc_len=lengths, norms=np.minimum(lengths, 1), norm_kind=NormKind.ONES,
        total_term_freq=np.bincount(rows, data, matrix.shape[0]).astype(np.int64),
        first_positions=None, sequences=None,
    )  # fmt: skip


def write_index(path: Path, made: TermDocumentMatrix) -> None:
    """Write the index that Anserini's IndexCollection -impact -pretokenized writes of JSON vectors,
    but for their text. It repeats a token by its weight; here the frequency stands beside it.
    """
    lucene = "org.apache.lucene."
    builder = java_class(lucene + "analysis.custom.CustomAnalyzer").builder()
    builder.withTokenizer("whitespace", "maxTokenLen", "1000")
    builder.addTokenFilter("delimitedTermFrequency", "delimiter", _DELIMITER)
    config = java_class(lucene + "index.IndexWriterConfig")(builder.build())
    config.setSimilarity(java_class("io.anserini.search.similarity.ImpactSimilarity")())
    place = java_class(lucene + "store.FSDirectory").open(
        java_class("java.nio.file.Paths").get(str(path))
    )
    writer = java_class(lucene + "index.IndexWriter")(place, config)
    kind = java_class(lucene + "document.FieldType")()
    kind.setIndexOptions(java_class(lucene + "index.IndexOptions").DOCS_AND_FREQS)
    stored = java_class(lucene + "document.Field$Store").YES
    new_document = java_class(lucene + "document.Document")
    new_id = java_class(lucene + "document.StringField")
    new_field = java_class(lucene + "document.Field")
    new_values = java_class(lucene + "document.BinaryDocValuesField")
    new_bytes = java_class(lucene + "util.BytesRef")
    rows = csr_array((made.data, made.indices, made.indptr), made.shape).T.tocsr()
    names = [term.decode() + _DELIMITER for term in made.vocabulary.terms]
    for doc, name in enumerate(made.doc_ids):
        here = slice(rows.indptr[doc], rows.indptr[doc + 1])
        held = zip(rows.indices[here].tolist(), rows.data[here].tolist())
        text = " ".join(f"{names[term]}{weight}" for term, weight in held)
        if not text:
            continue
        document = new_document()
        document.add(new_id("id", name.decode(), stored))
        document.add(new_values("id", new_bytes(name)))
        document.add(new_field("contents", text, kind, signature=_TEXT_FIELD))
        writer.addDocument(document)
    writer.forceMerge(1)
    writer.close()
    add_user_data(path, as_user_data(Analysis(pretokenized=True)))


def make_impacts(kind: str, matrix: TermDocumentMatrix, queries: QueryData, folder: Path) -> None:
    """Write the ``weights.npy`` of a kind, int32[nnz], and an ``index`` of them into a new folder.

    ``matrix`` has tokens. ``queries``, of terms, are what learned weights are trained on.
    """
    if kind == BM25:
        weights = bm25_weights(matrix)
    else:
        features = Features(matrix)
        weights = weigh_all(matrix, features, train(matrix, features, queries.terms, queries.qrels))
    folder.mkdir()
    np.save(folder / "weights.npy", weights)
    write_index(folder / "index", as_impacts(matrix, weights))
