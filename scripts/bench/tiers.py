"""What fidelity costs: two tiers at many reductions and margins, each collection by itself.

One half of a query set is a log, the other is judged; sets of too few queries are left out. No
judgement chooses anything on its own set.

    python scripts/bench/tiers.py --collections DIR --work WORK --output RUN [--only NAME...]
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prior_collections import ROWS, QuerySet, _is_about, source_of, sources_of
from results import in_lines

from tdv_lucene import Analysis, read_qrels, read_topics
from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.measures import evaluate_run
from tdv_lucene.index.analysis import analysis_of
from tdv_lucene.index.index import Index
from tdv_lucene.index.queries import searchable_topics
from tdv_lucene.jvm.searcher import OpenSearch
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.pruning.config import PruneConfig
from tdv_lucene.pruning.tiers import (
    DEPTH,
    FEWEST_QUERIES,
    FIDELITY,
    MARGINS,
    REDUCTIONS,
    Candidates,
    Found,
    Measured,
    faithful,
    fastest,
    plan_alike,
)
from tdv_lucene.pruning.writing import Task
from tdv_lucene.ranking.parameters import Tiers
from tdv_lucene.report.table import Table, to_markdown
from tdv_lucene.values.posting_rule import CORRECTED_AT

MEASURES, MOST, SEED = ("nDCG@5", "nDCG@10"), 400, 0
LEAST = (0.95, 0.96, 0.97, 0.98)
TOLD = {"validated": {}, "chosen": None, "defaults": "", "tiers": None}


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
    text = to_markdown([table_of(raw), least_of(raw)])
    (arguments.output / "tables.md").write_text(text, encoding="utf-8")


def measured(name: str, folder: Path, work: Path) -> dict[str, Any]:
    """Query set -> what the whole and each pair of reduction and margin is worth on it."""
    row, place = ROWS[name], work / f"{name}-tiers"
    place.mkdir(parents=True, exist_ok=True)
    with Index.open(sources_of(name, folder, work).index_with_positions) as index:
        values = prior_values_of_index(index, reductions=CORRECTED_AT)
        config = PruneConfig(tiers=True)
        task = Task(str(place / "none"), config, searcher=index.searcher, told=TOLD)
        analysis = analysis_of(index, config.field).analysis
        with Candidates.write(
            index, *plan_alike(values, REDUCTIONS, config, index), {}, task
        ) as candidates:
            given = {each.label(name): halves(each, source_of(name, folder)) for each in row.sets}
            found = {
                label: of_set(candidates, analysis, log, asked, judged)
                for label, (log, asked, judged) in given.items()
                if len(log) >= FEWEST_QUERIES
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
    candidates: Candidates, analysis: Analysis, log: Mapping[str, str], asked: Mapping[str, str],
    judged: Any,
) -> dict[str, Any]:  # fmt: skip
    search, how = candidates.search, (candidates.field, analysis)
    log, asked = searchable_topics(log, *how), searchable_topics(asked, *how)
    by_log, by_asked = (candidates.measure(topics, MARGINS, DEPTH) for topics in (log, asked))

    def cell(at: int, visits: float) -> dict[str, Any]:
        tiers, there = by_log[at].tiers, by_asked[at].fidelity
        pair = [Found.of(search.in_tiers(tiers._replace(depth=n, margin=0))(asked, DEPTH))
                for n in (0, DEPTH)]  # fmt: skip
        found = [within(tiers, *both) for both in zip(*pair)]
        told = {**by_log[at].describe(), "fidelity_there": there, "visits": visits}
        return {**told, "values": values(found, asked, judged)}

    picked = {f"{least}": fast(search, by_log, least, log) for least in LEAST}
    whole = [each.documents[:10] for each in Found.of(search(asked, 10))]
    visits = sum(search.visits(log, 10)) / len(log)
    return {
        "queries": len(asked), "whole": values(whole, asked, judged), "visits_whole": visits,
        "best": max(one.sure for one in by_log),
        "chosen": {name: each and cell(*each) for name, each in picked.items()},
    }  # fmt: skip


def within(tiers: Tiers, hot: Found, ranked: Found) -> list[bytes]:
    """The ten best of those that the margin leaves: the whole's order of the hot field's first."""
    left = {*hot.documents[: tiers.candidates(hot.scores, 10)]}
    return [document for document in ranked.documents if document in left][:10]


def fast(
    search: OpenSearch, tried: list[Measured], least: float, log: Mapping[str, str]
) -> tuple[int, float] | None:
    """The place of the fastest that is so faithful, and the postings that a query stops at."""
    try:
        found, visits, _ = fastest(search, faithful(tried, least), log)
    except TdvError:
        return None
    return tried.index(found), visits


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


def sets_of(raw: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Collection, query set, and what was measured of it."""
    for name, sets in raw.items():
        for label, of in sets.items():
            yield name, label, of


def gains(of: Mapping[str, Any], least: float) -> list[float]:
    """What both tiers gain on the whole field, as shares; nothing where none is so faithful."""
    chosen = of["chosen"][f"{least}"]
    found = of["whole"] if chosen is None else chosen["values"]
    return [tiers / whole - 1 for tiers, whole in zip(found, of["whole"])]


def table_of(raw: Mapping[str, Any]) -> Table:
    """Return what is chosen by the default fidelity, and what that gains."""
    rows = []
    for _, label, of in sets_of(raw):
        chosen = of["chosen"][f"{FIDELITY}"]
        cells = [f"none: {of['best']:.3f}", "", "", ""]
        if chosen is not None:
            cells = [
                f"{chosen['reduction']:g}, {chosen['query_terms']:g}, {chosen['margin']:g}: "
                f"{chosen['ranked']:.0f}",
                f"{chosen['fidelity']:.3f}, {chosen['fidelity_there']:.3f}",
                f"{chosen['visits']:,.0f} of {of['visits_whole']:,.0f}",
                ", ".join(f"{100 * gain:+.1f} %" for gain in gains(of, FIDELITY)),
            ]
        rows.append((label, f"{of['queries']}", *cells))
    heads = ("queries", "asked", "reduction, terms, margin: documents ranked",
             "fidelity: log, other half", "postings a query, of the whole's",
             "nDCG@5, @10")  # fmt: skip
    return Table("Each query set", heads, rows)


def least_of(raw: Mapping[str, Any]) -> Table:
    """Return which sets lose more than 1 % at each fidelity."""
    rows = []
    for least in LEAST:
        over = [
            f"{label} {100 * worst:.1f} %"
            for _, label, of in sets_of(raw)
            if (worst := min(gains(of, least))) < -0.01
        ]
        none = sum(of["chosen"][f"{least}"] is None for _, _, of in sets_of(raw))
        rows.append((f"{least}", f"{none}", ", ".join(over)))
    return Table("Least fidelity", ("fidelity", "sets that none reaches", "lose 1 % or more"), rows)


if __name__ == "__main__":
    main()
