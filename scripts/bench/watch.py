#!/usr/bin/env python3
"""`update --watch` beside a Lucene writer and a searcher, each in a process of its own.

Indexes 20,000 articles of wiki165k and prunes them. Then one writer, which stays open, adds 10,000
more in 100 commits and deletes 20 documents in each, while the pruned index follows and is searched
all the time: with a reader that is refreshed, and with a new one each time. In the end the pruned
index is verified, and compared in size with one that is pruned anew.

    scripts/bench/watch.py --collections DIR --work DIR --output FOLDER
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from commands import folder_parser
from results import machine, markdown_table, write_run
from shards import read

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from lucene_indexes import _binary_doc_values, _directory  # noqa: E402 - beside the tests
from lucene_reading import check_index  # noqa: E402 - beside the tests

import tdv_lucene as tdv  # noqa: E402
from tdv_lucene.jvm import java_class  # noqa: E402
from tdv_lucene.jvm.analysis import DEFAULT, make_analyzer  # noqa: E402
from tdv_lucene.jvm.index import identify, read_user_data  # noqa: E402
from tdv_lucene.jvm.open_index import OpenIndex  # noqa: E402
from tdv_lucene.jvm.searcher import make_similarity  # noqa: E402
from tdv_lucene.ranking import SearchParameters  # noqa: E402

LUCENE = "org.apache.lucene."
FIRST, COMMITS, ADDED, DELETED = 20_000, 100, 100, 20
HEAP = "256m"
WORDS = "war", "music", "river", "town", "film", "king", "school", "art", "water", "game"

# pyjnius takes the first constructor whose arguments are objects, whatever their class.
_OF_READER = "(Lorg/apache/lucene/index/IndexReader;)V"


class Writer:
    """Lucene's, with its defaults and Anserini's fields; open all the time."""

    def __init__(self, index: Path) -> None:
        config = java_class(LUCENE + "index.IndexWriterConfig")(make_analyzer(DEFAULT))
        self._java = java_class(LUCENE + "index.IndexWriter")(_directory(index), config)

    def commit(self, lines: list[str], gone: list[str]) -> None:
        for line in lines:
            self._java.addDocument(_document(line))
        for name in gone:
            term = java_class(LUCENE + "index.Term")("id", name)
            self._java.deleteDocuments(java_class(LUCENE + "search.TermQuery")(term))
        self._java.commit()

    def close(self) -> None:
        self._java.close()


def _document(line: str) -> Any:
    content = json.loads(line)
    document = java_class(LUCENE + "document.Document")()
    stored = java_class(LUCENE + "document.Field$Store")
    string, text = (java_class(f"{LUCENE}document.{kind}Field") for kind in ("String", "Text"))
    document.add(string("id", content["id"], stored.YES))
    document.add(_binary_doc_values("id", content["id"].encode()))
    document.add(text("contents", content["contents"], stored.NO))
    document.add(java_class(LUCENE + "document.StoredField")("raw", line))
    return document


def search_all_the_time(pruned: str, stop: Any, answers: Any) -> None:
    """Ask until ``stop``; puts how often, how many documents there were, and what failed."""
    directory_reader = java_class(LUCENE + "index.DirectoryReader")
    reader = directory_reader.open(_directory(Path(pruned)))
    found: dict[str, Any] = {"queries": 0, "refreshed": 0, "slowest_ms": 0.0, "failures": []}
    documents = {reader.numDocs()}
    asked_last = False
    while not asked_last:
        asked_last = stop.is_set()  # once more after the last update
        try:
            searcher = java_class(LUCENE + "search.IndexSearcher")(reader, signature=_OF_READER)
            with OpenIndex(pruned, make_similarity(SearchParameters()), "contents",
                           DEFAULT) as opened:  # fmt: skip
                for word in WORDS:
                    began = time.perf_counter()
                    term = java_class(LUCENE + "index.Term")("contents", word)
                    hits = searcher.search(java_class(LUCENE + "search.TermQuery")(term), 10)
                    took = 1000 * (time.perf_counter() - began)
                    found["slowest_ms"] = max(found["slowest_ms"], took)
                    assert len(hits.scoreDocs) == len(opened.search(word, 10)) == 10, word
                    found["queries"] += 2
            changed = directory_reader.openIfChanged(reader)
            if changed is not None:
                reader.close()
                reader = changed
                found["refreshed"] += 1
                documents.add(reader.numDocs())
        except Exception as error:
            found["failures"].append(repr(error))
            asked_last |= len(found["failures"]) >= 10
    reader.close()
    answers.put({**found, "documents": sorted(documents)})


def memory(process: subprocess.Popen[bytes], folders: list[Path]) -> dict[str, int]:
    """Of a process: MB that are no file's, open files, and mapped files of the indexes."""
    of = Path("/proc") / str(process.pid)
    status = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
    maps = (of / "maps").read_text()
    return {
        "anonymous_mb": int(status["RssAnon"].split()[0]) // 1024,
        "open_files": len(os.listdir(of / "fd")),
        "mapped_files": sum(maps.count(f"{folder}{os.sep}") for folder in folders),
    }


