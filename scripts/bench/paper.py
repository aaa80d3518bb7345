#!/usr/bin/env python3
"""Run the paper's experiment on several collections, and write what its rows show in one table.

For each collection an index is made, and `paper reproduce` run for each ranking function. A run
that WORK has is not made again, so the script can be ended and begun again.

Who owns TREC's disks passes a folder with their documents in la/, ap88-89/ and ft91-94/, and all
topics and judgements in topics.txt and qrels.txt:

    paper.py --collections DISKS --name la --name ap88-89 --name ft91-94 --work WORK --output RUN
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from commands import Commands, folder_parser

from tdv_lucene.paper.published import COLLECTIONS, MODELS, title_of
from tdv_lucene.report.table import Table, change, p_value, ratio, to_markdown

QUERIES = {
    "cranfield": "queries", "vaswani": "queries", "cisi": "queries", "nfcorpus": "queries.train",
    "wiki165k": "queries.dbpedia",
}  # fmt: skip
DISKS = ("la", "ap88-89", "ft91-94")
OPTIONAL = ("wiki165k", *DISKS)
"""These are run by name only."""
HALF = ("nfcorpus",)
"""Of these every second query is taken: they have thousands."""


def main() -> None:
    parser = folder_parser(__doc__)
    names = [*QUERIES, *DISKS]
    usual = [each for each in names if each not in OPTIONAL]
    parser.add_argument("--name", action="append", choices=names, help=f"default: {usual}")
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--recipe", default="all")
    parser.add_argument("--latency-budget", default="0", help="seconds; 0 counts postings only")
    given = parser.parse_args()
    commands = Commands(given.collections, given.work)
    reports = {}
    for name in given.name or usual:
        for model in given.model or MODELS:
            made = given.work / f"{name}.{model}.{given.recipe}"
            if not (made / "report.json").exists():
                _reproduce(commands, name, model, made, given)
            reports[name, model] = json.loads((made / "report.json").read_text())
    given.output.mkdir(parents=True, exist_ok=True)
    for (name, model), report in reports.items():
        text = json.dumps(report, indent=1, ensure_ascii=False)
        (given.output / f"{name}.{model}.json").write_text(text + "\n")
    text = to_markdown([rows_of(reports), curve_of(reports)])
    (given.output / "tables.md").write_text(text + "\n" + commands.listing() + "\n")


def _reproduce(commands: Commands, name: str, model: str, made: Path, given: Any) -> None:
    kind, documents, topics, qrels = (_disk if name in DISKS else _collection)(name, given)
    index = given.work / f"{name}.index"
    if not index.exists():
        commands.run(
            "index", "--collection", kind, "--input", documents, "--index", index,
            "--generator", "DefaultLuceneDocumentGenerator", "--threads", "2", "--optimize",
        )  # fmt: skip
    commands.run(
        "paper", "reproduce", "--collection", name if name in COLLECTIONS else "other",
        "--index", index, "--topics", topics, "--qrels", qrels, "--model", model,
        "--recipe", given.recipe, "--latency-budget", given.latency_budget, "--output", made,
    )  # fmt: skip


def _disk(name: str, given: Any) -> tuple[str, Path, Path, Path]:
    """Return Anserini's name of the format, the documents, topics and judgements."""
    folder = given.collections
    return "TrecCollection", folder / name, folder / "topics.txt", folder / "qrels.txt"


def _collection(name: str, given: Any) -> tuple[str, Path, Path, Path]:
    source = next(p for p in (given.collections / name, given.collections / "domains" / name)
                  if p.is_dir())  # fmt: skip
    documents, topics = given.work / f"{name}.corpus", source / f"{QUERIES[name]}.tsv"
    documents.mkdir(parents=True, exist_ok=True)  # of its own: the source may have other files
    shutil.copy(source / "corpus.jsonl.gz", documents)
    if name in HALF:
        lines = topics.read_text().splitlines(keepends=True)
        topics = given.work / f"{name}.half.tsv"
        topics.write_text("".join(lines[::2]))
    qrels = source / f"{QUERIES[name].replace('queries', 'qrels')}.txt"
    return "JsonCollection", documents, topics, qrels


def rows_of(reports: dict[Any, Any]) -> Table:
    """Return each row of the experiments: what is dropped, and what that changes."""
    rows = []
    for (name, _), report in reports.items():
        for row, entry in report["models"].items():
            ndcg, recall = ((entry[m]["baseline"], entry[m]["tdv"]) for m in ("nDCG@5", "R@1000"))
            visited = entry["postings_visited"]
            rows.append(
                (
                    f"{name}, {title_of(row)}", f"{entry['postings_removed']['mean']:.1f} %",
                    f"{ndcg[0]:.4f}", f"{ndcg[1]:.4f}", change(*ndcg),
                    p_value(entry["nDCG@5"]["p_value"]), f"{recall[0]:.4f}", change(*recall),
                    f"x{ratio(visited['baseline'], visited['tdv'])}",
                )
            )  # fmt: skip
    heads = ("", "dropped", "nDCG@5", "TDV", "change", "p", "R@1000", "change", "fewer postings")
    return Table("Rows", heads, rows)


def curve_of(reports: dict[Any, Any]) -> Table:
    """Return the curve along the chosen trainings, on inner folds: the mean of the outer folds."""
    rows = []
    for (name, model), report in reports.items():
        chosen = [c for c in report["models"].get(model, {}).get("chosen", []) if "curve" in c]
        for at in range(min((len(c["curve"]) for c in chosen), default=0)):
            points = [c["curve"][at] for c in chosen]
            dropped = sum(p["dropped"] for p in points) / len(points)
            changes = [
                sum(p[m] / p[f"baseline {m}"] for p in points) / len(points)
                for m in ("nDCG@5", "R@1000")
            ]
            shown = (f"{100 * (each - 1):+.1f} %" for each in changes)
            rows.append((f"{name}, {MODELS[model]}", f"{100 * dropped:.0f} %", *shown))
    return Table("Along training, on inner folds", ("", "dropped", "nDCG@5", "R@1000"), rows)


if __name__ == "__main__":
    main()
