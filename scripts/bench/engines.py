#!/usr/bin/env python3
"""Search engines side by side: full and pruned indexes, the same terms and queries, one machine.

    python3.11 -m venv ENV
    ENV/bin/pip install tantivy bm25s numba bmp pyseismic-lsr tbb==2020.3.254
    ENV/bin/pip install --no-deps pyterrier-pisa
    scripts/bench/engines.py --collections DIR --work WORK --output RUN --python ENV/bin/python \
        --jar 9=anserini-1.7.1-fatjar.jar --jar 10=anserini-2.3.0-fatjar.jar \
        --index full=FULL --index bytes-40=P40 --index bytes-60=P60 --index tiers=TIERS \
        --tuned 4.5 0.4

Indexes are of Lucene 9, without positions. Lucene 10 searches what its IndexUpgrader makes of them;
the other engines are given their postings, frequencies and lengths, so all search the same terms.
Needs a JDK 21 or newer in JAVA_HOME. ``--steps`` divides the work: ``time`` takes minutes, on a
machine that does nothing else, and ``report`` puts together what there is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from commands import folder_parser
from results import hardware, markdown_table, write_run

from tdv_lucene.index.index import Index
from tdv_lucene.jvm._start import RESOURCES
from tdv_lucene.ranking.parameters import Tiers
from tdv_lucene.timing.latency import paired_ratio

HERE = Path(__file__).parent
DEFAULTS = 0.9, 0.4
"""k1 and b of full and pruned indexes."""
TIERS = "tiers"
"""The name of an index in two tiers, which Lucene alone searches so."""


class Engine:
    """A process that holds indexes open and answers commands: a JVM, or Python with engines."""

    def __init__(self, given: argparse.Namespace, name: str, queries: Path) -> None:
        command = [str(given.python), str(HERE / "engines_worker.py"), str(queries)]
        if name.startswith("lucene"):
            line = name.removeprefix("lucene-")
            command = [
                java(), "-Xms3g", "-Xmx3g", "--add-modules=jdk.incubator.vector", "-cp",
                f"{given.jar[line]}:{RESOURCES / f'tdv-lucene-hooks-lucene{line}.jar'}",
                str(HERE / "EnginesLucene.java"), str(queries),
            ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(given), stderr=(given.work / f"{name}.log").open("a"),
        )  # fmt: skip

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the engine ended: {what}; its log is in the work folder")
        return json.loads(answer)

    def open(self, row: Row) -> float:
        return self.ask(do="open", index=row.name, **row.how)["ms"]

    def memory(self, row: Row) -> int:
        """Bytes of the process's own that are not shared with files, and those of the index's."""
        own = self.ask(do="heap", engine=row.engine)["bytes"]
        if not own:
            own = _status(self.process.pid, "RssAnon")
        mapped, inside = 0, False
        for line in Path(f"/proc/{self.process.pid}/smaps").read_text().splitlines():
            if not line.startswith("Rss:"):
                inside = f"{row.how['path']}/" in line if "-" in line.split(" ")[0] else inside
            elif inside:
                mapped += int(line.split()[1]) * 1024
        return own + mapped

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def _status(pid: int, key: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


class Row:
    """An engine with one of the indexes."""

    def __init__(self, given: argparse.Namespace, engine: str, index: str, how: str = "") -> None:
        self.engine, self.index = engine, index
        self.name = " ".join(filter(None, (engine, how, index)))
        self.process = engine if engine.startswith("lucene") else "python"
        k1, b = given.tuned if index == "tuned" else DEFAULTS
        source = "full" if index == "tuned" else index
        path = given.work / f"{engine}-{source if self.process == engine else index}"
        if engine == "lucene-9":
            path = given.index[source]
        tiers = given.tiers if index == TIERS else None
        self.how = {
            "engine": engine, "path": str(path), "how": how, "k1": k1, "b": b, "tiers": tiers
        }  # fmt: skip

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in Path(self.how["path"]).iterdir())


def tiers_of(path: str) -> Tiers | None:
    """What an index records of its tiers."""
    with Index.open(path) as index:
        return index.record(None).tiers


def java() -> str:
    return str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")


def environment(given: argparse.Namespace) -> dict[str, str]:
    """Where pip puts libtbb has to be named."""
    return {**os.environ, "LD_LIBRARY_PATH": str(given.python.parent.parent / "lib")}


DEPTHS = {10: "ten best", 1000: "a thousand"}


def report(output: Path, looked: dict[str, Any], times: dict[str, Any]) -> None:
    """Write ``table.md`` and ``raw.json`` into the folder ``output``."""
    times = {name: found for name, found in times.items() if found}
    text = [hardware(), "", _sizes(looked, times)]
    for k, title in DEPTHS.items():
        text += ["", f"**{title}**, mean and 99th percentile, ms:", "", _overview(times, k)]
    for name, found in times.items():
        for k, title in DEPTHS.items():
            text += ["", f"**{name}, {title}** ({len(found['queries'])} queries):", ""]
            text.append(_latencies(found, k))
    raw = {"looked": looked, "times": {n: _summary(f) for n, f in times.items()}}
    write_run(output, "\n".join(text) + "\n", raw, ("table.md", "raw.json"))


def _sizes(looked: dict[str, Any], times: dict[str, Any]) -> str:
    """What does not depend on a depth: bytes, rankings, two threads, opening."""
    first = next(iter(looked.values()))
    sets = [name for name in first if name not in ("bytes", "memory")]
    kinds = list(first[sets[0]])
    rows = []
    for row, values in looked.items():
        timed = [found for found in times.values() if row in found["open_ms"]]
        second = [found["per_second"][row] for found in timed]
        opened = [found["open_ms"][row] for found in timed]
        measures = [" ".join(f"{values[s][kind]:.3f}"[1:] for s in sets) for kind in kinds]
        rows.append(
            [row, f"{values['bytes'] / 1e6:.1f}", f"{values['memory'] / 1e6:.0f}", *measures]
            + ([f"{np.mean(second):,.0f}", f"{np.median(opened):.1f}"] if timed else ["", ""])
        )
    head = ["engine and index", "MB on disk", "MB in memory", *kinds]
    return markdown_table([*head, "queries/s, two threads", "ms to open"], rows)


def _overview(times: dict[str, Any], k: int) -> str:
    """Mean and 99th percentile of all sets."""
    rows = []
    for row in next(iter(times.values()))["open_ms"]:
        ms = [_ms(found, row, k) for found in times.values()]
        rows.append([row, *(f"{of.mean():.3f}, {np.percentile(of, 99):.2f}" for of in ms)])
    return markdown_table(["engine and index", *times], rows)


def _latencies(found: dict[str, Any], k: int) -> str:
    rows = []
    for row in found["open_ms"]:
        ms = _ms(found, row, k)
        spread = [f"{value:.3f}" for value in (ms.mean(), *np.percentile(ms, (50, 95, 99)))]
        rows.append([row, *spread, *_ratios(found, row, k)])
    spread = ["mean ms", "p50", "p95", "p99"]
    ratios = ["to its own full", "its p99", "to Lucene 10's full"]
    return markdown_table(["engine and index", *spread, *ratios], rows)


def _ratios(found: dict[str, Any], row: str, k: int) -> list[str]:
    """How many times as fast as the same engine's full index, and as Lucene 10's."""
    own = row.rsplit(" ", 1)[0] + " full"
    cells = []
    for base in (own, "lucene-10 full"):
        before, after = _ms(found, base, k), _ms(found, row, k)
        ratio = paired_ratio(before, after)
        low, high = ratio["ci95"]
        cells.append(f"x{ratio['ratio']:.2f} ({low:.2f} to {high:.2f})" if base != row else "")
        if base == own:
            tail = np.percentile(before, 99) / np.percentile(after, 99)
            cells.append(f"x{tail:.2f}" if base != row else "")
    return cells


def _ms(found: dict[str, Any], row: str, k: int) -> np.ndarray:
    return np.array(found["ns"][f"{row}@{k}"]) / 1e6


def _summary(found: dict[str, Any]) -> dict[str, Any]:
    """Means and percentiles of a set, for programs."""
    ms = {}
    for row in found["open_ms"]:
        for k in DEPTHS:
            values = _ms(found, row, k)
            percentiles = np.percentile(values, (50, 95, 99))
            ms[f"{row}@{k}"] = [round(float(v), 4) for v in (values.mean(), *percentiles)]
    kept = {key: found[key] for key in ("open_ms", "per_second")}
    return {"queries": len(found["queries"]), "mean, p50, p95, p99 ms": ms, **kept}


COLLECTION = "wiki165k"
"""Unless another is named."""
SETS = ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")
MEASURES = ("nDCG@5", "R@1000")
STEPS = ("build", "look", "time", "report")
PISA = ("maxscore", "block_max_wand", "block_max_maxscore")
OTHERS = ("pisa", "bm25s", "tantivy", "bmp", "seismic")
ONLY = {"tantivy": ("full",), "bmp": ("full",), "seismic": ("full", "bytes-60")}
"""Engine -> what of the indexes it is given; the others all."""
TIMED = 150
COUNTED = 5
MORE_WARM_UP = 12
"""Rounds of Lucene's before, for Java's compiler."""
OPENED = 5
BUILD_SECONDS = 300


def rows(given: argparse.Namespace) -> list[Row]:
    """What there is of each engine in the work folder, in the order of the table."""
    indexes = ["full", "tuned", *(name for name in given.index if name != "full")]
    found = [Row(given, f"lucene-{version}", i) for version in given.jar for i in indexes]
    found += [Row(given, "pisa", index, how) for how in PISA for index in indexes]
    found += [Row(given, engine, index) for engine in OTHERS[1:] for index in indexes]
    wanted = {*given.engines, *(f"lucene-{version}" for version in given.jar)}
    return [row for row in found if row.engine in wanted and Path(row.how["path"]).is_dir()]


def build(given: argparse.Namespace) -> None:
    """Queries as terms, Lucene 10's indexes, and the other engines'. What exists is kept."""
    _analyse(given)
    for name, index in given.index.items():
        upgraded = given.work / f"lucene-10-{name}"
        if "10" in given.jar and not upgraded.exists():
            shutil.copytree(index, upgraded, ignore=shutil.ignore_patterns("*.json", "*.lock"))
            tool = "org.apache.lucene.index.IndexUpgrader"
            subprocess.run([java(), "-cp", given.jar["10"], tool, upgraded], check=True)
            (upgraded / "write.lock").unlink(missing_ok=True)
    for index in ("full", "tuned", *(n for n in given.index if n not in ("full", TIERS))):
        arrays = _arrays(given, index)
        for engine in given.engines:
            output = given.work / f"{engine}-{index}"
            if index in ONLY.get(engine, (index,)) and not output.exists():
                _build_one(given, engine, arrays, output)


def _build_one(given: argparse.Namespace, engine: str, arrays: Path, output: Path) -> None:
    """Build, or say why not; an engine that takes longer than minutes is left out."""
    try:
        subprocess.run(
            [given.python, HERE / "engines_worker.py", "build", engine, arrays, output],
            env=environment(given), stderr=subprocess.PIPE, text=True, check=True,
            timeout=BUILD_SECONDS,
        )  # fmt: skip
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{output.name} was not built: {error} {error.stderr or ''}"[-500:])
        shutil.rmtree(output, ignore_errors=True)


def _analyse(given: argparse.Namespace) -> None:
    from tdv_lucene.analysis import DEFAULT
    from tdv_lucene.evaluation.topics import read_topics
    from tdv_lucene.jvm.analysis import analyze

    folder = given.collections / given.collection
    asked = {name: read_topics(folder / f"queries.{name}.tsv") for name in SETS}
    terms = {
        name: [list(t) for t in analyze(list(topics.values()), "contents", DEFAULT)]
        for name, topics in asked.items()
    }
    (given.work / "queries.json").write_text(json.dumps(terms))


def _arrays(given: argparse.Namespace, index: str) -> Path:
    """A Lucene index's postings and lengths, in files that NumPy alone reads."""
    import tdv_lucene as tdv
    from tdv_lucene.matrix.term_document_matrix import _LENGTHS

    folder = given.work / f"arrays-{index}"
    if folder.exists():
        return folder
    source = given.index["full" if index == "tuned" else index]
    matrix = tdv.extract_matrix(source, given.work / "matrix", overwrite=True)
    folder.mkdir()
    for name, array in (("indptr", matrix.indptr), ("docs", matrix.indices), ("freqs", matrix.data),
                        ("lengths", _LENGTHS[matrix.norms & 255])):  # fmt: skip
        np.save(folder / f"{name}.npy", array)
    for name, strings in (("terms", matrix.vocabulary.terms), ("ids", matrix.doc_ids)):
        (folder / f"{name}.txt").write_bytes(b"\n".join(strings))
    k1, b = given.tuned if index == "tuned" else DEFAULTS
    tokens, documents = int(matrix.doc_len.sum()), int(np.count_nonzero(matrix.doc_len))
    meta = {"k1": k1, "b": b, "mean_length": tokens / documents}
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def look(given: argparse.Namespace) -> None:
    """Rankings and memory: a process for each row, which answers all queries."""
    found = _read(given.work / "looked.json")
    ids = json.loads((given.work / "queries.json").read_text())
    for row in rows(given):
        if row.name in found:
            continue
        engine = Engine(given, row.process, given.work / "queries.json")
        before = engine.memory(row)
        engine.open(row)
        same = next((found[other] for other in found if _same_hits(other, row.name)), None)
        values = {name: same[name] if same else _measure(given, engine, row, name) for name in SETS}
        for name in SETS if same else ():
            engine.ask(do="round", index=row.name, set=name, k=1000, order=[*range(len(ids[name]))])
        values |= {"bytes": row.bytes, "memory": engine.memory(row) - before}
        engine.close()
        print(row.name, values, flush=True)
        found[row.name] = values
        (given.work / "looked.json").write_text(json.dumps(found, indent=1))


