"""Compare a full index with pruned ones on one or several sets of topics."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import cores
from ..errors import TdvError
from ..index.index import Index
from ..output import Output
from ..progress import Progress, silent
from ..report.page import render_page
from ..report.tables import FILE, FORMAT
from ..searching.tune import tune_parameters
from ..timing import latency as timing
from ..timing.latency import Latency
from . import results as content
from .config import CompareConfig
from .explain import describe_terms, trade_off
from .inputs import Compared, FilePair, QuerySet, System, open_alike, pairs_to_test, read_inputs
from .results import Results, measured_to_show, search_all

KIND = "comparison"


def compare_indexes(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: CompareConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Compare an index with its pruned form and write the folder ``output``.

    Each index is searched with the parameters it records (see :func:`recorded_parameters`), and
    timed inside the JVM. The folder holds ``report.json`` (what is returned), ``report.html``,
    ``per_query.tsv``, the runs, ``latency.tsv`` (medians, a line per query), and
    every single latency in ``latency_ns.npy``, its queries in the order of ``latency.tsv``. Of
    several query sets, file names include the label, as in
    ``per_query.LABEL.tsv`` and ``runs/LABEL.NAME.run``.

    Parameters
    ----------
    config, options
        How to compare: a :class:`CompareConfig`, or its options by name, as ``seed=1``.

    Returns
    -------
    dict
        - ``indexes.NAME``: bytes, bytes_by_kind, postings, terms, documents.
        - ``measures.MEASURE``: ``means.NAME`` (also directly under NAME) and ``tests``, a dict for
          each comparison with its ``baseline`` and ``treatment``. The entries of the first test, of
          ``pruned`` against ``index``, are also directly under the measure: p_value, difference,
          ci95, ci95_corrected, ...
        - ``queries`` (judged, emptied, ...), and ``judged``: the mean share
          of judged documents among the ten best, and nDCG@10 of these alone where most are not.
        - ``query_sets.LABEL``: the last three for every query set.
        - ``latency_ms.NAME``: top10 and top1000, each with mean, p50, p95, p99;
          ``latency_ratio.NAME``: how much faster than the first, with intervals.
        - ``tiers.NAME`` of an index in two tiers: ``hot``, ``depth``, ``fidelity``, the mean share
          of the whole's ten best documents that both return, ``first_changed``, the share of the
          queries with another first answer, and ``hot_bytes``. NAME-whole and NAME-hot are the
          same index searched in one tier. The ten best are those of a search for ten documents,
          which ranks fewer than one for a thousand; what follows is that of the latter.
        - ``tuning``, ``parameters``, ``versions``, ``machine``.
        - ``terms`` and ``trade_off`` of ``pruned`` (see :mod:`tdv_lucene.comparison.explain`),
          and of every index in ``terms_by_index.NAME`` and ``trade_offs.NAME``.

    Raises
    ------
    TdvError
        When indexes, topics or qrels cannot be read, when topics or an index share nothing with
        the qrels, or when the output exists. Nothing is written then.
    """
    config = CompareConfig.of(config, options)
    first, second = config.names
    paths = {first: index, second: pruned, **(config.further_indexes or {})}
    read = [*paths.values(), topics, qrels, *(config.tune or ())]
    read += [path for pair in config.further_queries for path in pair]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite)
    queries = [(topics, qrels), *config.further_queries]
    with open_alike(paths, config.id_field) as indexes:
        return _compare(indexes, queries, place, config, progress)