def follow(lines: list[str], work: Path) -> dict[str, Any]:
    """Write, follow and search; returns what was seen."""
    source, pruned, log = work / "source", work / "pruned", work / "log"
    context = multiprocessing.get_context("spawn")
    stop, answers = context.Event(), context.Queue()
    searching = context.Process(target=search_all_the_time, args=(str(pruned), stop, answers))
    words = [sys.executable, "-m", "tdv_lucene", "update", "--pruned", pruned, "--watch", "--json"]
    with open(log, "wb") as out:
        watching = subprocess.Popen(words, stdout=out, env={**os.environ, "TDV_LUCENE_HEAP": HEAP})
    searching.start()
    while not log.stat().st_size:  # it has started
        time.sleep(0.1)
    rng, alive = random.Random(0), [json.loads(line)["id"] for line in lines]
    writer, rows, waits = Writer(source), [], []
    for commit in range(COMMITS):
        first = FIRST + commit * ADDED
        there = alive[: first + ADDED]
        gone = rng.sample([name for name in there[:first] if name], DELETED)
        writer.commit(lines[first : first + ADDED], gone)
        began = time.perf_counter()
        alive = [None if name in {*gone} else name for name in alive]
        if commit % 10 == 9:  # the others may be made up by one update
            _wait_for(source, pruned)
            waits.append(time.perf_counter() - began)
            rows.append({"commit": commit + 1, **memory(watching, [source, pruned])})
            print(rows[-1], waits[-1], file=sys.stderr, flush=True)
        else:
            time.sleep(0.5)
    verified = tdv.verify_pruned(source, pruned, work / "values")  # both have a writer
    writer.close()  # it may commit once more
    _wait_for(source, pruned)
    watching.send_signal(signal.SIGTERM)
    status = watching.wait(60)
    stop.set()
    searched = answers.get(timeout=60)
    searching.join()
    updates = [json.loads(line) for line in log.read_text().splitlines()]
    return {
        "memory": rows, "seconds_behind": waits, "searched": searched, "status": status,
        "updates": sum(one["updated"] for one in updates), "verified_meanwhile": verified,
    }  # fmt: skip


def _wait_for(source: Path, pruned: Path) -> None:
    while read_user_data(pruned)["tdv.source_commit"] != identify(source)["commit"]:
        time.sleep(0.05)


def main() -> None:
    args = folder_parser(__doc__).parse_args()
    work = args.work
    for name in ("source", "pruned", "values"):
        shutil.rmtree(work / name, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    lines = read(args.collections / "wiki165k" / "corpus.jsonl.gz")
    random.Random(0).shuffle(lines)
    writer = Writer(work / "source")
    writer.commit(lines[:FIRST], [])
    writer.close()
    source, pruned, values = work / "source", work / "pruned", work / "values"
    tdv.prune_index(source, None, pruned, reduction=0.45, save_values=values)
    raw = {"machine": machine(), **follow(lines[: FIRST + COMMITS * ADDED], work)}
    raw["verified"] = tdv.verify_pruned(source, pruned, values)
    check_index(pruned)
    fresh = tdv.prune_index(source, values, work / "fresh", reduction=0.45, overwrite=True)
    raw["fresh_postings"] = fresh["postings"]
    write_run(args.output, summary(raw), raw, ("watch.md", "watch.json"))


def summary(raw: dict[str, Any]) -> str:
    searched = raw["searched"]
    counts = searched["documents"]
    net = ADDED - DELETED
    whole = all((count - FIRST) % net == 0 for count in counts)
    rows = [[f"{value:,}" for value in row.values()] for row in raw["memory"]]
    return "\n".join([
        "# update --watch beside a writer and a searcher", "",
        f"{raw['machine']}. {COMMITS} commits of {ADDED} documents more and {DELETED} fewer; "
        f"{raw['updates']} updates followed them, and the command ended with status "
        f"{raw['status']}.", "",
        f"Meanwhile another process asked {searched['queries']:,} queries, half of them with a "
        f"reader that was refreshed {searched['refreshed']} times, half with one that was opened "
        f"anew; {len(searched['failures'])} failed, and the slowest took "
        f"{searched['slowest_ms']:.0f} ms. It saw {len(counts)} states of {counts[0]:,} to "
        f"{counts[-1]:,} documents, {'all' if whole else 'NOT ALL'} of them whole commits.", "",
        f"Beside the open writer `verify` found {raw['verified_meanwhile']}, at the end "
        f"{raw['verified']}; CheckIndex found nothing. An index pruned anew has "
        f"{raw['fresh_postings']:,} postings.", "",
        "Of the process that follows, with a heap of " + HEAP + ":", "",
        markdown_table(["commit", "MB", "open files", "mapped files"], rows), "",
        "Seconds from a commit to its update: "
        + ", ".join(f"{wait:.1f}" for wait in raw["seconds_behind"]) + ".", "",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
