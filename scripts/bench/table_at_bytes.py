#!/usr/bin/env python3
"""Learned pruning against each unlearned one in indexes of the same number of bytes.

Reads the raw figures of two runs of `table.py`, one of today's recipe and one with the unlearned
methods, which no recipe changes. Between the sizes of an unlearned method nDCG@5 is interpolated
linearly in bytes; the full index is the largest.

    scripts/bench/table_at_bytes.py --ours RUN/raw.json --peers RUN/raw.json [--output FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from results import markdown_table
from table_bars import interpolate

PEERS = ("df", "ridf", "carmel-uniform", "carmel-delta", "carmel-epsilon")
SIZES = (0.45, 0.6)
Curve = dict[float, float]
"""Bytes -> nDCG@5."""


def curves(entries: list[dict]) -> dict[tuple[str, str, str], Curve]:
    """(row, model, method) -> its curve from the full index down."""
    found: dict[tuple[str, str, str], Curve] = defaultdict(dict)
    for entry in entries:
        if entry["size"] is not None:
            key = entry["row"], entry["model"], entry["method"]
            found[key][entry["bytes"]] = entry["nDCG@5"]
    full = {(e["row"], e["model"], e["method"]): e for e in entries if e["size"] is None}
    for (row, model, method), curve in found.items():
        start = "full, tuned" if method.endswith(", tuned") else "full"
        if (row, model, start) in full:
            curve[full[row, model, "full"]["bytes"]] = full[row, model, start]["nDCG@5"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ours", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--method", default="tdv")
    parser.add_argument("--output", type=Path, help="default: standard output alone")
    args = parser.parse_args()
    ours = json.loads(args.ours.read_text(encoding="utf-8"))["entries"]
    theirs = curves(json.loads(args.peers.read_text(encoding="utf-8"))["entries"])
    every = [*PEERS, *(f"{peer}, tuned" for peer in PEERS)]
    rows = []
    for entry in ours:
        if entry["method"] != args.method or entry["size"] not in SIZES:
            continue
        cells = []
        for peer in every:
            curve = theirs.get((entry["row"], entry["model"], peer), {})
            found = interpolate(curve, entry["bytes"])
            cells.append("-" if found is None else f"{entry['nDCG@5'] - found:+.3f}")
        rows.append([entry["row"], entry["model"], f"{entry['size']:.0%}",
                     f"{entry['bytes'] / 1e6:.2f}", f"{entry['nDCG@5']:.3f}", *cells])  # fmt: skip
    head = ("row", "model", "dropped", "MB", "nDCG@5", *(f"over {peer}" for peer in every))
    table = markdown_table(head, rows)
    print(table)
    if args.output:
        args.output.write_text(f"{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
