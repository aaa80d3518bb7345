#!/usr/bin/env python3
"""Speed of the Java side against Lucene's own copy of an index, side by side in one run.

For each index: `IndexWriter.addIndexes` of its segments as they are, rewriting with nothing
changed, pruning 45 % of the postings, extraction, verification. Each in a process of its own, as a
user runs it (Java's compiler starts cold), measured from the first job to its end without the
start of Python and Java; all in turn, for several rounds, the median shown. Indexes are made in
the work folder by Anserini from one corpus: once; repeated under new ids; once with its raw text.

    scripts/bench/rewriting.py --corpus corpus.jsonl.gz --work DIR --output run.json
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from pruning_inputs import field_plan  # noqa: E402 - beside the tests, not installed
from testing_jar import copy_index  # noqa: E402

JOBS = ("copy", "identity", "prune", "extract", "verify")
REDUCTION = 0.45
SCALE = 4.0
FLAGS = {
    "once": ["--optimize"],
    "repeated": [],
    "with raw text": ["--optimize", "--storeRaw"],
}
ID = re.compile(r'("id": ?"[^"]*)"')


def make_indexes(
    corpus: Path, work: Path, names: list[str], copies: int, threads: int
) -> list[Path]:
    """Paths of the indexes, made where they are missing."""
    for name in names:
        count, options = (copies if name == "repeated" else 1), FLAGS[name]
        if (work / name).exists():
            continue
        with tempfile.TemporaryDirectory(dir=work) as folder:
            write_copies(corpus, Path(folder), count)
            command = [sys.executable, "-m", "tdv_lucene", "index", "--collection",
                       "JsonCollection", "--generator", "DefaultLuceneDocumentGenerator",
                       "--threads", str(threads), "--input", folder,
                       "--index", str(work / name), *options]  # fmt: skip
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            print(f"{time.perf_counter() - started:.0f} s to index '{name}'", file=sys.stderr)
    return [work / name for name in names]


def write_copies(corpus: Path, folder: Path, copies: int) -> None:
    """Write the corpus ``copies`` times, each with other ids."""
    opened = gzip.open if corpus.suffix == ".gz" else open
    outputs = [open(folder / f"{i}.jsonl", "w", encoding="utf-8") for i in range(copies)]
    with opened(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            for i, output in enumerate(outputs):
                output.write(ID.sub(rf'\1-{i}"', line, count=1) if i else line)
    for output in outputs:
        output.close()


def random_values(matrix) -> np.ndarray:
    """float32[V]: 45 % of the postings in terms of value 0, drawn at random; others 0.5 to 1.5."""
    rng = np.random.default_rng(0)
    order = rng.permutation(matrix.shape[0])
    gone = np.cumsum(np.asarray(matrix.doc_freq)[order]) <= REDUCTION * matrix.postings
    values = rng.uniform(0.5, 1.5, matrix.shape[0]).astype(np.float32)
    values[order[gone]] = 0
    return values


def job_of(name: str, index: Path, work: Path, threads: int) -> Callable[[], object]:
    """The work to be timed, with everything before it done."""
    from tdv_lucene.jvm import rewriter, start
    from tdv_lucene.jvm.index import extract_arrays
    from tdv_lucene.matrix.extract import extract_matrix
    from tdv_lucene.matrix.term_document_matrix import load_matrix

    start()
    matrix_folder, output = work / f"{index.name} matrix", work / f"{index.name} {name}"
    if not matrix_folder.exists():
        extract_matrix(index, matrix_folder, threads=threads)
    matrix = load_matrix(matrix_folder)
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    if name == "copy":
        return lambda: copy_index(index, output, threads)
    if name == "extract":
        return lambda: extract_arrays(index, "contents", output, threads=threads)
    plan = field_plan(matrix.vocabulary, random_values(matrix), SCALE)
    if name == "verify":
        pruned = work / f"{index.name} prune"
        return lambda: _require_equal(rewriter.prove_pruned(index, pruned, [plan], threads=threads))
    if name == "identity":
        plan = field_plan(matrix.vocabulary, 1, 1.0)
    return lambda: rewriter.rewrite_index(index, output, [plan], threads=threads, user_data={})


def _require_equal(found: dict) -> dict:
    if "difference" in found:
        sys.exit(f"verification failed: {found}")
    return found


def run_child(name: str, index: Path, work: Path, threads: int) -> None:
    """Do one job and print its figures as JSON; Lucene's own timings go to stderr."""
    job = job_of(name, index, work, threads)
    from tdv_lucene.jvm import java_class

    out = java_class("java.lang.System").err
    stream = java_class("org.apache.lucene.util.PrintStreamInfoStream")(out)
    java_class("org.apache.lucene.util.InfoStream").setDefault(stream)
    started, cpu = time.perf_counter(), time.process_time()
    job()
    figures = {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def measure(name: str, index: Path, work: Path, options: argparse.Namespace) -> dict:
    """Run a job in a process of its own."""
    command = [sys.executable, __file__, "--child", name, "--index", str(index),
               "--work", str(work), "--threads", str(options.threads)]  # fmt: skip
    environment = {**os.environ, "TDV_LUCENE_HEAP": options.heap}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"'{name}' of '{index.name}' failed:\n{done.stderr[-3000:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    merged = re.findall(r"(\d+) msec? to merge stored fields", done.stderr)
    figures["stored_fields_seconds"] = sum(map(int, merged)) / 1000
    return figures


def median_of(runs: list[dict]) -> dict:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def report(index: Path, figures: dict[str, dict], postings: int) -> list[dict]:
    """Print and return a row a job."""
    copy = figures["copy"]
    stored = sum(path.stat().st_size for path in index.glob("*.fdt"))
    print(f"\n{index.name}: {postings:,} postings, {stored / 1e6:.0f} MB of stored fields\n")
    head = ("job", "wall s", "of copy", "CPU s", "of copy", "M post/s", "M/CPU s", "RSS MB")
    print("  ".join(f"{name:>9}" for name in head), "  stored MB/s", sep="")
    rows = []
    for name, figure in figures.items():
        merging = figure["stored_fields_seconds"]
        row = {
            "index": index.name, "job": name, **figure,
            "wall_ratio": figure["seconds"] / copy["seconds"],
            "cpu_ratio": figure["cpu_seconds"] / copy["cpu_seconds"],
            "million_postings_per_second": postings / figure["seconds"] / 1e6,
            "million_postings_per_cpu_second": postings / figure["cpu_seconds"] / 1e6,
            "stored_mb_per_second": stored / merging / 1e6 if merging else None,
        }  # fmt: skip
        rows.append(row)
        cells = [f"{row['seconds']:.2f}", f"{row['wall_ratio']:.2f}", f"{row['cpu_seconds']:.2f}",
                 f"{row['cpu_ratio']:.2f}", f"{row['million_postings_per_second']:.1f}",
                 f"{row['million_postings_per_cpu_second']:.1f}",
                 f"{figure['peak_rss_mb']:.0f}"]  # fmt: skip
        speed = f"{row['stored_mb_per_second']:13.0f}" if merging else ""
        print(f"{name:>9}  " + "  ".join(f"{cell:>9}" for cell in cells) + speed)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help='JSON lines, {"id": ..., "contents": ...}')
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes; kept")
    parser.add_argument("--output", type=Path, help="file for the figures, as JSON")
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--heap", default="1g", help="Java's (default: 1g)")
    parser.add_argument(
        "--only", nargs="+", choices=list(FLAGS), default=list(FLAGS), help="indexes to measure"
    )
    parser.add_argument("--child", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child, options.index, options.work, options.threads)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    indexes = make_indexes(
        options.corpus, options.work, options.only, options.copies, options.threads
    )
    rows = []
    print(f"{platform.machine()}, {os.cpu_count()} cores; {options.threads} threads, "
          f"heap {options.heap}, {options.rounds} rounds")  # fmt: skip
    for index in indexes:
        work = options.work / "results"
        work.mkdir(exist_ok=True)
        runs: dict[str, list[dict]] = {job: [] for job in JOBS}
        for _ in range(options.rounds):
            for job in JOBS:
                runs[job].append(measure(job, index, work, options))
        postings = len(np.load(work / f"{index.name} matrix" / "indices.npy", mmap_mode="r"))
        rows += report(
            index, {job: median_of(measured) for job, measured in runs.items()}, postings
        )
    if options.output:
        options.output.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
