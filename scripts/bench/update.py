#!/usr/bin/env python3
"""A pruned index that follows its source, beside pruning and learning anew.

Indexes 90 % of wiki165k, learns on it and prunes it. Then ten times: adds 1 % of the documents and
deletes 0.2 % of all, at random, and updates the pruned index. In the end verifies it, prunes the
source anew with the same TDVs, learns anew and prunes with those, and measures all of them. Learns
with several seeds, before and anew: what only the seed changes is no effect of the updates. Times
are without the start of Python and Java; those of the processor depend least on what else runs.
TDVs, indexes and times that are in the work folder already are taken as they are.

    scripts/bench/update.py --collections DIR --work DIR --output FOLDER
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from commands import Commands, folder_parser
from results import machine, markdown_table, write_run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from lucene_indexes import _directory  # noqa: E402 - beside the tests

import tdv_lucene as tdv  # noqa: E402
from tdv_lucene.analysis import DEFAULT  # noqa: E402
from tdv_lucene.jvm import java_class  # noqa: E402
from tdv_lucene.jvm.analysis import analyze_topics  # noqa: E402
from tdv_lucene.plan import FieldPlan  # noqa: E402
from tdv_lucene.vocabulary import ByteStrings  # noqa: E402

LUCENE = "org.apache.lucene."
COLLECTION = "wiki165k"
UPDATES, ADDED, DELETED, FIRST = 10, 0.01, 0.002, 0.9
SEEDS = {"first": 2, "final": 2}
REDUCTION = 0.45
"""The same for all, so that they can be compared."""
SETS = {"tydi-dev": ("queries.tydi-dev.tsv", "qrels.tydi-dev.txt"),
        "dbpedia": ("queries.dbpedia.tsv", "qrels.dbpedia.txt")}  # fmt: skip


def make_index(lines: list[str], place: Path, folder: Path, commands: Commands) -> None:
    """With one thread: documents stay in order."""
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text("".join(lines), encoding="utf-8")
    commands.run("index", "--collection", "JsonCollection", "--threads", "1", "--storePositions",
                 "--generator", "DefaultLuceneDocumentGenerator", "--input", folder,
                 "--index", place)  # fmt: skip


def make_indexes(collection: Path, work: Path, commands: Commands) -> list[str]:
    """``first`` and ``slice-0``, ``slice-1``, ...; returns the ids of all documents, in order."""
    with gzip.open(collection / "corpus.jsonl.gz", "rt", encoding="utf-8") as corpus:
        lines = list(corpus)
    random.Random(0).shuffle(lines)
    bounds = [0] + [int(len(lines) * (FIRST + ADDED * i)) for i in range(UPDATES + 1)]
    places = [work / "first", *(work / f"slice-{i}" for i in range(UPDATES))]
    for place, a, b in zip(places, bounds, bounds[1:]):
        if not place.exists():
            make_index(lines[a:b], place, work / "input", commands)
    return [json.loads(line)["id"] for line in lines]


def change(source: Path, piece: Path, gone: list[str]) -> None:
    """What a writer with Lucene's defaults does: it merges segments now and then."""
    config = java_class(LUCENE + "index.IndexWriterConfig")()
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(source), config)
    writer.addIndexes(_directory(piece), signature="([Lorg/apache/lucene/store/Directory;)J")
    term_query, term = (java_class(LUCENE + name) for name in ("search.TermQuery", "index.Term"))
    for name in gone:
        writer.deleteDocuments(term_query(term("id", name)))
    writer.commit()
    writer.close()


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What the work returns; its seconds, and those of all processors."""
    started, before = time.perf_counter(), time.process_time()
    done = work()
    cpu = time.process_time() - before
    return done, {"seconds": time.perf_counter() - started, "cpu_seconds": cpu}


def follow(ids: list[str], work: Path, values: Path) -> dict[str, Any]:
    """A row of each update, how long pruning the first and the last state took, and the proof."""
    source, pruned = work / "source", work / "pruned"
    for folder in (source, pruned, work / "warm"):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(work / "first", source)
    tdv.prune_index(source, values, work / "warm", reduction=REDUCTION)
    _, whole = timed(lambda: tdv.prune_index(source, values, pruned, reduction=REDUCTION))
    rng, rows = random.Random(1), []
    first = int(len(ids) * FIRST)
    alive = ids[:first]
    for number in range(UPDATES):
        size = int(len(ids) * ADDED)
        gone = rng.sample(alive, int(len(ids) * DELETED))
        alive = [*({*alive} - {*gone}), *ids[first + number * size : first + (number + 1) * size]]
        alive.sort()
        change(source, work / f"slice-{number}", gone)
        report, took = timed(lambda: tdv.update_index(pruned))
        rows.append({**took, **report})
        print(took, report, file=sys.stderr, flush=True)
    _, after = timed(
        lambda: tdv.prune_index(source, values, work / "warm", reduction=REDUCTION, overwrite=True)
    )
    verified = tdv.verify_pruned(source, pruned)
    return {"updates": rows, "prune_seconds": [whole, after], "verified": verified}


def main() -> None:
    args = folder_parser(__doc__).parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, work = args.collections / COLLECTION, args.work
    commands = Commands(args.collections, work)
    ids = make_indexes(folder, work, commands)
    judged = ["--topics", folder / "queries.tydi-train.tsv", "--qrels",
              folder / "qrels.tydi-train.txt"]  # fmt: skip

    def learn(when: str, index: Path) -> list[Path]:
        made = [work / f"v-{when}-{seed}" for seed in range(SEEDS[when])]
        for seed, values in enumerate(made):
            if not values.exists():
                commands.run("learn", "--index", index, *judged, "--output", values,
                             "--seed", str(seed))  # fmt: skip
        return made

    before, followed = learn("first", work / "first"), work / "followed.json"
    if not followed.exists():
        followed.write_text(json.dumps(follow(ids, work, before[0])))
    source, pruned = work / "source", work / "pruned"
    anew = learn("final", source)
    raw = {
        "machine": machine(), **json.loads(followed.read_text()),
        "source": measure(folder, work, source),
        "updated": measure(folder, work, pruned),
        "learned": {values.name: learned(folder, work, values) for values in (*before, *anew)},
        "unseen": unseen(folder, work, before[0], anew[0]),
    }  # fmt: skip
    write_run(args.output, summary(raw) + "\n" + commands.listing() + "\n", raw,
              ("update.md", "update.json"))  # fmt: skip


def learned(folder: Path, work: Path, values: Path) -> dict[str, Any]:
    """What was chosen, and the measures of the last source pruned with it."""
    output = work / f"by-{values.name}"
    tdv.prune_index(work / "source", values, output, reduction=REDUCTION, overwrite=True)
    manifest = json.loads((values / "manifest.json").read_text())
    networks = [fold["network"] for fold in manifest["folds"]]
    return {
        "queries": manifest["queries"], **manifest["parameters"], **(manifest["lead"] or {}),
        "recommended": manifest["recommended_reduction"],
        "steps": [network["step"] for network in networks],
        "slopes": [network["slope"] for network in networks],
        "measured": measure(folder, work, output),
    }  # fmt: skip


def unseen(folder: Path, work: Path, before: Path, anew: Path) -> dict[str, Any]:
    """What hangs on the TDVs of terms that learning has not seen: their share of the query terms,
    and the measures with other TDVs for them, also with those that learning anew gives them.
    """
    known, later = tdv.TermValues.load(before), tdv.TermValues.load(anew)
    ours = FieldPlan.with_unseen

    def as_learned(tdvs: np.ndarray, terms: ByteStrings) -> np.ndarray:
        places = later.vocabulary.find(terms)
        return np.where(places >= 0, later.weights[np.maximum(places, 0)], tdvs)

    ways = {
        "halved": lambda tdvs, terms: tdvs / 2,
        "doubled": lambda tdvs, terms: tdvs * 2,
        "as learned anew": as_learned,
    }
    found: dict[str, Any] = {"query_terms": {}, "measured": {}}
    for name, (topics, _) in SETS.items():
        asked = analyze_topics(tdv.read_topics(folder / topics), "contents", DEFAULT)
        terms = [term for words in asked.values() for term in words]
        new = (known.vocabulary.find(terms) < 0) & (later.vocabulary.find(terms) >= 0)
        found["query_terms"][name] = {"unseen": int(new.sum()), "of": len(terms)}
    for way, others in ways.items():

        def with_others(
            plan: FieldPlan, places: np.ndarray, terms: ByteStrings, others: Callable = others
        ) -> FieldPlan:
            made = ours(plan, places, terms)
            at, changed = made.vocabulary.find(terms), made.tdv.copy()
            changed[at] = others(made.tdv[at], terms)
            return replace(made, tdv=changed)

        FieldPlan.with_unseen = with_others  # type: ignore[method-assign]
        output = work / "unseen"
        tdv.prune_index(work / "source", before, output, reduction=REDUCTION, overwrite=True)
        found["measured"][way] = measure(folder, work, output)
    FieldPlan.with_unseen = ours  # type: ignore[method-assign]
    return found


def measure(folder: Path, work: Path, index: Path) -> dict[str, dict[str, float]]:
    """Query set -> measures, searched as the index says."""
    found: dict[str, dict[str, float]] = {}
    for name, (topics, qrels) in SETS.items():
        run = work / "run"
        tdv.search_index(index, folder / topics, run, overwrite=True)
        asked, judged = tdv.read_topics(folder / topics), tdv.read_qrels(folder / qrels)
        values = tdv.evaluate_run(run, asked, judged).values
        found[name] = {key: float(value.mean()) for key, value in values.items()}
    return found


def summary(raw: dict[str, Any]) -> str:
    before, after = raw["prune_seconds"]
    rows = [
        [
            str(number), f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}",
            f"{row['segments_added']}",
            f"{row['segments_dropped']}", f"{row['segments']}", f"{row['deletions']}",
            f"{row['postings_before']:,}", f"{100 * row['reduction']:.2f} %",
            f"{100 * row['drift']['moved']:.2f} %",
            f"{100 * row['drift']['unseen_postings']:.2f} %",
        ]
        for number, row in enumerate(raw["updates"], 1)
    ]  # fmt: skip
    head = ["update", "seconds", "of processors", "segments added", "dropped", "in all",
            "deletions", "postings read", "dropped in all", "moved", "unseen"]  # fmt: skip
    figures = [["source", *_shown(raw["source"])], ["updated", *_shown(raw["updated"])]]
    terms = [f"{of['unseen']} of {of['of']:,} in {name}"
             for name, of in raw["unseen"]["query_terms"].items()]  # fmt: skip
    others = [[way, *_shown(measured)] for way, measured in raw["unseen"]["measured"].items()]
    chosen = []
    for name, one in raw["learned"].items():
        when, seed = name.split("-")[1:]
        said = f"learned {'before' if when == 'first' else 'anew'}, seed {seed}"
        figures.append([f"pruned anew, {said}", *_shown(one["measured"])])
        chosen.append([said, f"{one['queries']}", f"{one['k1']:g}, {one['b']:g}",
                       f"{one['boost']:g}, {one['span']:g}", f"{one['steps'][0]}",
                       f"{one['slopes'][0]:g}", f"{one['recommended']:g}"])  # fmt: skip
    return "\n".join([
        f"{raw['machine']}. Pruning all anew took {_seconds(before)} before the updates and "
        f"{_seconds(after)} after them. Verified after the last: {raw['verified']}.", "",
        markdown_table(head, rows), "",
        "nDCG@5 / R@1000 after the last update:", "",
        markdown_table(["", *SETS], figures), "",
        "What learning chose:", "",
        markdown_table(["", "queries", "k1, b", "boost, span", "steps", "slope of TDVs",
                        "recommended"], chosen), "",
        "Query terms that learning before has not seen: " + ", ".join(terms) + ". With other "
        "TDVs for all terms that it has not seen, seed 0:", "",
        markdown_table(["", *SETS], others), "",
    ])  # fmt: skip


def _shown(measured: dict[str, dict[str, float]]) -> list[str]:
    return [f"{measured[name]['nDCG@5']:.4f} / {measured[name]['R@1000']:.3f}" for name in SETS]


def _seconds(took: dict[str, float]) -> str:
    return f"{took['seconds']:.1f} s ({took['cpu_seconds']:.1f} of processors)"


if __name__ == "__main__":
    main()
