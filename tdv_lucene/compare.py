"""Stage 7: what pruning won and lost, on one set of topics."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .errors import TdvError
from .evaluate import MEASURES, Evaluation, evaluate_run
from .inspect_index import inspect_index
from .latency import DEPTH, Latency, LatencyPlan, TimedIndex, measure_latency
from .progress import Progress, silent
from .search import SearchParameters, recorded_parameters, search_index
from .significance import compare_paired
from .store import new_folder, refuse_existing, versions, write_manifest
from .topics import Qrels, Topics, check_overlap, read_qrels, read_topics, relevant_documents

KIND = "comparison"
_RULES = {
    "average": "over all topics with a relevant document; no answer counts 0",
    "measures": "trectools: gain = grade, discount = log2(rank + 1); trec_eval's beside them "
    "differ only in how equal scores are ordered",
    "p_value": "two-tailed paired t-test, Bonferroni over the measures",
    "latency": "one thread, warm, no query cache; without analysis and stored fields; median over "
    "rounds, then mean and percentiles over queries",
}


def compare_indexes(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    topics: str | os.PathLike,
    qrels: str | os.PathLike,
    output: str | os.PathLike,
    *,
    model: str = "bm25",
    field: str = "contents",
    names: tuple[str, str] = ("full", "pruned"),
    threads: int | None = None,
    latency_rounds: int = 7,
    latency_budget_seconds: float = 60.0,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare an index with its pruned form and write the folder ``output``.

    Each index is searched with the parameters it records (see :func:`recorded_parameters`). How
    latency is measured is told at :class:`LatencyPlan`.
    The folder holds ``report.json`` (what is returned), ``report.html``, ``per_query.tsv``, the
    runs, and every measured latency in ``latency_ns.npy``.

    Returns
    -------
    dict
        ``indexes.NAME`` (bytes, bytes_by_kind, postings, terms, documents), ``measures.MEASURE``
        (NAME, p_value, difference, ci95, effect_size, wins, ties, losses, trec_eval), ``queries``
        (judged, emptied, ...), ``latency_ms.NAME`` and ``latency_exhaustive_ms.NAME``
        (top10 and top1000: mean, p50, p95, p99), ``parameters``, ``versions``, ``machine``.

    Raises
    ------
    TdvError
        For unreadable indexes, topics or qrels, topics or an index that share nothing with the
        qrels, or an existing output. Nothing is written then.
    """
    _check_names(names)
    plan = LatencyPlan(latency_rounds, latency_budget_seconds, seed)
    refuse_existing(Path(os.path.abspath(output)), overwrite=overwrite)
    asked, judged = read_topics(topics), read_qrels(qrels)
    paths = dict(zip(names, (index, pruned)))
    _check_overlap(asked, judged, index)
    found = {name: inspect_index(path) for name, path in paths.items()}
    parameters = {name: recorded_parameters(path, model) for name, path in paths.items()}
    with new_folder(output, overwrite=overwrite) as folder:
        runs, evaluations, emptied = _search_all(
            paths, asked, judged, folder, model=model, field=field, threads=threads,
            progress=progress,
        )  # fmt: skip
        latency = measure_latency(
            {n: TimedIndex(path, parameters[n], runs[n]) for n, path in paths.items()},
            asked,
            plan,
            field=field,
            raw=folder / "latency_ns.npy",
            progress=progress,
        )
        report = {
            "indexes": {name: _sizes(found[name], field) for name in names},
            "measures": _measures(names, evaluations),
            "queries": _count_queries(asked, judged, evaluations[names[0]], emptied),
            **_latencies(names, latency),
            "parameters": _parameters(parameters, field),
            "rules": _RULES,
            "notes": _notes(names, found, model),
            **_versions_and_machine(),
        }
        _write(folder, report, asked, evaluations, latency)
    return report


def _check_names(names: tuple[str, str]) -> None:
    """Names become keys of the report and names of files."""
    for name in names:
        if not re.fullmatch(r"\w[\w.+-]*", name):
            raise TdvError(
                f"name '{name}' is not usable: write letters, digits, '_', '-', '+', '.'"
            )
    if len(set(names)) != len(names):
        raise TdvError(f"both indexes are named '{names[0]}': give two different names")


def _check_overlap(topics: Topics, qrels: Qrels, index: str | os.PathLike) -> None:
    from .jvm.searcher import known_documents

    check_overlap(topics, qrels, known_documents(index, relevant_documents(topics, qrels)))


def _search_all(
    paths: Mapping[str, str | os.PathLike],
    topics: Topics,
    qrels: Qrels,
    folder: Path,
    **search: Any,
) -> tuple[dict[str, Path], dict[str, Evaluation], list[str]]:
    """Runs, evaluations, and the topics that found something in the first index only."""
    (folder / "runs").mkdir()
    runs, evaluations, without_hits = {}, {}, {}
    for name, path in paths.items():
        runs[name] = folder / "runs" / f"{name}.run"
        summary = search_index(path, topics, runs[name], hits=DEPTH, **search)
        without_hits[name] = summary["queries_without_hits"]
        evaluations[name] = evaluate_run(runs[name], topics, qrels)
    before, after = without_hits.values()
    return runs, evaluations, [qid for qid in after if qid not in set(before)]


