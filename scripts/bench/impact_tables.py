"""The tables of ``impact.py``: ours beside its peers, by the bytes that are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from impact_collections import KINDS
from impact_peers import PEERS
from results import machine, markdown_table

SHOWN = ("nDCG@5", "nDCG@10", "R@1000")
FULL, OURS, TIMED = "full", "ours", "max_ratio"
DEPTHS = ("top10", "top1000")


def markdown(raw: Mapping[str, Any]) -> str:
    """Both tables of each kind of weights, and how long the steps took."""
    about = raw["about"]
    parts = [f"# Impact indexes of {about['collection']}", machine()]
    for kind in KINDS:
        rows = [*_rows(raw, kind)]
        columns = [f"{name}: {', '.join(SHOWN)}" for name in about["sets"]]
        if rows:
            parts += [f"## {kind}", markdown_table(["method", "dropped", "MB", *columns], rows)]
        timed = [*_timed(raw, kind)]
        if timed:
            parts += ["ms a query, mean, and times as fast as full; nDCG@10 by `compare`.",
                      markdown_table(["", "MB", *about["sets"]], timed)]  # fmt: skip
    steps = [[label, f"{seconds:,.0f}"] for label, seconds in raw["seconds"].items()]
    return "\n\n".join([*parts, "## Steps", markdown_table(["step", "seconds"], steps)]) + "\n"


def _rows(raw: Mapping[str, Any], kind: str) -> Iterator[list[str]]:
    """By share: ours, then the peers of its bytes."""
    known = {name: raw["rows"].get(f"{kind}: {name}", []) for name in (FULL, OURS, *PEERS)}
    for share in (None, *raw["about"]["shares"]):
        for name, rows in known.items():
            for row in rows:
                if row["share"] == share:
                    cells = [", ".join(f"{of[m]:.3f}" for m in SHOWN)
                             for of in row["measured"].values()]  # fmt: skip
                    yield [name, f"{row['dropped']:.1%}", _megabytes(row["bytes"]), *cells]


def _timed(raw: Mapping[str, Any], kind: str) -> Iterator[list[str]]:
    found = {name: raw["latency"].get(f"{kind}: {name}") for name in raw["about"]["sets"]}
    if not all(found.values()):
        return
    for measure in (*DEPTHS, "nDCG@10"):
        for each in (FULL, OURS, TIMED):
            cells = []
            for of in found.values():
                times = f" (x{of[FULL][measure] / of[each][measure]:.2f})"
                cells.append(f"{of[each][measure]:.3f}" + (times if measure in DEPTHS else ""))
            size = next(iter(found.values()))[each]["bytes"]
            yield [f"{measure}: {each}", _megabytes(size), *cells]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g}"
