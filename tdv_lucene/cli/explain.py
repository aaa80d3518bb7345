"""``tdv-lucene explain``."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

import click

from ..comparison.config import ExplainConfig
from ..report.wording import counted
from . import _options as options


@options.command("explain", config=ExplainConfig)
@options.index_option
@options.option(
    "--pruned", required=True, metavar="FOLDER", help="Index that 'prune' wrote from --index."
)
@options.option("--query", required=True, metavar="TEXT", help="Query as a user types it.")
def command(as_json: bool, **arguments: Any) -> None:
    """Show what pruning did to one query.

    Lists its terms with their TDVs and document frequencies before and after, and the best
    documents of both indexes side by side.
    """
    from ..comparison.explain import explain_query

    explained = explain_query(**arguments)
    if as_json:
        click.echo(json.dumps(explained, ensure_ascii=False))
        return
    options.show_tables((_terms(explained), _hits(explained["hits"])))


def _terms(explained: dict[str, Any]) -> Any:
    from ..report.query_tables import VALUE_COLUMN
    from ..report.table import Table

    rows: list[tuple[str, ...]] = [
        (term["term"], str(term["in_query"]), "" if term["tdv"] is None else f"{term['tdv']:.3f}",
         f"{term['df_before']:,}", f"{term['df_after']:,}", _what_happened(term))
        for term in explained["terms"]
    ]  # fmt: skip
    head = VALUE_COLUMN[explained["tdv_kind"]]
    columns = ("term", "in query", head, "df before", "df after", "dropped")
    held, still = (explained["matching"][when] for when in ("before", "after"))
    note = (
        f"{counted(held, 'document')} held a term of the query, {still:,} still do. Analysed as "
        f"{explained['analysis']}."
    )
    if explained["tdv_kind"] == "ratio":
        note += " tf ratio: total frequency after pruning over before. Pass --tdv to show TDVs."
    return Table("Terms", columns, rows, note, texts=(0, len(columns) - 1))


def _what_happened(term: dict[str, Any]) -> str:
    if not term["df_before"]:
        return "not in the index"
    if not term["postings_removed"]:
        return "nothing"
    if not term["df_after"]:
        return "all postings"
    return counted(term["postings_removed"], "posting")


def _hits(hits: dict[str, list[dict[str, Any]]]) -> Any:
    from ..report.table import Table

    sides = hits["before"], hits["after"]
    names = ("full", "score", "rank after"), ("pruned", "score", "rank before")
    lost = [any(row["lost"] for row in rows) for rows in sides]

    def cells(row: dict[str, Any] | None, with_lost: bool) -> tuple[str, ...]:
        if row is None:
            return ("",) * (4 if with_lost else 3)
        other = "-" if row["other_rank"] is None else str(row["other_rank"])
        shown = (" ".join(row["lost"]),) if with_lost else ()
        return row["document"], f"{row['score']:.4f}", other, *shown

    rows = [
        (str(rank), *(cell for side in zip(pair, lost) for cell in cells(*side)))
        for rank, pair in enumerate(zip_longest(*sides), 1)
    ]
    columns = ["rank"]
    for named, with_lost in zip(names, lost):
        columns += [*named, *(["dropped"] if with_lost else [])]
    note = "The scores of the two indexes are on different scales."
    if any(lost):
        note = f"Dropped: terms of the query whose posting in the document was dropped. {note}"
    texts = tuple(
        at for at, column in enumerate(columns) if column in ("full", "pruned", "dropped")
    )
    return Table("Best documents", tuple(columns), rows, note, texts=texts)
