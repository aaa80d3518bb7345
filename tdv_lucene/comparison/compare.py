"""Stage 7: what pruning won and lost, on one or several sets of topics."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..arguments import checked_threads, gathered
from ..errors import TdvError, argument
from ..indexes.inspection import inspect_index
from ..indexes.user_data import recorded_parameters
from ..output import Output
from ..progress import Progress, silent
from ..searching.baseline_tuning import tune_parameters
from ..timing.end_to_end import measure_end_to_end
from ..timing.latency import TimedIndex, measure_latency
from ..timing.latency_summary import look_up_terms, measure_service, summarise_speed
from . import content
from .config import CompareConfig
from .files import ending, write_files
from .systems import (
    QuerySet,
    Results,
    System,
    check_names,
    read_query_sets,
    search_all,
    shared_model,
)
from .term_changes import describe_terms, trade_off

KIND = "comparison"
FilePair = tuple[str | os.PathLike, str | os.PathLike]


def compare_indexes(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    topics: str | os.PathLike,
    qrels: str | os.PathLike,
    output: str | os.PathLike,
    *,
    topic_field: str = "title",
    model: str | None = None,
    field: str = "contents",
    names: tuple[str, str] = ("full", "pruned"),
    further_indexes: Mapping[str, str | os.PathLike] | None = None,
    further_queries: Sequence[FilePair] = (),
    tune: FilePair | None = None,
    measures: str | Sequence[str] = (),
    values: str | os.PathLike | Mapping[str, str | os.PathLike] | None = None,
    throughput_threads: int | None = None,
    end_to_end: bool = False,
    threads: int | None = None,
    latency_rounds: int = 7,
    latency_budget_seconds: float = 60.0,
    seed: int = 0,
    config: CompareConfig | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare an index with its pruned form and write the folder ``output``.

    Each index is searched with the parameters it records (see :func:`recorded_parameters`). How
    latency is measured, :class:`LatencyPlan` says.
    The folder holds ``report.json`` (what is returned), ``report.html``, ``per_query.tsv``, the
    runs, and every measured latency in ``latency_ns.npy``, of the queries in ``latency.tsv`` (their
    medians, and postings visited) in that order. With several query sets the names of all these
    files carry the set's, as ``per_query.LABEL.tsv`` and ``runs/LABEL.NAME.run``.

    Parameters
    ----------
    topic_field
        The part of a topic that is the query, see :func:`tdv_lucene.read_topics`.
    model
        None for the one the indexes were pruned for, BM25 if none was pruned. If you ask for any
        other, a note in the report says so.
    further_indexes
        Name -> index, for more columns in the same tables; each is compared with ``index``.
    further_queries
        More (topics, qrels) to measure on. Latency is measured on the first topics only.
    tune
        Training (topics, qrels). With them ``index`` is also searched with k1 and b (or mu) tuned
        on them, as the system ``NAME-tuned``, and the others are compared with that as well.
    measures
        More than the four that are always reported, by their names in ir-measures, such as
        ``"RR@10 R@100"``. The p-values are corrected for each of them.
    values
        The term values ``pruned`` was made with, or index name -> values: the report then shows
        them, and their trade-off curve. Without them, terms are shown with the ratio of their
        frequencies in the two indexes.
    throughput_threads
        Also measure queries per second, with this many threads.
    end_to_end
        Also time Pyserini's searcher (imports torch; field ``contents`` only).
    config
        All options that are not files, from ``topic_field`` to ``seed``, in one object.

    Returns
    -------
    dict
        ``indexes.NAME`` (bytes, bytes_by_kind, postings, terms, documents), ``measures.MEASURE``
        (``means.NAME``, which also stand flat as NAME, ``trec_eval.NAME`` (not of further
        measures), ``tests``: one dict a comparison made, with ``baseline`` and ``treatment``; the
        first, of ``pruned`` against ``index``, also stands flat: p_value, difference, ci95,
        ci95_corrected, effect_size, ...), ``queries`` (judged, emptied, ...),
        ``rank_effects.NAME``, the same of every query set in ``query_sets.LABEL``,
        ``latency_ms.NAME`` and ``latency_exhaustive_ms.NAME`` (top10 and top1000: mean, p50, p95,
        p99), what :mod:`tdv_lucene.timing.latency_summary` tells, ``end_to_end``, ``terms`` and
        ``trade_off`` of ``pruned`` (:mod:`tdv_lucene.comparison.term_changes`),
        the same of every index in ``terms_by_index.NAME`` and ``trade_offs.NAME``, ``tuning``,
        ``parameters``, ``versions``, ``machine``.

    Raises
    ------
    TdvError
        For unreadable indexes, topics or qrels, topics or an index that share nothing with the
        qrels, or an existing output. Nothing is written then.
    """
    config = gathered(CompareConfig, config, locals())
    field, seed = config.field, config.seed
    first, second = config.names
    check_names([first, second, *(further_indexes or {})], content.FIXED_KEYS)
    paths = {first: index, second: pruned, **(further_indexes or {})}
    by_name = _by_name(values, paths)
    read = [*paths.values(), *by_name.values(), topics, qrels, *(tune or ())]
    read += [path for pair in further_queries for path in pair]
    place = Output.folder(output, KIND, inputs=read, overwrite=overwrite)
    query_sets = read_query_sets([(topics, qrels), *further_queries], config.topic_field)
    training = None if tune is None else QuerySet.read(*tune, config.topic_field)
    relevant = {queries.label: queries.check(index) for queries in query_sets}
    if training is not None:
        training.check(index)
    found = {name: inspect_index(path) for name, path in paths.items()}
    model = config.model or shared_model(paths, field)
    systems = {
        name: System(path, recorded_parameters(path, model, field=field))
        for name, path in paths.items()
    }
    terms = _terms(paths, field, by_name)
    search = {"field": field, "threads": checked_threads(config.threads), "progress": progress}
    systems, tuning = _with_tuned(systems, training, search)
    asked = query_sets[0].topics
    with place as folder:
        results = _search_sets(systems, query_sets, folder, {**search, "measures": config.measures})
        timed = {n: TimedIndex(paths[n], systems[n].parameters, results[0].runs[n]) for n in paths}
        latency = measure_latency(
            timed,
            asked,
            config.latency_plan,
            field=field,
            raw=folder / f"latency_ns{ending(query_sets, query_sets[0])}.npy",
            progress=progress,
        )
        words = [look_up_terms(paths, queries.topics, field) for queries in query_sets]
        service = measure_service(
            timed, asked, field=field, threads=config.throughput_threads, seed=seed,
            progress=progress,
        )  # fmt: skip
        report = {
            "indexes": {name: content.sizes(inspected, field) for name, inspected in found.items()},
            **content.effectiveness(results, seed),
            **content.latencies(latency),
            **summarise_speed(latency, words[0], seed),
            **service,
            "end_to_end": measure_end_to_end(timed, asked, seed=seed, progress=progress)
            if config.end_to_end
            else None,
            **terms,
            "tuning": tuning,
            "parameters": content.parameters(systems, results, field),
            "rules": content.RULES,
            "notes": [
                *content.notes(found, model, field),
                *content.notes_on_documents(first, relevant, _lacking(paths, results)),
            ],
            **content.versions_and_machine(),
        }
        write_files(folder, report, results, latency, words)
        place.write_manifest({name: report[name] for name in ("indexes", "parameters")})
    return report


