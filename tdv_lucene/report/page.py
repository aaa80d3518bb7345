"""``report.html``: one file that opens offline, with the data its script draws from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ..evaluation.measures import Evaluation
from ..timing.latency import DocFreqs, Latency
from . import plots, tables
from .table import SIGNIFICANT, change, interval, p_value, ratio, times_interval
from .wording import counted, shortened, visible

_TEMPLATES = Path(__file__).parent / "templates"
_QUERY_MEASURE = "nDCG@10"  # of the queries that changed most: finer than nDCG@5, less so than MAP


@dataclass(frozen=True, eq=False)
class Measured:
    """One query set as measured: texts and terms by query id, values by system, and the best
    documents of the queries that changed most."""

    label: str
    topics: Mapping[str, str]
    evaluations: Mapping[str, Evaluation]
    words: Mapping[str, DocFreqs]
    best: Mapping[str, Sequence[Sequence[str]]]  # query id -> by system, document ids from rank 1
    relevant: Mapping[str, Sequence[str]]  # query id -> those of them that are judged relevant
    titles: Mapping[str, str]  # document id -> stored title, else beginning of the text, if any


def render_page(report: Mapping[str, Any], query_sets: Sequence[Measured], latency: Latency) -> str:
    """Return the page of a comparison: the content of ``report.json``, plots, and all queries.

    The overview covers every index and query set. With two indexes and one query set all tables are
    unfolded, else those below the overview are folded.
    """
    first, *others = report["indexes"]
    several_sets = len(query_sets) > 1
    return _template("report.html").render(
        report=report,
        names=[first, *others],
        headline=[] if len(others) > 1 else _headline(report),
        several_sets=several_sets,
        folded=several_sets or len(others) > 1,
        significant=SIGNIFICANT,
        ranking=tables.ranking_tables(report),
        costs=[
            tables.size_table(report),
            tables.latency_table(report),
            *tables.tiers_tables(report),
        ],
        details=tables.detail_tables(report),
        figures=_figures(report, latency),
        changes=[_pair(report, queries, first, n) for queries in query_sets for n in others],
        term_tables=tables.term_tables,
        data=page_data(report, query_sets),
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8").strip()),
        script=Markup((_TEMPLATES / "report.js").read_text(encoding="utf-8").strip()),
    )


@cache  # reading and compiling one takes longer than filling it
def _template(name: str) -> jinja2.Template:
    """Return a template that escapes all text, and fails for names it is not given."""

    def shown(value: Any) -> Any:
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return visible(value) if is_text else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"counted": counted, "shortened": shortened}
    return environment.get_template(name)


def _headline(report: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return a card for each headline of two indexes: label, figure, 95 % interval, from - to."""
    names = [*report["indexes"]][:2]
    full, pruned = (report["indexes"][name] for name in names)
    cards = [
        (what, change(full[what], pruned[what]), "", f"{full[what]:,} to {pruned[what]:,}")
        for what in ("bytes", "postings")
    ]
    for depth, label in tables.DEPTHS.items():
        before, after = (report["latency_ms"][name][depth]["mean"] for name in names)
        bounds = times_interval(report["latency_ratio"][names[1]][depth]["ci95"])
        detail = f"{before:.3f} to {after:.3f} ms, mean"
        cards.append((f"{label} faster", f"x{ratio(before, after)}", bounds, detail))
    for measure in ("nDCG@5", "R@1000"):
        measured = report["measures"][measure]
        before, after = (measured["means"][name] for name in names)
        bounds = interval(measured["ci95_corrected"])
        detail = f"{before:.4f} to {after:.4f}, p {p_value(measured['p_value'])}"
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
    """Yield title and plot of each index; TDVs made without judgements have nothing measured."""
    title = "Effectiveness against postings dropped, on held-out training queries"
    drawn = {name: curve for name, curve in curves.items() if curve is not None and curve["full"]}
    for at, (name, curve) in enumerate(drawn.items()):
        chosen = {} if curve["chosen"] is None else {name: curve["chosen"]}
        yield f"{title}: {name}", plots.plot_trade_off(curve, f"-{at}", chosen)