def _sizes(found: dict[str, Any], field: str) -> dict[str, Any]:
    """Of the index, except postings and terms, which are the field's."""
    of_field = next(f for f in found["fields"] if f["name"] == field)
    return {
        "folder": Path(found["path"]).name,
        "commit": found["commit"],
        "bytes": found["bytes"],
        "bytes_by_kind": found["bytes_by_kind"],
        "postings": of_field["postings"],
        "terms": of_field["terms"],
        "tokens": of_field["tokens"],
        "documents": found["documents"],
    }


def _measures(names: tuple[str, str], evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    baseline, treatment = (evaluations[name] for name in names)
    measures = {}
    for measure in MEASURES:
        test = compare_paired(
            baseline.values[measure], treatment.values[measure], comparisons=len(MEASURES)
        )
        measures[measure] = {
            **{name: float(evaluations[name].values[measure].mean()) for name in names},
            **asdict(test),
            "ci95": list(test.ci95) if test.ci95 else None,
            "trec_eval": {
                name: float(evaluations[name].trec_eval_values[measure].mean()) for name in names
            },
        }
    return measures


def _count_queries(
    topics: Topics, qrels: Qrels, evaluation: Evaluation, emptied: list[str]
) -> dict[str, Any]:
    judged = set(evaluation.queries)
    emptied = [qid for qid in emptied if qid in judged]
    return {
        "topics": len(topics),
        "judged": len(judged),
        "emptied": len(emptied),
        "emptied_ids": emptied,
        "without_relevant_documents": len(topics) - len(judged),
        "judged_but_not_asked": len(qrels.keys() - topics.keys()),
    }


def _latencies(names: tuple[str, str], latency: Latency) -> dict[str, Any]:
    return {
        "latency_ms": {name: latency.summary(name) for name in names},
        "latency_exhaustive_ms": {name: latency.summary(name, exhaustive=True) for name in names},
        "latency_setup": latency.setup,
    }


def _parameters(parameters: Mapping[str, SearchParameters], field: str) -> dict[str, Any]:
    return {
        "model": next(iter(parameters.values())).model,
        "search": {name: of.values() for name, of in parameters.items()},
        "field": field,
        "hits": DEPTH,
        "comparisons": len(MEASURES),
    }


def _notes(names: tuple[str, str], found: Mapping[str, dict[str, Any]], model: str) -> list[str]:
    """What a reader should know before trusting the numbers."""
    full, pruned = (found[name] for name in names)
    notes = []
    made_from = pruned["user_data"].get("tdv.source_commit")
    if made_from not in (None, full["commit"]):
        notes.append(f"the index '{names[1]}' was made from another index than '{names[0]}'")
    learned_for = pruned["user_data"].get("tdv.model", model)
    if learned_for != model:
        notes.append(
            f"the values of '{names[1]}' were learned for {learned_for}, this comparison ranks "
            f"with {model}"
        )
    if full["documents"] != pruned["documents"]:
        notes.append(
            f"the indexes hold different numbers of documents: {full['documents']:,} and "
            f"{pruned['documents']:,}"
        )
    if full["deleted"]:
        notes.append(
            f"the postings of '{names[0]}' include those of {full['deleted']:,} deleted documents"
        )
    return notes


def _versions_and_machine() -> dict[str, dict[str, Any]]:
    from .jvm.searcher import describe_java

    java = describe_java()
    engines = {name: java.pop(name) for name in ("java", "lucene")}
    machine = {"system": platform.platform(), "cores": os.cpu_count(), **java, "page_cache": "warm"}
    return {
        "versions": {**versions(), "python": platform.python_version(), **engines},
        "machine": machine,
    }


def _write(
    folder: Path,
    report: dict[str, Any],
    topics: Topics,
    evaluations: Mapping[str, Evaluation],
    latency: Latency,
) -> None:
    from .report.page import render_page

    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    _write_per_query(folder / "per_query.tsv", evaluations)
    page = render_page(report, topics, evaluations, latency)
    (folder / "report.html").write_text(page, encoding="utf-8")
    write_manifest(folder, KIND, {"indexes": report["indexes"], "parameters": report["parameters"]})


def _write_per_query(path: Path, evaluations: Mapping[str, Evaluation]) -> None:
    columns = {
        f"{measure} {name}": evaluation.values[measure]
        for measure in MEASURES
        for name, evaluation in evaluations.items()
    }
    queries = next(iter(evaluations.values())).queries
    lines = ["\t".join(["query", *columns])]
    for i, query in enumerate(queries):
        lines.append("\t".join([query, *(f"{values[i]:.6f}" for values in columns.values())]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
