#!/usr/bin/env python3
"""Full against pruned on real collections: the table of the README, by the commands a user types.

For each collection: index (with positions; wiki165k also without, and with all else), extract,
learn on its training topics, prune, compare on topics that learning never saw. Every step is one
`tdv-lucene` command in a process of its own, timed as a whole (start of Python and Java included).
Collections are folders with corpus.jsonl.gz, queries*.tsv and qrels*.txt; those with one query set
are split by position: odd queries train, even ones measure.

    scripts/bench/full_against_pruned.py --collections DIR --work DIR \\
        --output scripts/bench/runs/NAME
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from commands import Commands, folder_parser
from results import machine, markdown_table, write_run

INDEX_FLAGS = {
    "plain": [],
    "positions": ["--storePositions"],
    "positions, vectors, raw": ["--storePositions", "--storeDocvectors", "--storeRaw"],
}


@dataclass(frozen=True)
class Experiment:
    """One index: what to train on and what to measure on (suffixes of queries/qrels)."""

    collection: str
    train: str | None = None
    measure: tuple[str, ...] = ()
    flavour: str = "positions"


WIKI = ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")
EXPERIMENTS = [
    Experiment("wiki165k", "tydi-train", WIKI),
    Experiment("wiki165k", "tydi-train", WIKI, "plain"),
    Experiment("wiki165k", "tydi-train", WIKI[:1], "positions, vectors, raw"),
    Experiment("scifact", "train", ("",)),
    Experiment("vaswani"),
    Experiment("cranfield"),
    Experiment("cisi"),
]


@dataclass
class Bench:
    """Measures one experiment after the other and collects the rows of the table."""

    commands: Commands
    reduction: str
    rows: list[dict] = field(default_factory=list)

    def measure(self, experiment: Experiment) -> None:
        name, flavour = experiment.collection, experiment.flavour
        run, source = self.commands.run, self.commands.collections / name
        folder = self.commands.work / f"{name}-{flavour.replace(', ', '-')}"
        folder.mkdir(parents=True, exist_ok=True)
        train, measured = query_sets(experiment, source, folder)
        index, pruned = folder / "index", folder / "pruned"
        matrix, values = folder / "matrix", folder / "values"
        run("index", "--collection", "JsonCollection", "--input", source,
            "--index", index, "--threads", "2", "--optimize", "--overwrite",
            *INDEX_FLAGS[flavour])  # fmt: skip
        extract = run("extract", "--index", index, "--output", matrix, "--overwrite")
        # The prior was made from these very query sets.
        learn = run("learn", "--no-prior", "--index", index, "--matrix", matrix,
                    "--output", values, "--topics", train[0], "--qrels", train[1],
                    "--overwrite")  # fmt: skip
        prune = run("prune", "--index", index, "--tdv", values, "--output", pruned,
                    "--reduction", self.reduction, "--overwrite")  # fmt: skip
        for label, topics, qrels in measured:
            report = folder / f"report-{label or 'test'}"
            run("compare", "--index", index, "--pruned", pruned, "--topics", topics,
                "--qrels", qrels, "--output", report, "--overwrite")  # fmt: skip
            content = json.loads((report / "report.json").read_text(encoding="utf-8"))
            seconds = {"extract": extract["seconds"], "learn": learn["seconds"],
                       "prune": prune["seconds"]}  # fmt: skip
            self.rows.append({"collection": name, "index": flavour, "measured on": label or "test",
                              "seconds": seconds, "report": content})  # fmt: skip


def query_sets(
    experiment: Experiment, source: Path, folder: Path
) -> tuple[tuple[Path, Path], list[tuple[str, Path, Path]]]:
    """Paths of the training (topics, qrels) and of each measured (label, topics, qrels)."""

    def pair(suffix: str) -> tuple[Path, Path]:
        end = f".{suffix}" if suffix else ""
        return source / f"queries{end}.tsv", source / f"qrels{end}.txt"

    if experiment.train is not None:
        return pair(experiment.train), [(name, *pair(name)) for name in experiment.measure]
    topics, qrels = pair("")
    lines = topics.read_text(encoding="utf-8").splitlines()
    judged = {line.split()[0] for line in qrels.read_text(encoding="utf-8").splitlines()}
    lines = [line for line in lines if line.split("\t")[0] in judged]
    halves = {"odd": folder / "queries.odd.tsv", "even": folder / "queries.even.tsv"}
    for start, path in enumerate(halves.values()):
        path.write_text("\n".join(lines[start::2]) + "\n", encoding="utf-8")
    return (halves["odd"], qrels), [("even", halves["even"], qrels)]


def table(rows: list[dict]) -> str:
    """The Markdown table: one row a collection, index flavour and measured query set."""
    head = ("collection (index)", "measured on", "queries", "postings dropped", "bytes", "nDCG@5",
            "p", "nDCG@10", "R@1000", "top-10 ms", "top-1000 ms", "extract / prune s")  # fmt: skip
    lines = []
    for row in rows:
        report = row["report"]
        full, pruned = report["indexes"]["full"], report["indexes"]["pruned"]
        removed = 1 - pruned["postings"] / full["postings"]
        smaller = 1 - pruned["bytes"] / full["bytes"]
        ndcg = report["measures"]["nDCG@5"]
        cells = [
            f"{row['collection']} ({row['index']})",
            row["measured on"],
            str(report["queries"]["judged"]),
            f"{removed:.1%}",
            f"{full['bytes'] / 1e6:.1f} -> {pruned['bytes'] / 1e6:.1f} MB (-{smaller:.0%})",
            arrow(ndcg),
            "none" if ndcg["p_value"] is None else f"{ndcg['p_value']:.2g}",  # one query: no test
            arrow(report["measures"]["nDCG@10"]),
            arrow(report["measures"]["R@1000"]),
            speed(report["latency_ms"], "top10"),
            speed(report["latency_ms"], "top1000"),
            f"{row['seconds']['extract']:.1f} / {row['seconds']['prune']:.1f}",
        ]
        lines.append(cells)
    return markdown_table(head, lines)


def arrow(measure: dict) -> str:
    return f"{measure['full']:.3f} -> {measure['pruned']:.3f}"


def speed(latency: dict, depth: str) -> str:
    full, pruned = (latency[name][depth]["mean"] for name in ("full", "pruned"))
    return f"{full:.2f} -> {pruned:.2f} (x{full / pruned:.1f})"


def write_summary(bench: Bench, output: Path) -> None:
    versions = bench.rows[0]["report"]["versions"]
    text = (
        f"# Full against pruned, {date.today().isoformat()}\n\n{table(bench.rows)}\n\n"
        "p: two-tailed paired t-test, Bonferroni over the measures of a row's report. Times: whole "
        "processes for extract and prune; queries inside one warm JVM, mean per query.\n\n"
        f"Machine: {machine()}.\n\nVersions: {json.dumps(versions)}\n\n"
        f"Commands, in order:\n\n{bench.commands.listing()}\n"
    )
    raw = {"machine": machine(), "commands": bench.commands.done, "rows": bench.rows}
    write_run(output, text, raw, ("README.md", "raw.json"))
    print(table(bench.rows))


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--only", nargs="*", help="names of collections (default: all)")
    parser.add_argument("--reduction", default="0.45")
    args = parser.parse_args()
    commands = Commands(args.collections.resolve(), args.work.resolve())
    bench = Bench(commands, args.reduction)
    for experiment in EXPERIMENTS:
        if args.only is None or experiment.collection in args.only:
            bench.measure(experiment)
    write_summary(bench, args.output)


if __name__ == "__main__":
    main()