def _same_hits(one: str, other: str) -> bool:
    """PISA's algorithms find the same documents in an index, and so do both Lucenes."""
    engines = {re.split("[ -]", name)[0] for name in (one, other)}
    return engines in ({"pisa"}, {"lucene"}) and one.split()[-1] == other.split()[-1]


def _measure(given: argparse.Namespace, engine: Engine, row: Row, name: str) -> dict[str, float]:
    """Measures of the hits; for passages with qrels of articles, of their articles, too."""
    import pandas as pd

    from tdv_lucene.evaluation.measures import evaluate_run
    from tdv_lucene.evaluation.topics import read_qrels, read_topics

    folder = given.collections / given.collection
    topics = read_topics(folder / f"queries.{name}.tsv")
    hits = engine.ask(do="hits", index=row.name, set=name, k=1000)["hits"]
    ranked = ((query, enumerate(found)) for query, found in zip(topics, hits))
    lines = [(query, doc, -rank) for query, found in ranked for rank, doc in found]
    run = pd.DataFrame(lines, columns=["query", "docid", "score"])
    means = evaluate_run(run, topics, read_qrels(folder / f"qrels.{name}.txt")).means()
    values = {measure: means[measure] for measure in MEASURES}
    articles = folder / f"articles.{name}.txt"
    if articles.exists():
        run["docid"] = run["docid"].str.partition(".")[0]
        run = run.drop_duplicates(["query", "docid"])  # its first passage, which is its best
        means = evaluate_run(run, topics, read_qrels(articles)).means()
        values |= {f"{measure} of articles": means[measure] for measure in MEASURES}
    return values


