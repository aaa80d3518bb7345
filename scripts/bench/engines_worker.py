"""Search engines behind one protocol: run by engines.py with the Python that has them installed.

Reads commands, one JSON object a line, and answers each with one, as EnginesLucene.java does for
Lucene. ``build ENGINE ARRAYS OUTPUT`` writes an engine's index of the arrays that engines.py made
of a Lucene index: the same terms, documents and frequencies.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path

from engines_peers import ENGINES, Arrays, Pisa


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
