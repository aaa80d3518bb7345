"""Search engines behind one protocol: run by engines.py with the Python that has them installed.

Reads commands, one JSON object a line, and answers each with one, as EnginesLucene.java does for
Lucene. ``build ENGINE ARRAYS OUTPUT`` writes an engine's index of the arrays that engines.py made
of a Lucene index: the same terms, documents and frequencies.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import os
import shutil
import struct
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np


class Arrays:
    """A Lucene index as arrays: postings by term, the length of each document as BM25 sees it."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.indptr, self.docs, self.freqs, self.lengths = (
            np.load(self.folder / f"{name}.npy") for name in ("indptr", "docs", "freqs", "lengths")
        )
        self.terms = (self.folder / "terms.txt").read_text("utf-8").split("\n")
        self.ids = (self.folder / "ids.txt").read_text("utf-8").split("\n")
        self.meta = json.loads((self.folder / "meta.json").read_text())

    def scores(self) -> np.ndarray:
        """What each posting adds to a score: Lucene's BM25 with the index's parameters."""
        k1, b, mean = (self.meta[name] for name in ("k1", "b", "mean_length"))
        df = np.diff(self.indptr)
        idf = np.log1p((len(self.ids) - df + 0.5) / (df + 0.5))
        norm = k1 * (1 - b + b * self.lengths / mean)
        saturation = self.freqs / (self.freqs + norm[self.docs])
        return (np.repeat(idf, df) * saturation).astype(np.float32)

    def by_document(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pointers, terms and the order that sorts postings by document."""
        order = np.argsort(self.docs, kind="stable")
        counts = np.bincount(self.docs, minlength=len(self.ids))
        term = np.repeat(np.arange(len(self.terms), dtype=np.int32), np.diff(self.indptr))
        return np.concatenate([[0], np.cumsum(counts)]), term[order], order


class Pisa:
    """PISA through pyterrier-pisa's module, without PyTerrier. Needs libtbb.so.2."""

    package = "numpy"

    def __init__(self, path: str, algorithm: str) -> None:
        self.module, meta = self._module(), json.loads((Path(path) / "meta.json").read_text())
        self.algorithm, self.ids = algorithm, None
        self.context = self.module.RetrievalContext()
        self.module.prepare_index(
            self.context, path, "block_simdbp", "bm25", "", bm25_k1=meta["k1"], bm25_b=meta["b"]
        )

    @staticmethod
    def _module():
        folder = Path(importlib.util.find_spec("pyterrier_pisa").submodule_search_locations[0])
        spec = importlib.util.spec_from_file_location("_pisathon", next(folder.glob("*.so")))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @classmethod
    def build(cls, arrays: Arrays, output: Path) -> None:
        def sequence(file, values) -> None:
            file.write(struct.pack("<I", len(values)) + np.asarray(values, "<u4").tobytes())

        with (output / "inv.docs").open("wb") as docs, (output / "inv.freqs").open("wb") as freqs:
            sequence(docs, [len(arrays.ids)])
            for start, end in itertools.pairwise(arrays.indptr):
                sequence(docs, arrays.docs[start:end])
                sequence(freqs, arrays.freqs[start:end])
        with (output / "inv.sizes").open("wb") as sizes:
            sequence(sizes, arrays.lengths)
        (output / "fwd.terms").write_text("\n".join(arrays.terms) + "\n", "utf-8")
        (output / "fwd.documents").write_text("\n".join(arrays.ids) + "\n", "utf-8")
        module = cls._module()
        module.build_binlex(str(output / "fwd.terms"), str(output / "fwd.termlex"))
        module.build_binlex(str(output / "fwd.documents"), str(output / "fwd.doclex"))
        # PISA's mean length is that of its documents, Lucene's that of what is written
        k1, b, mean = (arrays.meta[name] for name in ("k1", "b", "mean_length"))
        slope, flat = k1 * b * float(arrays.lengths.mean()) / mean, k1 * (1 - b)
        parameters = {"k1": slope + flat, "b": slope / (slope + flat)}
        (output / "meta.json").write_text(json.dumps(parameters))
        cls(str(output), "maxscore")  # writes what is searched
        for name in ("inv.docs", "inv.freqs", "inv.sizes", "fwd.terms", "fwd.documents"):
            (output / name).unlink()

    def query(self, terms: list[str]):
        return {term: float(count) for term, count in Counter(terms).items()}

    def search(self, query, k: int, threads: int = 1):
        queries = query if isinstance(query, list) else [query]
        size = k * len(queries)
        numbers, ranks = np.empty(size, np.int32), np.empty(size, np.int32)
        scores, names = np.empty(size, np.float32), np.empty(size, object)
        n = self.module.retrieve(
            self.context, self.algorithm, list(enumerate(queries)), k, threads, 1, 0,
            numbers, names, ranks, scores,
        )  # fmt: skip
        return names[:n], scores[:n]

    def hits(self, found):
        return found[0].tolist()


class Tantivy:
    """Tantivy. Its k1 is 1.2 and b .75, and lengths are counted: both cannot be set."""

    package = "tantivy"

    def __init__(self, path: str, _: str) -> None:
        import tantivy

        self.module, self.index = tantivy, tantivy.Index.open(path)
        self.schema, self.searcher = self.index.schema, self.index.searcher()

    @classmethod
    def build(cls, arrays: Arrays, output: Path) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_text_field("contents", tokenizer_name="whitespace", index_option="freq")
        index = tantivy.Index(schema.build(), str(output))
        writer = index.writer(1_000_000_000, 1)
        ptr, terms, order = arrays.by_document()
        freqs = arrays.freqs[order]
        for i, name in enumerate(arrays.ids):
            at = slice(ptr[i], ptr[i + 1])
            pairs = zip(terms[at].tolist(), freqs[at].tolist())
            words = [word for t, f in pairs for word in [arrays.terms[t]] * f]
            writer.add_document(tantivy.Document(id=name, contents=" ".join(words)))
        writer.commit()
        writer.wait_merging_threads()
        print("segments", index.searcher().num_segments, file=sys.stderr)

    def query(self, terms: list[str]):
        make, parts = self.module.Query, []
        for term, count in Counter(terms).items():
            query = make.term_query(self.schema, "contents", term, "freq")
            query = make.boost_query(query, float(count)) if count > 1 else query
            parts.append((self.module.Occur.Should, query))
        return make.boolean_query(parts)

    def search(self, query, k: int):
        return self.searcher.search(query, k, count=False).hits

    def hits(self, found):
        return [self.searcher.doc(at)["id"][0] for _, at in found]


class Bm25s:
    """bm25s, with numba: the scores of all postings beforehand, all documents scored."""

    package = "bm25s"

    def __init__(self, path: str, _: str) -> None:
        import bm25s

        self.retriever = bm25s.BM25()
        self.retriever.load_scores(path, num_docs=len(np.load(Path(path) / "ids.npy")))
        self.retriever.activate_numba_scorer()
        self.retriever.nonoccurrence_array = None  # documents without a term get nothing for it
        self.path = Path(path)
        self.ids = np.load(self.path / "ids.npy")
        words = (self.path / "terms.txt").read_text("utf-8").split("\n")
        self.vocabulary = {word: i for i, word in enumerate(words)}

    @classmethod
    def build(cls, arrays: Arrays, output: Path) -> None:
        np.save(output / "data.csc.index.npy", arrays.scores())
        np.save(output / "indices.csc.index.npy", arrays.docs.astype(np.int32))
        np.save(output / "indptr.csc.index.npy", arrays.indptr.astype(np.int32))
        np.save(output / "ids.npy", np.array(arrays.ids))
        shutil.copy(arrays.folder / "terms.txt", output)

    def query(self, terms: list[str]):
        known = (self.vocabulary.get(term) for term in terms)
        return [number for number in known if number is not None]

    def search(self, query, k: int):
        from bm25s.numba import selection

        scores = self.retriever.get_scores_from_ids(query)
        return selection.topk(scores, k=k, backend="numba", sorted=True)

    def hits(self, found):
        scores, docs = found
        return [str(self.ids[d]) for s, d in zip(scores, docs) if s > 0]


class Bmp:
    """Block-max pruning over impacts of a byte, exact (alpha and beta 1)."""

    package = "bmp"

    def __init__(self, path: str, _: str) -> None:
        import bmp

        self.searcher = bmp.Searcher(str(Path(path) / "index.bmp"))

    @classmethod
    def build(cls, arrays: Arrays, output: Path) -> None:
        import bmp

        indexer = bmp.Indexer(str(output / "index.bmp"), 32, True)
        scores = arrays.scores()
        ptr, terms, order = arrays.by_document()
        impacts = np.maximum(1, np.rint(scores * (255 / scores.max()))).astype(int)[order]
        for i, name in enumerate(arrays.ids):
            at = slice(ptr[i], ptr[i + 1])
            words = [arrays.terms[t] for t in terms[at]]
            indexer.add_document(name, dict(zip(words, impacts[at].tolist())))
        indexer.finish()

    def query(self, terms: list[str]):
        return dict(Counter(terms))

    def search(self, query, k: int):
        return self.searcher.search(query, k, 1.0, 1.0)

    def hits(self, found):
        return found[0]


class Seismic:
    """Seismic: approximate search of clustered lists, with its default settings."""

    package = "seismic"

    def __init__(self, path: str, _: str) -> None:
        import seismic

        self.text = seismic.get_seismic_string()
        self.index = seismic.SeismicIndexLV.load(str(Path(path) / "index.index.seismic"))
        words = (Path(path) / "terms.txt").read_text("utf-8").split("\n")
        self.numbers = {word: str(i) for i, word in enumerate(words)}

    @classmethod
    def build(cls, arrays: Arrays, output: Path) -> None:
        import seismic

        # long words would be cut: numbers stand for them
        dataset = seismic.SeismicDatasetLV(dim=len(arrays.terms))
        ptr, terms, order = arrays.by_document()
        values = arrays.scores()[order]
        dataset.add_documents_by_id(arrays.ids, terms.astype(np.int64), values, ptr)
        index = seismic.SeismicIndexLV.build_from_dataset(dataset, num_threads=1)
        index.save(str(output / "index"))
        shutil.copy(arrays.folder / "terms.txt", output)

    def query(self, terms: list[str]):
        counts = Counter(self.numbers[term] for term in terms if term in self.numbers)
        values = np.array(list(counts.values()), np.float32)
        return np.array(list(counts), dtype=self.text), values

    def search(self, query, k: int):
        return self.index.search("", *query, k, len(query[0]), 0.9)

    def hits(self, found):
        return [doc for _, _, doc in found]


ENGINES = {
    "pisa": Pisa, "tantivy": Tantivy, "bm25s": Bm25s, "bmp": Bmp, "seismic": Seismic,
}  # fmt: skip


class Worker:
    """Indexes that are open, and queries as each engine wants them."""

    def __init__(self, queries: str) -> None:
        self.texts = json.loads(Path(queries).read_text())
        self.open, self.queries = {}, {}

    def answer(self, asked: dict) -> dict:
        if asked["do"] == "heap":
            importlib.import_module(ENGINES[asked["engine"]].package)  # whose code is no index
            return {"bytes": 0}
        if asked["do"] == "open":
            start = time.perf_counter_ns()
            engine = ENGINES[asked["engine"]](asked["path"], asked["how"])
            first = next(iter(self.texts.values()))[0]
            engine.search(engine.query(first), 10)
            self.open[asked["index"]] = engine
            return {"ms": (time.perf_counter_ns() - start) / 1e6}
        engine, k = self.open[asked["index"]], asked["k"]
        queries = self._parsed(asked["index"], asked["set"])
        if asked["do"] == "hits":
            return {"hits": [engine.hits(engine.search(query, k)) for query in queries]}
        if asked["do"] == "throughput":
            return self._throughput(engine, queries, k, asked["threads"], asked["seconds"])
        took = [0] * len(queries)
        for i in asked["order"]:
            start = time.perf_counter_ns()
            engine.search(queries[i], k)
            took[i] = time.perf_counter_ns() - start
        return {"ns": took}

    def _parsed(self, index: str, name: str) -> list:
        if (index, name) not in self.queries:
            query = self.open[index].query
            self.queries[index, name] = [query(terms) for terms in self.texts[name]]
        return self.queries[index, name]

    @staticmethod
    def _throughput(engine, queries: list, k: int, threads: int, seconds: float) -> dict:
        start = time.perf_counter()
        if isinstance(engine, Pisa):  # threads of its own
            rounds = 0
            while time.perf_counter() < start + seconds:
                engine.search(queries, k, threads)
                rounds += 1
            return {"per_second": rounds * len(queries) / (time.perf_counter() - start)}
        numbers, done = itertools.count(), [0] * threads

        def work(thread: int) -> None:
            while time.perf_counter() < start + seconds:
                engine.search(queries[next(numbers) % len(queries)], k)
                done[thread] += 1

        running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        return {"per_second": sum(done) / (time.perf_counter() - start)}


def main() -> None:
    if sys.argv[1] == "build":
        _, _, engine, arrays, output = sys.argv
        Path(output).mkdir()
        ENGINES[engine].build(Arrays(arrays), Path(output))
        return
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what engines print is no answer
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(worker.answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
