"""What the page's script draws from: each number once, as JSON inside the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from ..evaluation.evaluate import Evaluation
from ..timing.latency_summary import QueryTerms
from .cost_tables import DEPTHS, bytes_by_kind
from .table import SIGNIFICANT
from .wording import visible

_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_THOUSANDTHS = [high + low for high in _DIGITS for low in _DIGITS][:1001]


@dataclass(frozen=True)
class Rankings:
    """The best documents of some queries.

    Attributes
    ----------
    best : query id -> for each system, in their order, document ids from rank 1
    relevant : query id -> those of them that are judged relevant
    titles : document id -> stored title, else the beginning of the stored text, if any
    """

    best: Mapping[str, Sequence[Sequence[str]]]
    relevant: Mapping[str, Sequence[str]]
    titles: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Measured:
    """One query set as measured: by query id its texts and terms, by system its values, and the
    rankings of the queries that changed most."""

    label: str
    topics: Mapping[str, str]
    evaluations: Mapping[str, Evaluation]
    words: Mapping[str, QueryTerms]
    rankings: Rankings


def page_data(report: Mapping[str, Any], query_sets: Sequence[Measured]) -> Markup:
    """Return the JSON for a ``<script>`` element.

    Lists run over ``systems``: the indexes, and the first with tuned parameters if it was tuned.
    That one has the first's bytes.
    """
    systems = [*report["parameters"]["search"]]
    first = systems[0]
    documents = [
        *dict.fromkeys(
            document
            for queries in query_sets
            for lists in queries.rankings.best.values()
            for ranking in lists
            for document in ranking
        )
    ]
    titles = {d: title for queries in query_sets for d, title in queries.rankings.titles.items()}
    numbers = {document: number for number, document in enumerate(documents)}
    sizes = [report["indexes"].get(name, report["indexes"][first]) for name in systems]
    data = {
        "systems": [visible(name) for name in systems],
        "indexes": len(report["indexes"]),
        "bytes": [size["bytes"] for size in sizes],
        "postings": [size["postings"] for size in sizes],
        "kinds": bytes_by_kind([*report["indexes"].values()]),
        "ms": {
            depth: [_short(report["latency_ms"][name][depth]["mean"]) for name in systems]
            for depth in DEPTHS
        },
        "faster": {
            depth: [_faster(report["latency_ratio"].get(name), depth) for name in systems]
            for depth in DEPTHS
        },
        "significant": SIGNIFICANT,
        "comparisons": report["parameters"]["comparisons"],
        "documents": [[visible(d), visible(titles.get(d, ""))] for d in documents],
        "sets": [
            _query_set(report["query_sets"][queries.label], queries, systems, numbers)
            for queries in query_sets
        ],
    }
    return for_script(data)


def for_script(data: Any) -> Markup:
    """JSON that ends no ``<script>`` and begins no comment, whatever its texts hold."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _faster(ratios: Mapping[str, Any] | None, depth: str) -> list[float] | None:
    """Ratio and the bounds of its interval, which are the ratio itself where there is none."""
    if ratios is None:
        return None
    ratio = ratios[depth]
    return [_short(x) for x in (ratio["ratio"], *(ratio["ci95"] or (ratio["ratio"],) * 2))]


def _query_set(
    figures: Mapping[str, Any],
    measured: Measured,
    systems: Sequence[str],
    numbers: Mapping[str, int],
) -> dict[str, Any]:
    queries = next(iter(measured.evaluations.values())).queries
    return {
        "label": visible(measured.label),
        "judged": figures["queries"]["judged"],
        "emptied": [figures["queries"]["emptied_by"].get(name, 0) for name in systems],
        "measures": {
            measure: {
                "means": [_short(found["means"][name]) for name in systems],
                "tests": [_test(test, systems) for test in found["tests"]],
                "values": [
                    _encoded(measured.evaluations[name].values[measure]) for name in systems
                ],
            }
            for measure, found in figures["measures"].items()
        },
        "queries": [visible(query) for query in queries],
        "texts": [visible(measured.topics[query]) for query in queries],
        "opened": {
            queries.index(query): {
                "rankings": [[numbers[document] for document in ranking] for ranking in lists],
                "relevant": [numbers[document] for document in measured.rankings.relevant[query]],
            }
            for query, lists in measured.rankings.best.items()
        },
    }


def _test(test: Mapping[str, Any], systems: Sequence[str]) -> list[Any]:
    """Numbers of baseline and treatment, difference, bounds (or null), p (or null)."""
    low, high = test["ci95_corrected"] or (None, None)
    numbers = (test["difference"], low, high, test["p_value"])
    pair = [systems.index(test[side]) for side in ("baseline", "treatment")]
    return [*pair, *(None if x is None else _short(x) for x in numbers)]


def _encoded(values: np.ndarray) -> str | list[float]:
    """Values within [0, 1] as two digits to the base 32 each, in thousandths; others as they are.

    Half the size of decimal numbers: thousands of queries by indexes and measures are most of a
    page.
    """
    if len(values) and (values.min() < 0 or values.max() > 1):
        return [round(float(value), 3) for value in values]
    return "".join(_THOUSANDTHS[at] for at in np.rint(1000 * values).astype(int))


def _short(number: float) -> float:
    """Six significant digits, more than the page shows."""
    return float(f"{number:.6g}")
