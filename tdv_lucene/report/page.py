"""``report.html``: one file that opens offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from ..evaluation.measures import Evaluation
from ..timing.latency import Latency, QueryTerms
from . import plots
from .table import SIGNIFICANT, change, interval, p_value, ratio, times_interval
from .tables import (
    DEPTHS,
    VALUE_COLUMN,
    bytes_by_kind,
    detail_tables,
    extreme_queries,
    latency_table,
    of_set,
    size_tables,
    speed_tables,
    tables_by_query_set,
    term_tables,
)
from .wording import counted, shortened, visible

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def asset(name: str) -> str:
    """A file of ours that a page loads or holds."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache  # reading and compiling one takes longer than filling it
def template(name: str) -> jinja2.Template:
    """The template ``name``; a name that it is not given raises when it is rendered."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"counted": counted, "shortened": shortened}
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    """What stands in for a value on the page, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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


_QUERY_MEASURE = "nDCG@10"  # of the queries that changed most: finer than nDCG@5, less so than MAP


def render_page(report: Mapping[str, Any], query_sets: Sequence[Measured], latency: Latency) -> str:
    """Return the page of a comparison: the content of ``report.json``, plots, and all queries.

    The overview speaks of every index and query set. Two indexes on one query set are all
    unfolded; of more, the tables below the overview are folded up.
    """
    first, *others = report["indexes"]
    changes = [_pair(report, queries, first, name) for queries in query_sets for name in others]
    several_sets = len(query_sets) > 1
    return template("report.html").render(
        report=report,
        names=[first, *others],
        headline=[] if len(others) > 1 else _headline(report),
        several_sets=several_sets,
        folded=several_sets or len(others) > 1,
        significant=SIGNIFICANT,
        ranking=tables_by_query_set(report),
        costs=[*size_tables(report), latency_table(report), *speed_tables(report)],
        details=detail_tables(report),
        figures=_figures(report, latency),
        changes=changes,
        term_tables=term_tables,
        value_column=VALUE_COLUMN,
        data=page_data(report, query_sets),
        style=Markup(asset("report.css").strip()),
        script=Markup(asset("report.js").strip()),
    )


def _headline(report: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Of two indexes, at a glance: what it is, figure, its 95 % interval, from what to what."""
    full, pruned = [*report["indexes"].values()][:2]
    before, after = [*report["latency_ms"].values()][:2]
    cards = [
        (what, change(full[what], pruned[what]), "", f"{full[what]:,} to {pruned[what]:,}")
        for what in ("bytes", "postings")
    ]
    for depth, label in DEPTHS.items():
        mean_before, mean_after = before[depth]["mean"], after[depth]["mean"]
        bounds = times_interval([*report["latency_ratio"].values()][0][depth]["ci95"])
        detail = f"{mean_before:.3f} to {mean_after:.3f} ms, mean"
        cards.append((f"{label} faster", f"x{ratio(mean_before, mean_after)}", bounds, detail))
    for measure in ("nDCG@5", "R@1000"):
        measured = report["measures"][measure]
        values = [measured["means"][name] for name in [*report["indexes"]][:2]]
        bounds = interval(measured["ci95_corrected"])
        detail = f"{values[0]:.4f} to {values[1]:.4f}, p {p_value(measured['p_value'])}"
        cards.append((measure, f"{measured['difference']:+.4f}", bounds, detail))
    return cards


def _figures(report: Mapping[str, Any], latency: Latency) -> list[dict[str, Any]]:
    drawn = [
        *_trade_offs(report["trade_offs"]),
        ("Queries answered within a time, top-10", plots.plot_latency(latency, "top10")),
        ("Queries answered within a time, top-1000", plots.plot_latency(latency, "top1000")),
    ]
    return [{"title": title, "svg": Markup(svg)} for title, svg in drawn]


def _trade_offs(curves: Mapping[str, Mapping[str, Any] | None]) -> Iterator[tuple[str, str]]:
    """One plot for all indexes made with the same TDVs."""
    title = "Effectiveness against postings dropped, on held-out training queries"
    # Those made without judgements have nothing measured.
    drawn = {name: curve for name, curve in curves.items() if curve is not None and curve["full"]}
    alike: dict[str, list[str]] = {}
    for name, curve in drawn.items():
        alike.setdefault(json.dumps([curve["points"], curve["full"]]), []).append(name)
    for at, names in enumerate(alike.values()):
        chosen = {name: drawn[name]["chosen"] for name in names}
        known = {name: reduction for name, reduction in chosen.items() if reduction is not None}
        svg = plots.plot_trade_off(drawn[names[0]], f"-{at}", known)
        yield f"{title}: {', '.join(names)}", svg


def _pair(report: Mapping[str, Any], queries: Measured, first: str, name: str) -> dict[str, Any]:
    """What the index ``name`` changed against the first for the queries of one set."""
    both = {system: queries.evaluations[system] for system in (first, name)}
    counts = report["query_sets"][queries.label]["queries"]
    return {
        "title": f"{name} minus {first}{of_set(report, queries.label)}",
        "counts": counts,
        "tables": extreme_queries(queries.topics, both, _QUERY_MEASURE, queries.words),
        "emptied": [(qid, queries.topics[qid]) for qid in counts["emptied_ids_by"][name]],
    }