def time_sets(given: argparse.Namespace) -> None:
    """Opening; then of each set rounds of all rows in turns, and two threads."""
    timed = rows(given)
    asked = json.loads((given.work / "queries.json").read_text())
    engines = {p: Engine(given, p, given.work / "queries.json") for p in {r.process for r in timed}}
    opened = {
        row.name: float(np.median([engines[row.process].open(row) for _ in range(OPENED)]))
        for row in timed
    }
    rng = np.random.default_rng(0)
    samples = {name: rng.permutation(len(asked[name]))[:TIMED] for name in given.sets}

    def ask(row: Row, name: str, **what: Any) -> dict[str, Any]:
        return engines[row.process].ask(index=row.name, set=name, **what)

    def one_round(name: str, number: int, only: str = "") -> dict[str, Any]:
        """Nanoseconds of each row and depth; another row is the first in each round."""
        took = {}
        for k in (10, 1000):
            for at in range(len(timed)):
                row = timed[(at + number) % len(timed)]
                if row.process.startswith(only):
                    order = rng.permutation(samples[name]).tolist()
                    took[f"{row.name}@{k}"] = ask(row, name, do="round", k=k, order=order)["ns"]
        return took

    for number in range(MORE_WARM_UP):
        for name in given.sets:
            one_round(name, number, "lucene")
    for name, sample in samples.items():
        one_round(name, 0)
        rounds = [one_round(name, number) for number in range(COUNTED)]
        two = {"do": "throughput", "k": 10, "threads": 2, "seconds": 0.4}
        second = {r.name: [ask(r, name, **two)["per_second"] for _ in range(2)][-1] for r in timed}
        nanos = {
            key: np.median([took[key] for took in rounds], axis=0)[sample].astype(int).tolist()
            for key in rounds[0]
        }
        result = {"queries": sample.tolist(), "open_ms": opened, "per_second": second, "ns": nanos}
        (given.work / f"times-{name}.json").write_text(json.dumps(result))
    for engine in engines.values():
        engine.close()


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text()) if file.exists() else {}


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--python", type=Path, required=True, help="Python with the other engines")
    parser.add_argument("--jar", action="append", type=_pair, required=True)
    parser.add_argument("--index", action="append", type=_pair, required=True)
    parser.add_argument("--tuned", nargs=2, type=float, metavar=("K1", "B"), required=True)
    parser.add_argument("--collection", default=COLLECTION, help="folder in --collections")
    parser.add_argument("--engines", nargs="+", choices=OTHERS, default=OTHERS,
                        help="beside Lucene's; each step may have others")  # fmt: skip
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    given = parser.parse_args()
    given.jar, given.index = dict(given.jar), dict(given.index)
    given.tiers = tiers_of(given.index[TIERS]) if TIERS in given.index else None
    given.work = given.work.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    if "build" in given.steps:
        build(given)
    if "look" in given.steps:
        look(given)
    if "time" in given.steps:
        time_sets(given)
    if "report" in given.steps:
        times = {name: _read(given.work / f"times-{name}.json") for name in SETS}
        report(given.output, _read(given.work / "looked.json"), times)


if __name__ == "__main__":
    main()
