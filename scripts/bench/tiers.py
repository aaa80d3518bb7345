"""What fidelity costs: two tiers at many reductions and margins, each collection by itself.

One half of a query set is a log, the other is judged. No judgement chooses anything on its own set.

    python scripts/bench/tiers.py --collections DIR --work WORK --output RUN [--only NAME...]
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prior_collections import ROWS, QuerySet, _is_about, source_of, sources_of
from results import in_lines

from tdv_lucene import read_qrels, read_topics
from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.measures import evaluate_run
from tdv_lucene.index.index import Index
from tdv_lucene.index.queries import searchable_topics
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.pruning.config import PruneConfig
from tdv_lucene.pruning.targets import target_of
from tdv_lucene.pruning.tiers import (
    DEPTH,
    MARGINS,
    REDUCTIONS,
    Candidates,
    Found,
    faithful,
    fastest,
    plan_tiers,
)
from tdv_lucene.pruning.writing import Task
from tdv_lucene.ranking.parameters import Tiers
from tdv_lucene.values.posting_rule import CORRECTED_AT

MEASURES, MOST, SEED = ("nDCG@5", "nDCG@10"), 400, 0
LEAST = (0.95, 0.96, 0.97, 0.98)
TOLD = {"validated": {}, "fidelity": None, "chosen": None, "defaults": "", "tiers": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[*ROWS])
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    file = arguments.output / "raw.json"
    raw: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    for name in arguments.only:
        if name not in raw and source_of(name, arguments.collections).exists():
            raw[name] = measured(name, arguments.collections, arguments.work)
            file.write_text(in_lines(raw, 3) + "\n", encoding="utf-8")
            print(name, flush=True)


def measured(name: str, folder: Path, work: Path) -> dict[str, Any]:
    """Query set -> what the whole and each pair of reduction and margin is worth on it."""
    row, place = ROWS[name], work / f"{name}-tiers"
    place.mkdir(parents=True, exist_ok=True)
    with Index.open(sources_of(name, folder, work).index_with_positions) as index:
        values = prior_values_of_index(index, reductions=CORRECTED_AT)
        config = PruneConfig(tiers=True)
        task = Task(str(place / "none"), config, searcher=index.searcher, told=TOLD)
        plan = partial(
            plan_tiers, values, config=config, has_norms=True, what=name,
            target=target_of(index.searcher, config.target),
        )  # fmt: skip
        plans = {r: plan(r, Tiers("contents", f"hot_{n}", DEPTH)) for n, r in enumerate(REDUCTIONS)}
        with Candidates.write(index, plans, task) as candidates:
            found = {
                each.label(name): of_set(candidates, *halves(each, source_of(name, folder)))
                for each in row.sets
            }
    shutil.rmtree(place)
    return found


def halves(each: QuerySet, source: Path) -> tuple[dict[str, str], dict[str, str], Any]:
    """A log, the queries to be judged, and their judgements."""
    end = f".{each.suffix}" if each.suffix else ""
    texts, judged = (
        read_topics(source / f"queries{end}.tsv"),
        read_qrels(source / f"qrels{end}.txt"),
    )
    ids = sorted(q for q in texts if _is_about(each.documents, judged.get(q, {})))
    drawn = [ids[i] for i in np.random.default_rng(SEED).permutation(len(ids))[: 2 * MOST]]
    log, asked = ({q: texts[q] for q in some} for some in (drawn[::2], drawn[1::2]))
    return log, asked, judged


def of_set(
    candidates: Candidates, log: Mapping[str, str], asked: Mapping[str, str], judged: Any
) -> dict[str, Any]:
    how = candidates.field, candidates.analysis
    log, asked = searchable_topics(log, *how), searchable_topics(asked, *how)
    cells = []
    with candidates.searched() as search:
        by_log, by_asked = (
            candidates.measure(search, topics, MARGINS, DEPTH) for topics in (log, asked)
        )
        answers = {
            hot: [Found.of(search.in_tiers(Tiers(candidates.field, hot, depth))(asked, DEPTH))
                  for depth in (0, DEPTH)]
            for hot in candidates.hot.values()
        }  # fmt: skip
        for one, there in zip(by_log, by_asked):
            found = [within(one.tiers, *pair) for pair in zip(*answers[one.tiers.hot])]
            cells.append(
                {**one.describe(), "fidelity_there": there.fidelity,
                 "values": values(found, asked, judged)}
            )  # fmt: skip
        chosen = {f"{least}": fast(search, candidates, by_log, least, log) for least in LEAST}
        whole = [each.documents[:10] for each in Found.of(search(asked, 10))]
        visits = sum(search.visits(log, 10)) / len(log)
    return {"queries": len(asked), "whole": values(whole, asked, judged), "cells": cells,
            "chosen": chosen, "visits_whole": visits}  # fmt: skip


def within(tiers: Tiers, hot: Found, ranked: Found) -> list[bytes]:
    """The ten best of those that the margin leaves: the whole's order of the hot field's first."""
    left = {*hot.documents[: tiers.candidates(hot.scores, 10)]}
    return [document for document in ranked.documents if document in left][:10]


def fast(search: Any, candidates: Candidates, measured: Any, least: float, log: Any) -> Any:
    try:
        found, visits = fastest(search, faithful(measured, least), log)
    except TdvError:
        return None
    return {"reduction": found.reduction, "margin": found.tiers.margin, "visits": visits}


def values(found: list[list[bytes]], asked: Mapping[str, str], judged: Any) -> list[float]:
    """nDCG@5 and nDCG@10, mean over the queries."""
    rows = [
        (query, name.decode(), float(-rank))
        for query, documents in zip(asked, found)
        for rank, name in enumerate(documents)
    ]
    run = pd.DataFrame(rows, columns=["query", "docid", "score"])
    means = evaluate_run(run, asked, judged).means()
    return [round(means[measure], 5) for measure in MEASURES]


def losses(raw: Mapping[str, Any], least: float) -> Iterator[tuple[str, str, Any, np.ndarray]]:
    """Collection, query set, the cell chosen at a fidelity, and its losses as shares."""
    for name, sets in raw.items():
        for label, of in sets.items():
            chosen = of["chosen"][f"{least}"]
            cell = chosen and next(
                cell for cell in of["cells"]
                if all(cell[k] == chosen[k] for k in ("reduction", "margin"))
            )  # fmt: skip
            found = of["whole"] if cell is None else cell["values"]
            yield name, label, cell, 1 - np.array(found) / np.maximum(of["whole"], 1e-9)


if __name__ == "__main__":
    main()
