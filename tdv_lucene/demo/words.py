"""The end of the demonstration: kinds of query, examples, what to do next."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from ..evaluation.runs import read_run
from ..evaluation.topics import read_qrels, read_topics
from ..report.table import Table
from ..report.wording import shortened
from .collection import DemoCollection

_MEASURE = "nDCG@5"
_SHOWN = 5
_WIDTH = 33

NEXT_STEPS = """\
Next, an index of your own. Without judged queries one command is enough:

  tdv-lucene prune --index INDEX --output pruned

With a query log, two tiers keep the first answers. Topics are lines of an id, a tab and a text:

  tdv-lucene prune --index INDEX --tiers --queries LOG.tsv --output tiers

With judged queries (qrels are TREC's), learn from some and compare on others:

  tdv-lucene learn --index INDEX --topics TRAIN.tsv --qrels TRAIN.txt --output values
  tdv-lucene prune --index INDEX --tdv values --output pruned
  tdv-lucene compare --index INDEX --pruned pruned --topics TEST.tsv --qrels TEST.txt \\
      --tune-topics TRAIN.tsv --tune-qrels TRAIN.txt --output report
"""


def kinds_table(report: Path, without: Container[str] = ()) -> Table:
    """Return the mean of each kind of query, with which their ids begin, for all systems but those
    ``without``."""
    rows = _per_query(report)
    named = [column.split(" ", 1)[1] for column in rows[0] if column.startswith(f"{_MEASURE} ")]
    systems = [name for name in named if name not in without]
    by_kind: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_kind[row["query"].rpartition("-")[0]].append(row)
    lines = [
        (kind, f"{len(group)}",
         *(f"{sum(float(row[f'{_MEASURE} {name}']) for row in group) / len(group):.4f}"
           for name in systems))
        for kind, group in sorted(by_kind.items())
    ]  # fmt: skip
    return Table(f"{_MEASURE} by kind of query", ("", "queries", *systems), lines)


def catalogue_table(report: Mapping[str, Any]) -> Table:
    """Return what pruning does to short documents: as ``prune`` chooses, and forced."""
    measures = ("nDCG@10", "R@1000")
    full = report["indexes"]["full"]["postings"]
    lines = [
        (name, f"{1 - index['postings'] / full:.0%}", f"{index['bytes']:,}",
         *(f"{report['measures'][measure]['means'][name]:.4f}" for measure in measures))
        for name, index in report["indexes"].items()
    ]  # fmt: skip
    short, queries = report["indexes"]["full"]["documents"], report["queries"]["judged"]
    note = (
        "Where an answer is a title, each posting is one that somebody asks for. By default prune "
        "drops nothing here; forced to, it loses answers."
    )
    title = f"A catalogue: {short:,} titles with one sentence, {queries:,} keyword queries"
    return Table(title, ("", "dropped", "bytes", *measures), lines, note)


def example_tables(collection: DemoCollection, report: Path) -> list[Table]:
    """Return the best five documents, full and learned, for the queries with the largest gain and
    loss: the first of equals, nothing chosen by hand."""
    systems = ("full", "learned")
    gains = {
        row["query"]: float(row[f"{_MEASURE} learned"]) - float(row[f"{_MEASURE} full"])
        for row in _per_query(report)
    }
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    found = [(most, "better")] * (gains[most] > 0) + [(least, "worse")] * (gains[least] < 0)
    texts, qrels = read_topics(collection.test.topics), read_qrels(collection.test.qrels)
    titles = collection.titles()
    runs = [read_run(report / "runs" / f"{name}.run") for name in systems]
    ranked = [run.groupby("query")["docid"].agg(list) for run in runs]

    def shown(document: str, query: str) -> str:
        mark = "* " if qrels[query].get(document, 0) > 0 else "  "
        return mark + shortened(titles[document], _WIDTH)

    tables = []
    for query, verdict in found:
        columns = [[shown(d, query) for d in best.get(query, [])[:_SHOWN]] for best in ranked]
        places = zip(*(column + [""] * (_SHOWN - len(column)) for column in columns))
        lines = [(f"{rank}", *row) for rank, row in enumerate(places, 1)]
        title, note = f"Ranked {verdict}: {texts[query]}", "* judged relevant"
        tables.append(Table(title, ("", *systems), lines, note, texts=(0, 1, 2)))
    return tables


def _per_query(report: Path) -> list[dict[str, str]]:
    with (report / "per_query.tsv").open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file, delimiter="\t")]
