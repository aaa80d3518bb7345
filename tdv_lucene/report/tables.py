"""The tables of a comparison as plain strings; the screen and the page render the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cost_tables import latency_table, size_tables, speed_tables
from .query_tables import term_tables
from .ranking_tables import detail_tables, ranking_tables
from .table import Table


def comparison_tables(report: Mapping[str, Any]) -> list[Table]:
    """Effectiveness on every query set, tests, rank effects, size and latency."""
    return [*ranking_tables(report), *size_tables(report), latency_table(report)]


def all_tables(report: Mapping[str, Any]) -> list[Table]:
    """Those, every test by itself, speed in detail, and the terms changed most."""
    return [
        *comparison_tables(report),
        *detail_tables(report),
        *speed_tables(report),
        *term_tables(report["terms"]),
    ]
