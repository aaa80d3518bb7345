"""What fidelity costs: two tiers at many reductions and depths, each collection by itself.

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
from prior_collections import ROWS, QuerySet, _is_about, source_of, sources_of
from results import in_lines

from tdv_lucene import read_qrels, read_topics
from tdv_lucene.evaluation.measures import evaluate_run
from tdv_lucene.evaluation.runs import Run
from tdv_lucene.index.index import Index
from tdv_lucene.index.queries import searchable_topics
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.pruning.config import PruneConfig
from tdv_lucene.pruning.targets import target_of
from tdv_lucene.pruning.tiers import DEPTHS, REDUCTIONS, Candidates, plan_tiers
from tdv_lucene.pruning.writing import Task
from tdv_lucene.ranking.parameters import Tiers
from tdv_lucene.values.posting_rule import CORRECTED_AT

MEASURES, MOST, SEED = ("nDCG@5", "nDCG@10"), 400, 0
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
    """Query set -> what the whole and each pair of reduction and depth is worth on it."""
    row, place = ROWS[name], work / f"{name}-tiers"
    place.mkdir(parents=True, exist_ok=True)
    with Index.open(sources_of(name, folder, work).index_with_positions) as index:
        values = prior_values_of_index(index, reductions=CORRECTED_AT)
        config = PruneConfig(tiers=True)
        task = Task(str(place / "none"), config, searcher=index.searcher, told=TOLD)
        plan = partial(
            plan_tiers, values, depth=1, config=config, has_norms=True, what=name,
            target=target_of(index.searcher, config.target),
        )  # fmt: skip
        plans = {r: plan(reduction=r, name=f"hot_{n}") for n, r in enumerate(REDUCTIONS)}
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
    by_log, by_asked = (candidates.measure(topics, DEPTHS) for topics in (log, asked))
    cells = [
        {**one.describe(), "cost": one.cost, "fidelity_there": there.fidelity,
         "values": values(candidates, one.reduction, one.depth, asked, judged)}
        for one, there in zip(by_log, by_asked)
    ]  # fmt: skip
    whole = values(candidates, None, 0, asked, judged)
    return {"queries": len(asked), "whole": whole, "cells": cells}


def values(
    candidates: Candidates, reduction: float | None, depth: int, asked: Mapping[str, str],
    judged: Any,
) -> list[float]:  # fmt: skip
    tiers = None
    if reduction is not None:
        tiers = Tiers(candidates.field, candidates.fields[reduction], depth)
    with candidates.searched(tiers) as search:
        hits = search(asked, 10)
    run = Run.of_hits([*asked], hits, hits.scores)
    means = evaluate_run(run, asked, judged).means()
    return [round(means[measure], 5) for measure in MEASURES]


def chosen(cells: list[dict[str, Any]], least: float) -> dict[str, Any] | None:
    enough = [cell for cell in cells if cell["fidelity"] >= least]
    return min(enough, key=lambda cell: cell["cost"], default=None)


def losses(raw: Mapping[str, Any], least: float) -> Iterator[tuple[str, str, Any, np.ndarray]]:
    """Collection, query set, the cell chosen at a fidelity, and its losses as shares."""
    for name, sets in raw.items():
        for label, of in sets.items():
            cell = chosen(of["cells"], least)
            found = of["whole"] if cell is None else cell["values"]
            yield name, label, cell, 1 - np.array(found) / np.maximum(of["whole"], 1e-9)


if __name__ == "__main__":
    main()