def _compare(
    indexes: Mapping[str, Index], queries: Sequence[FilePair], place: Output,
    config: CompareConfig, progress: Progress,
) -> dict[str, Any]:  # fmt: skip
    field = config.field
    compared = read_inputs(indexes, queries, config.tune, config)
    terms = _terms(indexes, field)
    search: dict[str, Any] = {
        "field": field, "threads": cores(config.threads), "listing": config.listing,
        "progress": progress,
    }  # fmt: skip
    asked: dict[str, Any] = {"field": field, "analysis": compared.analysed.analysis}
    systems, tuning = _with_tuned(compared, search)
    systems = {**systems, **System.tiers(systems)}
    sets = compared.query_sets
    with place as folder:
        search |= {"analysed": compared.analysed, "measures": config.measures}
        (folder / "runs").mkdir()
        results = [
            search_all(systems, one, folder / "runs", _ending(sets, one)[1:], **search)
            for one in sets
        ]
        timed = {n: (system.index, system.parameters) for n, system in systems.items()}
        latency = timing.measure_latency(
            timed, sets[0].topics, **asked, seed=config.seed,
            budget_seconds=config.latency_budget_seconds,
            raw=folder / f"latency_ns{_ending(sets, sets[0])}.npy", progress=progress,
        )  # fmt: skip
        searched = {name: system.index for name, system in systems.items()}
        words = [timing.look_up_terms(searched, one.topics, **asked) for one in sets]
        report = {
            "format": FORMAT,
            "indexes": {n: content.sizes(found, field) for n, found in compared.found.items()},
            **content.effectiveness(results, pairs_to_test(systems)),
            "latency_ms": {name: latency.summary(name) for name in latency.names},
            "latency_ratio": latency.ratios(config.seed),
            "latency_setup": latency.setup,
            **terms,
            "tiers": content.tiers(systems, results[0], field),
            "tuning": tuning,
            "parameters": content.parameters(systems, results, field),
            "analysis": compared.analysed.as_dict(),
            "defaults": {
                n: told for n, s in compared.systems.items() if (told := s.parameters.defaults)
            },
            "rules": content.RULES,
            "notes": [*content.all_notes(compared, results, field, config.max_passage)],
            **content.versions_and_machine(),
        }
        shown = measured_to_show(
            results, next(iter(indexes.values())), field, config.max_passage, words
        )
        _write_files(folder, report, results, latency)
        page = render_page(report, shown, latency)
        (folder / "report.html").write_text(page, encoding="utf-8")
        place.write_manifest({name: report[name] for name in ("indexes", "parameters")})
    return report


def _terms(indexes: Mapping[str, Index], field: str) -> dict[str, Any]:
    """Return the changed terms and the trade-off of each index; those of the second on top."""
    (_, full), *others = indexes.items()
    terms = {name: describe_terms(full, pruned, field) for name, pruned in others}
    curves = {name: trade_off(pruned, field) for name, pruned in others}
    of_second = {"terms": terms[others[0][0]], "trade_off": curves[others[0][0]]}
    return {**of_second, "terms_by_index": terms, "trade_offs": curves}


def _with_tuned(
    compared: Compared, search: Mapping[str, Any]
) -> tuple[dict[str, System], dict[str, Any] | None]:
    """Add the first index with tuned parameters; return a record of the tuning as well."""
    systems, training = compared.systems, compared.training
    if training is None:
        return systems, None
    first = next(iter(systems))
    name, system = f"{first}-tuned", systems[first]
    if name in systems:
        raise TdvError(f"an index is named '{name}', like the tuned baseline: choose another name")
    chosen, tried = tune_parameters(
        index=system.index, topics=training.topics, qrels=training.qrels,
        model=system.parameters.model, analysis=compared.analysed.analysis, **search,
    )  # fmt: skip
    record = {"name": name, "queries": training.label, "chosen": chosen.values(), "tried": tried}
    return {**systems, name: System(system.index, chosen, is_tuned=True)}, record


def _ending(sets: Sequence[object], queries: QuerySet) -> str:
    """Return the end of the names of a query set's files: its label, if there are several sets."""
    return f".{queries.label}" if len(sets) > 1 else ""


def _write_files(
    folder: Path, report: dict[str, Any], results: Sequence[Results], latency: Latency
) -> None:  # fmt: skip
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    endings = [_ending(results, result.queries) for result in results]
    for result, ending in zip(results, endings):
        first = next(iter(result.evaluations.values()))
        columns = {
            f"{measure} {name}": evaluation.values[measure]
            for measure in first.values
            for name, evaluation in result.evaluations.items()
        }
        _write_table(folder / f"per_query{ending}.tsv", first.queries, columns)
    columns = {  # in the order of ``latency_ns.npy``
        f"{mode} ms {name}": latency.per_query_ms(mode, name)
        for mode in timing.MODES
        for name in latency.names
    }
    _write_table(folder / f"latency{endings[0]}.tsv", latency.queries, columns)


def _write_table(path: Path, queries: Sequence[str], columns: Mapping[str, np.ndarray]) -> None:
    cells = ([f"{value:.6f}" for value in values] for values in columns.values())
    rows = [("query", *columns), *zip(queries, *cells)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
