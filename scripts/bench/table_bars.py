"""Significance of the table's entries, and the bars that were set for it, judged mechanically."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tdv_lucene.evaluation.significance import t_test

SIZES = (0.0, 0.3, 0.45, 0.6, 0.7)
ALPHA = 0.05
BAR = "nDCG@5"
RECALL = "R@1000"
OURS, RIDF = "tdv", "ridf"
OURS_TOO = "tdv-df2"
"""The same values, terms of a single document given up as well."""
TESTS_AGAINST_FULL = len(SIZES) * 2
TESTS_AGAINST_RIDF = len(SIZES) - 1
RULE = (
    f"Two-tailed paired t-test at {ALPHA:g}, p multiplied (Bonferroni) by the tests made on one "
    f"row, model, method and measure: {TESTS_AGAINST_FULL} against the full index ({len(SIZES)} "
    f"sizes, default and tuned parameters), {TESTS_AGAINST_RIDF} against RIDF (sizes above 0)."
)


@dataclass(frozen=True)
class Entry:
    """A system's per-query values of one row, in the row's order of queries."""

    values: Mapping[str, np.ndarray]
    about: Mapping[str, Any]

    def mean(self, measure: str) -> float:
        return float(self.values[measure].mean())


@dataclass(frozen=True)
class Line:
    """One row and model: the full index both ways, and every method at every size done."""

    full: Entry
    tuned: Entry | None
    methods: Mapping[str, Mapping[float, Entry]]

    def at(self, method: str, size: float) -> Entry | None:
        return self.methods.get(method, {}).get(size)


def p_value(entry: Entry, baseline: Entry, measure: str, tests: int) -> float:
    """Bonferroni-corrected."""
    p, _ = t_test(entry.values[measure] - baseline.values[measure])
    return 1.0 if p is None else min(1.0, p * tests)


def sign(entry: Entry, baseline: Entry, measure: str, tests: int) -> str:
    """``+`` or ``-`` where the difference is significant, else ``=``."""
    if p_value(entry, baseline, measure, tests) >= ALPHA:
        return "="
    return "+" if entry.mean(measure) > baseline.mean(measure) else "-"


def at_bytes(line: Line, method: str, wanted: float) -> float | None:
    """The mean nDCG@5 of a method whose index has ``wanted`` bytes.

    Linear between its two sizes around that; None where all its indexes are larger, or smaller.
    """
    entries = line.methods.get(method, {}).values()
    return interpolate({e.about["bytes"]: e.mean(BAR) for e in entries}, wanted)


def interpolate(means: Mapping[int, float], wanted: float) -> float | None:
    """The mean at ``wanted`` bytes, linear between the two sizes around; None outside of all."""
    sizes = sorted(means)
    if not sizes or not sizes[0] <= wanted <= sizes[-1]:
        return None
    return float(np.interp(wanted, sizes, [means[size] for size in sizes]))


def judge(lines: Mapping[str, Line], peers: list[str]) -> list[dict[str, Any]]:
    """Return the bars: ``bar``, ``reached`` (None: hangs on what is missing), ``detail``."""
    return [*_against_full(lines), *_against_peers(lines, peers)]


def _against_full(lines: Mapping[str, Line]) -> Iterator[dict[str, Any]]:
    def entries(size: float) -> dict[str, tuple[Line, Entry]]:
        return {n: (line, e) for n, line in lines.items() if (e := line.at(OURS, size))}

    def baselines(line: Line) -> list[Entry]:
        return [b for b in (line.full, line.tuned) if b]

    at = entries(0.0)
    above = [
        name for name, (line, e) in at.items()
        if all(sign(e, b, BAR, TESTS_AGAINST_FULL) == "+" for b in baselines(line))
    ]  # fmt: skip
    below = [
        f"{name} ({e.mean(BAR) - b.mean(BAR):+.3f})"
        for name, (line, e) in at.items()
        for b in baselines(line)
        if e.mean(BAR) < b.mean(BAR)
    ]
    yield _bar(
        "0 %: nDCG@5 significantly above full (default and tuned) on at least 5 rows",
        len(above) >= 5, at, lines, f"{len(above)} rows: {', '.join(above) or 'none'}", True,
    )  # fmt: skip
    yield _bar("0 %: below it on none", not below, at, lines, ", ".join(below) or "none")
    at = entries(0.45)
    yield _not_lower(lines, at, BAR, 1.0, "45 %: nDCG@5 above full on every row", strict=True)
    above = [n for n, (line, e) in at.items() if sign(e, line.full, BAR, TESTS_AGAINST_FULL) == "+"]
    yield _bar("45 %: significantly on four or more", len(above) >= 4, at, lines,
               f"{len(above)} rows: {', '.join(above) or 'none'}", True)  # fmt: skip
    yield _not_lower(lines, at, RECALL, 0.99, "45 %: R@1000 within 1 % of full on every row")
    at = entries(0.6)
    yield _not_lower(lines, at, BAR, 1.0, "60 %: nDCG@5 not below full on any row")
    yield _not_lower(lines, at, RECALL, 0.98, "60 %: R@1000 within 2 % of full on every row")


def _not_lower(
    lines: Mapping[str, Line],
    at: Mapping[str, tuple[Line, Entry]],
    measure: str,
    share: float,
    bar: str,
    strict: bool = False,
) -> dict[str, Any]:
    """Whether the mean reaches ``share`` of the full index's (default parameters)."""
    missed = []
    for name, (line, entry) in at.items():
        full, here = line.full.mean(measure), entry.mean(measure)
        if here < share * full or (strict and here == full):
            missed.append(f"{name} {full:.3f} -> {here:.3f} ({here / full - 1:+.1%})")
    return _bar(bar, not missed, at, lines, "missed: " + "; ".join(missed) if missed else "all")