def _pair(report: Mapping[str, Any], queries: Measured, first: str, name: str) -> dict[str, Any]:
    """Return what the index ``name`` changed against the first for the queries of one set."""
    both = {system: queries.evaluations[system] for system in (first, name)}
    counts = report["query_sets"][queries.label]["queries"]
    return {
        "title": f"{name} minus {first}{tables.set_suffix(report, queries.label)}",
        "counts": counts,
        "tables": tables.extreme_queries(queries.topics, both, _QUERY_MEASURE, queries.words),
        "emptied": [(qid, queries.topics[qid]) for qid in counts["emptied_ids_by"][name]],
    }


def page_data(report: Mapping[str, Any], query_sets: Sequence[Measured]) -> Markup:
    """Return the JSON that the page's script draws from, for a ``<script>`` element.

    Lists run over ``systems``: the indexes, and the first with tuned parameters if it was tuned,
    which has the first's bytes. One tier alone is in the tables only.
    """
    parameters = report["parameters"]
    systems = [name for name in parameters["search"] if name not in parameters["tier_of"]]
    shown = [lists for queries in query_sets for lists in queries.best.values()]
    documents = dict.fromkeys(d for lists in shown for ranking in lists for d in ranking)
    titles = {d: title for queries in query_sets for d, title in queries.titles.items()}
    numbers = {document: number for number, document in enumerate(documents)}
    sizes = [report["indexes"].get(name, report["indexes"][systems[0]]) for name in systems]
    data = {
        "systems": [visible(name) for name in systems],
        "indexes": len(report["indexes"]),
        "bytes": [size["bytes"] for size in sizes],
        "postings": [size["postings"] for size in sizes],
        "tiers": [_tiers(report["tiers"].get(name)) for name in systems],
        "kinds": tables.bytes_by_kind([*report["indexes"].values()]),
        "ms": {
            depth: [_short(report["latency_ms"][name][depth]["mean"]) for name in systems]
            for depth in tables.DEPTHS
        },
        "faster": {
            depth: [_faster(report["latency_ratio"].get(name), depth) for name in systems]
            for depth in tables.DEPTHS
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
    """Return JSON that ends no ``<script>`` and begins no comment, whatever its texts hold."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _faster(ratios: Mapping[str, Any] | None, depth: str) -> list[float] | None:
    """Return a ratio and the bounds of its interval, or the ratio three times without one."""
    if ratios is None:
        return None
    ratio = ratios[depth]
    return [_short(x) for x in (ratio["ratio"], *(ratio["ci95"] or (ratio["ratio"],) * 2))]


def _tiers(about: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return bytes of the hot field, fidelity and depth of an index in two tiers."""
    if about is None:
        return None
    fidelity = about["fidelity"]
    return {
        "hot": about["hot_bytes"],
        "fidelity": None if fidelity is None else _short(fidelity),
        "depth": about["depth"],
    }


def _query_set(
    figures: Mapping[str, Any], measured: Measured, systems: Sequence[str], numbers: dict[str, int]
) -> dict[str, Any]:
    queries = next(iter(measured.evaluations.values())).queries
    evaluations = [measured.evaluations[name] for name in systems]
    return {
        "label": visible(measured.label),
        "judged": figures["queries"]["judged"],
        "share": [_short(figures["judged"]["share_in_ten"][name]) for name in systems],
        "emptied": [figures["queries"]["emptied_by"].get(name, 0) for name in systems],
        "measures": {
            measure: {
                "means": [_short(found["means"][name]) for name in systems],
                "tests": [_test(test, systems) for test in found["tests"]],
                "values": [each.values[measure].round(3).tolist() for each in evaluations],
            }
            for measure, found in figures["measures"].items()
        },
        "queries": [visible(query) for query in queries],
        "texts": [visible(measured.topics[query]) for query in queries],
        "opened": {
            queries.index(query): {
                "rankings": [[numbers[document] for document in ranking] for ranking in lists],
                "relevant": [numbers[document] for document in measured.relevant[query]],
            }
            for query, lists in measured.best.items()
        },
    }


def _test(test: Mapping[str, Any], systems: Sequence[str]) -> list[Any]:
    """Return the numbers of baseline and treatment, difference, bounds (or null), p (or null)."""
    low, high = test["ci95_corrected"] or (None, None)
    numbers = (test["difference"], low, high, test["p_value"])
    pair = [systems.index(test[side]) for side in ("baseline", "treatment")]
    return [*pair, *(None if x is None else _short(x) for x in numbers)]


def _short(number: float) -> float:
    """Round to six significant digits, more than the page shows."""
    return float(f"{number:.6g}")
