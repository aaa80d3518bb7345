"""The table as Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results import hardware, markdown_table, write_run
from table_bars import (
    BAR,
    OURS,
    OURS_TOO,
    RIDF,
    RULE,
    SIZES,
    TESTS_AGAINST_FULL,
    Entry,
    Line,
    at_bytes,
    judge,
    p_value,
    sign,
)
from table_work import MEASURES, commit

from tdv_lucene.comparison.content import versions_and_machine

Lines = Mapping[str, Mapping[str, Line]]
"""Model -> name of the row -> line."""

_HOW = (
    "Entries are means over all judged queries by trec_eval's definitions (a query without an "
    "answer counts 0). The two signs behind a mean compare it with the full index at its default "
    "parameters and at k1 and b (QLD: mu) tuned on the training queries: `+` significantly above, "
    "`-` significantly below, `=` neither. "
)


def write(output: Path, lines: Lines, names: list[str], steps: dict[str, Any]) -> str:
    """Write ``summary.md`` and ``raw.json`` to the folder ``output``; returns the summary."""
    machine = versions_and_machine()
    peers = [name for name in names if name not in (OURS, OURS_TOO)]
    bars = {model: judge(by_name, peers) for model, by_name in lines.items()}
    parts = [
        "# Learned against unlearned pruning, at the same size\n",
        _HOW + RULE + "\n",
        *[_bars(model, by_name) for model, by_name in bars.items() if model != "tfidf"],
        *[_table(model, m, by_name, names) for model, by_name in lines.items() for m in MEASURES],
        *[_same_bytes(model, by_name) for model, by_name in lines.items() if model != "tfidf"],
        _sizes(lines, names),
        _missing(lines, names),
        _circumstances(machine, steps),
    ]
    text = "\n".join(parts)
    raw = {
        **machine, **steps, "commit": commit(), "rule": RULE, "bars": bars,
        "entries": list(_entries(lines)),
    }  # fmt: skip
    write_run(output, text, raw, ("summary.md", "raw.json"))
    return text


def _bars(model: str, bars: list[dict[str, Any]]) -> str:
    said = {True: "reached", False: "missed", None: "open"}
    rows = [(b["bar"], said[b["reached"]], b["detail"]) for b in bars]
    return f"## The bars, {model}\n\n{markdown_table(('bar', '', ''), rows)}\n"


def _table(model: str, measure: str, lines: Mapping[str, Line], names: list[str]) -> str:
    sizes = [s for s in SIZES if any(line.at(n, s) for line in lines.values() for n in names)]
    head = ["row", "method", *(f"{size:.0%} removed" for size in sizes)]
    rows = []
    for name, line in lines.items():
        full = f"{line.full.mean(measure):.3f}"
        tuned = f", tuned {line.tuned.mean(measure):.3f}" if line.tuned else ""
        queries = len(line.full.values[measure])
        title = f"{name}, {queries} queries"
        rows.append([title, "full", f"{full}{tuned}"])
        for method in names:
            cells = [_cell(line, line.at(method, size), measure) for size in sizes]
            if any(cells):
                rows.append(["", method, *cells])
    return f"## {model}: {measure}\n\n{markdown_table(head, rows)}\n"


def _cell(line: Line, entry: Entry | None, measure: str) -> str:
    if entry is None:
        return ""
    signs = [
        sign(entry, base, measure, TESTS_AGAINST_FULL)
        for base in (line.full, line.tuned)
        if base is not None
    ]
    return f"{entry.mean(measure):.3f} {''.join(signs)}"


def _sizes(lines: Lines, names: list[str]) -> str:
    """What was really removed, and the bytes that came of it."""
    head = ["row", "model", "method", *(f"{size:.0%}" for size in SIZES)]
    rows = []
    seen = set()
    for model, by_name in lines.items():
        for name, line in by_name.items():
            for method in names:
                cells = [_size(line, line.at(method, size)) for size in SIZES]
                key = (line.full.about["bytes"], method, tuple(cells))  # unlearned: once an index
                if any(cells) and key not in seen:
                    seen.add(key)
                    rows.append([name, model, method, *cells])
    return (
        "## Sizes\n\nPostings removed / bytes of the postings file against the full index's / "
        "bytes of the whole index against the full one's; means over the folds.\n\n"
        f"{markdown_table(head, rows)}\n"
    )


def _same_bytes(model: str, lines: Mapping[str, Line]) -> str:
    """The same share of postings makes indexes of different size; here it is the same bytes."""
    head = ["row", *(f"RIDF {size:.0%}" for size in SIZES[1:])]
    rows = []
    for name, line in lines.items():
        cells = []
        for size in SIZES[1:]:
            peer = line.at(RIDF, size)
            if peer is None:
                cells.append("")
                continue
            wanted = peer.about["bytes"]
            means = [peer.mean(BAR), *(at_bytes(line, m, wanted) for m in (OURS, OURS_TOO))]
            shown = " / ".join("-" if mean is None else f"{mean:.3f}" for mean in means)
            cells.append(f"{wanted / line.full.about['bytes']:.0%}: {shown}")
        rows.append([name, *cells])
    return (
        f"## {model}: {BAR} at the bytes of RIDF's index\n\nBytes of the whole index against the "
        f"full one's: RIDF / {OURS} / {OURS_TOO}, the latter two between their measured sizes, - "
        f"where they have no index so small.\n\n{markdown_table(head, rows)}\n"
    )


def _size(line: Line, entry: Entry | None) -> str:
    if entry is None:
        return ""
    full, here = line.full.about, entry.about
    shares = [here[name] / full[name] for name in ("postings_bytes", "bytes")]
    return " / ".join(f"{share:.1%}" for share in (here["removed"], *shares))


def _missing(lines: Lines, names: list[str]) -> str:
    """Which cells were not measured, by model and method."""
    out = ["## Not measured\n"]
    for model, by_name in lines.items():
        wanted = [0.45] if model == "tfidf" else list(SIZES[1:])
        for method in names:
            if model == "tfidf" and method.endswith(", tuned"):
                continue  # it has nothing to tune
            gaps = {
                name: [size for size in wanted if line.at(method, size) is None]
                for name, line in by_name.items()
            }
            rows = [
                name if gap == wanted else f"{name} at {', '.join(f'{s:.0%}' for s in gap)}"
                for name, gap in gaps.items()
                if gap
            ]
            if rows:
                every = len(rows) == len(by_name) and all(gap == wanted for gap in gaps.values())
                out.append(f"- {model}, {method}: {'every row' if every else '; '.join(rows)}")
    return "\n".join(out if len(out) > 1 else [*out, "Nothing is missing."]) + "\n"


def _circumstances(machine: dict[str, Any], steps: dict[str, Any]) -> str:
    return (
        f"## How\n\n```\n{steps['command']}\n```\n\n"
        f"Commit {commit()}; cells measured at {', '.join(steps['commits'])}. "
        f"Machine: {hardware()}.\n\nVersions: {json.dumps(machine['versions'])}\n\n"
        f"Failed: {'; '.join(steps['failures']) or 'nothing'}.\n"
    )


def _entries(lines: Lines) -> Any:
    for model, by_name in lines.items():
        for name, line in by_name.items():
            systems = [("full", None, line.full)]
            systems += [("full, tuned", None, line.tuned)] if line.tuned else []
            systems += [(m, s, e) for m, sizes in line.methods.items() for s, e in sizes.items()]
            for method, size, entry in systems:
                compared = {
                    f"p against {against}, {measure}": float(
                        f"{p_value(entry, base, measure, TESTS_AGAINST_FULL):.3g}"
                    )
                    for against, base in (("full", line.full), ("tuned", line.tuned))
                    if base is not None and size is not None
                    for measure in MEASURES
                }
                yield {
                    "row": name, "model": model, "method": method, "size": size,
                    **{measure: round(entry.mean(measure), 5) for measure in MEASURES},
                    **compared, **entry.about,
                }  # fmt: skip