def _against_peers(lines: Mapping[str, Line], peers: list[str]) -> Iterator[dict[str, Any]]:
    for peer in peers:
        pairs = list(_pairs(lines, peer))
        if not pairs:
            continue
        lower = [
            f"{name} {size:.0%} ({ours.mean(BAR) - theirs.mean(BAR):+.3f})"
            for name, size, ours, theirs in pairs
            if ours.mean(BAR) < theirs.mean(BAR)
        ]
        there = {name for name, *_ in pairs}
        yield _bar(
            f"every size: nDCG@5 at or above {peer} on every row",
            not lower, there, lines,
            f"{len(pairs) - len(lower)} of {len(pairs)} cells; below: "
            + (", ".join(lower) or "none"),
        )  # fmt: skip
    for peer in (RIDF, f"{RIDF}, tuned"):
        pairs = list(_pairs(lines, peer))
        if not pairs:
            continue
        above = [
            (name, size) for name, size, ours, theirs in pairs
            if sign(ours, theirs, BAR, TESTS_AGAINST_RIDF) == "+"
        ]  # fmt: skip
        yield _bar(
            f"every size above 0: nDCG@5 significantly above {peer} on half of the cells",
            2 * len(above) >= len(pairs), {name for name, *_ in pairs}, lines,
            f"{len(above)} of {len(pairs)} cells; rows at 45 %: "
            + (", ".join(name for name, size in above if size == 0.45) or "none"),
        )  # fmt: skip


def _pairs(lines: Mapping[str, Line], peer: str) -> Iterator[tuple[str, float, Entry, Entry]]:
    for name, line in lines.items():
        for size in SIZES[1:]:
            ours, theirs = line.at(OURS, size), line.at(peer, size)
            if ours and theirs:
                yield name, size, ours, theirs


def _bar(
    bar: str,
    reached: bool,
    at: Container[str],
    lines: Mapping[str, Line],
    detail: str,
    at_least: bool = False,
) -> dict[str, Any]:
    """A bar of every row may be missed, one of ``at_least`` some be reached, before all are in."""
    missing = [name for name in lines if name not in at]
    if missing and reached != at_least:
        reached = None
    if missing:
        detail += f"; not measured: {', '.join(missing)}"
    return {"bar": bar, "reached": reached, "detail": detail}