def _by_name(
    values: str | os.PathLike | Mapping[str, str | os.PathLike] | None,
    paths: Mapping[str, str | os.PathLike],
) -> Mapping[str, str | os.PathLike]:
    """Index -> values, of indexes that are compared with the first."""
    _, second, *further = paths
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        return {second: values}
    for name in values:
        if name not in (second, *further):
            raise TdvError(
                f"{argument('values')} are given for '{name}', which is none of the "
                f"indexes compared with the first: {', '.join((second, *further))}"
            )
    return values


def _terms(
    paths: Mapping[str, str | os.PathLike], field: str, values: Mapping[str, str | os.PathLike]
) -> dict[str, Any]:
    """What every further index did to terms, and its trade-off; the second's also at the top."""
    (_, index), *others = paths.items()
    terms = {name: describe_terms(index, path, field, values.get(name)) for name, path in others}
    curves = {
        name: trade_off(path, field, values[name]) if name in values else None
        for name, path in others
    }
    second = others[0][0]
    return {
        "terms": terms[second],
        "trade_off": curves[second],
        "terms_by_index": terms,
        "trade_offs": curves,
    }


def _with_tuned(
    systems: dict[str, System], training: QuerySet | None, search: Mapping[str, Any]
) -> tuple[dict[str, System], dict[str, Any] | None]:
    """Add the first index with tuned parameters; return what was tried as well."""
    if training is None:
        return systems, None
    first = next(iter(systems))
    name, system = f"{first}-tuned", systems[first]
    if name in systems:
        raise TdvError(f"an index is named '{name}', as the tuned baseline is: name it otherwise")
    model = system.parameters.model
    chosen, tried = tune_parameters(system.path, training.topics, training.qrels, model, **search)
    record = {"name": name, "queries": training.label, "chosen": chosen.values(), "tried": tried}
    return {**systems, name: System(system.path, chosen)}, record


def _lacking(
    paths: Mapping[str, str | os.PathLike], results: Sequence[Results]
) -> dict[str, tuple[int, int]]:
    """Of every index but the first: how many of the documents that the first retrieves it lacks,
    and of how many. None, where it was made from the same: deleted ones are not retrieved.
    """
    from ..jvm.searcher import known_documents

    retrieved = list(dict.fromkeys(doc for result in results for doc in result.retrieved))
    _, *others = paths.items()
    return {
        name: (len(retrieved) - len(set(known_documents(path, retrieved))), len(retrieved))
        for name, path in others
        if retrieved
    }


def _search_sets(
    systems: Mapping[str, System],
    query_sets: Sequence[QuerySet],
    folder: Path,
    search: Mapping[str, Any],
) -> list[Results]:
    runs = folder / "runs"
    runs.mkdir()
    prefixes = [f"{queries.label}." if len(query_sets) > 1 else "" for queries in query_sets]
    files = [prefix + name for prefix in prefixes for name in systems]
    for file in files:
        if files.count(file) > 1:
            raise TdvError(f"two runs would be called '{file}.run': name an index otherwise")
    return [
        search_all(systems, queries, runs, prefix, **search)
        for queries, prefix in zip(query_sets, prefixes)
    ]
