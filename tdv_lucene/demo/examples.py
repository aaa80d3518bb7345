"""Two queries of the demonstration: one that is answered better by the pruned index, one worse."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from ..evaluation.evaluate import read_run
from ..evaluation.topics import read_qrels, read_topics
from ..report.table import Table
from ..report.wording import shortened
from .collection import DemoCollection

_MEASURE = "nDCG@5"
_SHOWN = 5
_WIDTH = 33


def example_tables(
    collection: DemoCollection, report: Path, baseline: str = "full", pruned: str = "learned"
) -> list[Table]:
    """The best five documents of both indexes for two queries: the largest gain, the largest loss.

    Nothing is chosen by hand: the measure of each query stands in ``per_query.tsv`` of the folder
    ``report``. Of several with the same difference it is the first.
    """
    with (report / "per_query.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    gains = {
        row["query"]: float(row[f"{_MEASURE} {pruned}"]) - float(row[f"{_MEASURE} {baseline}"])
        for row in rows
    }
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    found = [(most, "better")] * (gains[most] > 0) + [(least, "worse")] * (gains[least] < 0)
    texts, qrels = read_topics(collection.test.topics), read_qrels(collection.test.qrels)
    titles = collection.titles()
    ranked = {name: _best(report / "runs" / f"{name}.run") for name in (baseline, pruned)}
    tables = []
    for query, verdict in found:
        columns = [
            [_shown(document, titles, qrels[query]) for document in ranked[name].get(query, ())]
            for name in ranked
        ]
        places = zip(*(column + [""] * (_SHOWN - len(column)) for column in columns))
        lines = [(f"{rank}", *row) for rank, row in enumerate(places, 1)]
        tables.append(
            Table(
                f"Ranked {verdict}: {texts[query]}", ("", *ranked), lines,
                note="* judged relevant", texts=(0, 1, 2),
            )
        )  # fmt: skip
    return tables


def _best(run: Path) -> dict[str, list[str]]:
    """Query -> its best documents."""
    best: dict[str, list[str]] = {}
    for query, document in read_run(run)[["query", "docid"]].itertuples(index=False):
        ranked = best.setdefault(query, [])
        if len(ranked) < _SHOWN:
            ranked.append(document)
    return best


def _shown(document: str, titles: Mapping[str, str], grades: Mapping[str, int]) -> str:
    mark = "* " if grades.get(document, 0) > 0 else "  "
    return mark + shortened(titles[document], _WIDTH)
