#!/usr/bin/env python3
"""Twelve collections in other languages and of passages: full, tuned, without judgements, learned.

    scripts/bench/languages.py --collections DIR --work DIR --output RUN [--only fr-piaf ...]

The prior is the one made without the collection. Learning starts from it and sees the training
half, or 600 queries of it, drawn at random; all is measured on the other half, by `compare`.
Analyses are named: terms alone do not always tell, and these indexes store no text. ``--work``
holds the indexes and matrices (see ``prior_collections.py``). The full index is the one without
positions, which the pruned ones do not have either. Collections that ``RUN/raw.json`` has are not
measured again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from commands import Commands
from prior_collections import ROWS, source_of, sources_of
from prior_settings import left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene import learn_term_values, load_matrix, read_qrels, read_topics
from tdv_lucene.evaluation.topics import Qrels, Topics
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.learning.prior import KINDS, prior_values

COLLECTIONS = tuple(name for name, row in ROWS.items() if row.subfolder == "lang")
UNJUDGED = {kind: f"unjudged-{kind}" for kind in KINDS}
SYSTEMS = ("full", "full-tuned", *UNJUDGED.values(), "learned")
MEASURES = ("nDCG@5", "R@100", "R@1000")
_MOST_TRAINING = 600
"""Queries; of more, learning would take hours for all twelve."""


def measure(name: str, collections: Path, work: Path, prior_run: Path) -> dict[str, Any]:
    """What `compare` says of all systems, on the test half."""
    source, sources, prior = (
        source_of(name, collections), sources_of(name, collections, work),
        prior_without(name, prior_run),
    )  # fmt: skip
    topics, qrels = _training(source)
    matrix = load_matrix(sources.matrix_with_positions)
    values = {n: prior_values(matrix, prior=prior, expect=kind) for kind, n in UNJUDGED.items()}
    analysis = ROWS[name].analysis
    flags = analysis.flags().split()
    values["learned"] = learn_term_values(
        matrix, analyze_topics(topics, "contents", analysis), qrels, prior=prior
    )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        commands = Commands(collections, made)
        _write(made / "train.tsv", (f"{qid}\t{text}" for qid, text in topics.items()))
        _write(
            made / "train.qrels",
            (f"{qid} 0 {doc} {grade}" for qid in qrels for doc, grade in qrels[qid].items()),
        )
        for system, of_system in values.items():
            of_system.save(made / f"{system}-values")
            commands.run(
                "prune", "--index", sources.index_with_positions, "--output", made / system,
                "--tdv", made / f"{system}-values", *flags,
            )  # fmt: skip
        report = commands.run(
            "compare", "--index", f"full={sources.index}",
            *(word for system in values for word in ("--index", f"{system}={made / system}")),
            "--topics", source / "queries.test.tsv", "--qrels", source / "qrels.test.txt",
            "--tune-topics", made / "train.tsv", "--tune-qrels", made / "train.qrels",
            "--measures", "R@100", "--latency-budget", "1", "--output", made / "report", *flags,
        )  # fmt: skip
    kept = ("queries", "indexes", "tuning", "versions")
    means = {name: report["measures"][name]["means"] for name in MEASURES}
    return {**{key: report[key] for key in kept}, "measures": means}


def _training(source: Path) -> tuple[Topics, Qrels]:
    """Its training half, or so many queries of it."""
    topics, qrels = (
        read_topics(source / "queries.train.tsv"),
        read_qrels(source / "qrels.train.txt"),
    )
    order = np.random.default_rng(0).permutation(len(topics))[:_MOST_TRAINING]
    ids = [qid for number, qid in enumerate(topics) if number in {*order.tolist()}]
    return {qid: topics[qid] for qid in ids}, {qid: qrels[qid] for qid in ids}


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def table(raw: dict[str, Any]) -> str:
    rows = []
    for name, report in raw.items():
        kind = ROWS[name].sets[0].kind
        for system in SYSTEMS:
            index = report["indexes"].get(system, report["indexes"]["full"])
            full = report["indexes"]["full"]
            first = (
                (name, kind, str(report["queries"]["judged"])) if system == "full" else ("",) * 3
            )
            sizes = f"{index['bytes']:,}", f"{1 - index['postings'] / full['postings']:.0%}"
            rows.append((*first, system, *(_cell(report, m, system) for m in MEASURES), *sizes))
    head = ("collection", "queries are", "queries", "system", *MEASURES, "bytes", "dropped")
    return markdown_table(head, rows)


def _cell(report: dict[str, Any], measure: str, system: str) -> str:
    value: float = report["measures"][measure][system]
    return f"{value:.3f}"


def main() -> None:
    args = left_out_parser(__doc__, COLLECTIONS).parse_args()
    kept = args.output / "raw.json"
    raw = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name in args.only:
        if name not in raw:
            raw[name] = measure(name, args.collections, args.work, args.prior_run)
            text = f"{machine()}\n\n{table(raw)}\n"
            write_run(args.output, text, raw, ("tables.md", "raw.json"))
    print(table(raw))


if __name__ == "__main__":
    main()
