"""The files of a comparison: the report, and what was measured of every query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..evaluation.evaluate import Evaluation
from ..timing.latency import MODES, Latency
from ..timing.latency_summary import QueryTerms
from .systems import QuerySet, Results


def ending(sets: Sequence[object], queries: QuerySet) -> str:
    """What the names of a query set's files end with: its label, where there are several sets."""
    return f".{queries.label}" if len(sets) > 1 else ""


def write_files(
    folder: Path,
    report: dict[str, Any],
    results: Sequence[Results],
    latency: Latency,
    words: Sequence[Mapping[str, QueryTerms]],
) -> None:
    """Write all of a comparison's folder but its runs and the latencies as measured."""
    from ..report.page import render_page
    from ..report.page_data import Measured

    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    for result in results:
        _write_per_query(
            folder / f"per_query{ending(results, result.queries)}.tsv", result.evaluations
        )
    _write_latency(folder / f"latency{ending(results, results[0].queries)}.tsv", latency)
    measured = [
        Measured(result.queries.label, result.queries.topics, result.evaluations, terms)
        for result, terms in zip(results, words)
    ]
    page = render_page(report, measured, latency)
    (folder / "report.html").write_text(page, encoding="utf-8")


def _write_per_query(path: Path, evaluations: Mapping[str, Evaluation]) -> None:
    measures = next(iter(evaluations.values())).values
    columns = {
        f"{measure} {name}": evaluation.values[measure]
        for measure in measures
        for name, evaluation in evaluations.items()
    }
    queries = next(iter(evaluations.values())).queries
    lines = ["\t".join(["query", *columns])]
    for i, query in enumerate(queries):
        lines.append("\t".join([query, *(f"{values[i]:.6f}" for values in columns.values())]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_latency(path: Path, latency: Latency) -> None:
    """A line a query, in the order of ``latency_ns.npy``."""
    columns = {
        f"{mode} ms {name}": [f"{ms:.6f}" for ms in latency.per_query_ms(mode, name)]
        for mode in MODES
        for name in latency.names
    }
    columns |= {
        f"{mode} postings {name}": [str(count) for count in counts[i]]
        for mode, counts in latency.postings_visited.items()
        for i, name in enumerate(latency.names)
    }
    rows = zip(latency.queries, *columns.values())
    lines = ["\t".join(row) for row in (("query", *columns), *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
