"""``tdv-lucene explain``."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ..comparison.config import ExplainConfig
from ..report.wording import counted
from . import _options as options


@options.command("explain", config=ExplainConfig)
@options.index_option
@options.option(
    "--pruned", required=True, metavar="FOLDER",
    help="Explain this index, which 'prune' wrote from --index.",
)  # fmt: skip
@options.option(
    "--query", required=True, metavar="TEXT", help="Explain this query, as a user types it."
)
def command(as_json: bool, **arguments: Any) -> None:
    """Show what pruning did to one query.

    Lists its terms with their TDVs and document frequencies before and after, and the best
    documents of both indexes side by side.
    """
    from ..comparison.explain import explain_query

    explained = explain_query(**arguments)
    if as_json:
        options.show(explained, as_json)
        return
    _show_terms(explained)
    _show_hits(explained["hits"])


def _show_terms(explained: dict[str, Any]) -> None:
    from ..report.query_tables import VALUE_COLUMN

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
        note += " tf ratio: total frequency after pruning over before."
    options.show_table("Terms", columns, rows, note, texts=(0, len(columns) - 1))


def _what_happened(term: dict[str, Any]) -> str:
    if not term["df_before"]:
        return "not in the index"
    if not term["postings_removed"]:
        return "nothing"
    if not term["df_after"]:
        return "all postings"
    return counted(term["postings_removed"], "posting")


def _show_hits(hits: dict[str, list[dict[str, Any]]]) -> None:
    ranks = range(1, max(map(len, hits.values())) + 1)
    columns = [("rank", [str(rank) for rank in ranks])]
    for name, rows, other in (
        ("full", hits["before"], "rank after"),
        ("pruned", hits["after"], "rank before"),
    ):
        others = ["-" if row["other_rank"] is None else str(row["other_rank"]) for row in rows]
        columns += [
            (name, [row["document"] for row in rows]),
            ("score", [f"{row['score']:.4f}" for row in rows]),
            (other, others),
        ]
        if any(row["lost"] for row in rows):
            columns.append(("dropped", [" ".join(row["lost"]) for row in rows]))
    heads, cells = zip(*columns)
    note = "The scores of the two indexes are on different scales."
    if "dropped" in heads:
        note = f"Dropped: terms of the query whose posting in the document was dropped. {note}"
    texts = [at for at, head in enumerate(heads) if head in ("full", "pruned", "dropped")]
    lines = [*zip_longest(*cells, fillvalue="")]
    options.show_table("Best documents", heads, lines, note, texts)
