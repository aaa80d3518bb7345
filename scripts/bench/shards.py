#!/usr/bin/env python3
"""An index in shards beside one index of the same documents: same results? in what time?

Cuts a corpus into pieces and indexes each, and the whole; deletes some documents in both. Then
extracts, makes values (without judgements, or by learning with --learn), prunes, verifies and
searches both, with --qrels compares full and pruned on both sides, and checks: matrices, values,
runs and measures of each query are the same bytes. Exits with 1 where they differ. Times are of the
whole commands, with Python, Java and Dask started.

    scripts/bench/shards.py --corpus corpus.jsonl.gz --topics queries.tsv --shards 4 --work DIR \\
        --output FOLDER [--qrels QRELS] [--empty] [--delete-every 50] [--learn TOPICS QRELS] \\
        [--scheduler ADDRESS]
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from results import machine, markdown_table, write_run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from lucene_indexes import open_writer  # noqa: E402 - beside the tests, not installed

from tdv_lucene.jvm import java_class  # noqa: E402

LUCENE = "org.apache.lucene."
MODELS = "bm25", "qld", "tfidf"


def read(corpus: Path) -> list[str]:
    """The documents, a line each."""
    opened = gzip.open if corpus.suffix == ".gz" else open
    with opened(corpus, "rt", encoding="utf-8") as lines:
        return list(lines)


def make_indexes(args: argparse.Namespace) -> None:
    """``one`` and ``S/000``, ``S/001``, ... in the work folder, where they are missing."""
    if (args.work / "one").exists():
        return
    lines = read(args.corpus)
    bounds = [len(lines) * i // args.shards for i in range(args.shards + 1)]
    pieces = [lines[a:b] for a, b in zip(bounds, bounds[1:])]
    places = [args.work / "S" / f"{i:03}" for i in range(args.shards)]
    (args.work / "S").mkdir(parents=True, exist_ok=True)
    for piece, place in zip([lines, *pieces], [args.work / "one", *places]):
        index(piece, place, args.work / "input")
    if args.empty:
        open_writer(args.work / "S" / "004-empty").close()
    if args.delete_every:
        ids = [json.loads(line)["id"] for line in lines[:: args.delete_every]]
        for place in (args.work / "one", *places):
            delete(place, ids)


def index(lines: list[str], place: Path, folder: Path) -> None:
    """With one thread: documents stay in order."""
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text("".join(lines), encoding="utf-8")
    run("index", "--collection", "JsonCollection", "--generator", "DefaultLuceneDocumentGenerator",
        "--threads", "1", "--storePositions", "--input", folder, "--index", place)  # fmt: skip


def delete(place: Path, ids: list[str]) -> None:
    """Mark documents as deleted; segments stay."""
    writer = open_writer(place)
    for name in ids:
        term = java_class(LUCENE + "index.Term")("id", name)
        writer.deleteDocuments(java_class(LUCENE + "search.TermQuery")(term))
    writer.commit()
    writer.close()


def run(*arguments: object) -> dict[str, Any]:
    """A command of ours: its seconds, and the largest memory of a process it started."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "tdv_lucene", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    print(f"{time.perf_counter() - started:.0f} s: {arguments[0]}", file=sys.stderr)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"seconds": time.perf_counter() - started, "largest_process_kb_so_far": peak}


def stages(args: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(stage, 'one' or 'shards', what it took), each stage on both in turn."""
    work, far = args.work, ["--scheduler", args.scheduler] if args.scheduler else []
    sides = {"one": (work / "one", work / "P1", []),
             "shards": (f"{work}/S/*", work / "PS", far)}  # fmt: skip
    learn = ["--topics", args.learn[0], "--qrels", args.learn[1]] if args.learn else None
    for side, (index, _, at) in sides.items():
        yield "extract", side, run("extract", "--index", index, "--output", work / f"m-{side}", *at)
    for side, (index, _, at) in sides.items():
        told = run("learn", "--index", index, "--matrix", work / f"m-{side}", "--output",
                   work / f"v-{side}", *(learn or ["--no-judgements"]), *at)  # fmt: skip
        yield "learn", side, told
    for side, (index, pruned, at) in sides.items():
        told = run("prune", "--index", index, "--tdv", work / f"v-{side}", "--output", pruned,
                   "--reduction", args.reduction, *at)  # fmt: skip
        yield "prune", side, told
    for side, (index, pruned, at) in sides.items():
        made = pruned if side == "one" else f"{pruned}/*"
        yield "verify", side, run("verify", "--index", index, "--pruned", made, "--tdv",
                                  work / f"v-{side}", *at)  # fmt: skip
    for model in MODELS:
        for side, (index, pruned, at) in sides.items():
            for name, of in (
                ("full", index), ("pruned", pruned if side == "one" else f"{pruned}/*"),
            ):  # fmt: skip
                told = run("search", "--index", of, "--topics", args.topics, "--model", model,
                           "--output", work / f"{name}-{model}-{side}.run", *at)  # fmt: skip
                yield f"search {name}, {model}", side, told
    if args.qrels:
        for side, (index, pruned, _) in sides.items():
            of = pruned if side == "one" else f"{pruned}/*"
            told = run("compare", "--index", index, "--pruned", of, "--topics", args.topics,
                       "--qrels", args.qrels, "--latency-budget", "1", "--output",
                       work / f"report-{side}")  # fmt: skip
            yield "compare", side, told


def differences(work: Path) -> list[str]:
    """The files of both sides that are not the same bytes."""
    runs = [f"{name}-{model}" for name in ("full", "pruned") for model in MODELS]
    pairs = [(work / f"{run}-one.run", work / f"{run}-shards.run") for run in runs]
    for folder in ("m", "v"):
        pairs += [(path, work / f"{folder}-shards" / path.name)
                  for path in sorted((work / f"{folder}-one").glob("*.npy"))]  # fmt: skip
    by_query = [work / f"report-{side}" / "per_query.tsv" for side in ("one", "shards")]
    if all(path.exists() for path in by_query):
        pairs.append((by_query[0], by_query[1]))
    return [str(b.relative_to(work)) for a, b in pairs if a.read_bytes() != b.read_bytes()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="JSON lines of id and contents")
    parser.add_argument("--topics", required=True, help="queries to search both with")
    parser.add_argument("--qrels", help="their qrels, to compare full and pruned with")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--empty", action="store_true", help="one more shard, of no documents")
    parser.add_argument("--delete-every", type=int, default=0, metavar="N")
    parser.add_argument("--learn", nargs=2, metavar=("TOPICS", "QRELS"))
    parser.add_argument("--reduction", type=float, default=0.45)
    parser.add_argument("--scheduler", help="of Dask; without it processes here")
    parser.add_argument("--work", type=Path, required=True, help="for indexes and results")
    parser.add_argument("--output", type=Path, required=True, help="folder for the figures")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    make_indexes(args)
    told: dict[str, dict[str, Any]] = {}
    for stage, side, took in stages(args):
        told.setdefault(stage, {})[side] = took
    differ = differences(args.work)
    rows = [
        [stage, *(f"{sides[side]['seconds']:.1f}" for side in ("one", "shards"))]
        for stage, sides in told.items()
    ]
    same = f"different: {', '.join(differ)}" if differ else "all that both made is the same"
    text = f"{args.shards} shards; {machine()}; {same}\n\n"
    text += markdown_table(["seconds", "one index", "shards"], rows) + "\n"
    raw = {"shards": args.shards, "machine": machine(), "differ": differ, "stages": told}
    write_run(args.output, text, raw, ("shards.md", "shards.json"))
    print(text)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
