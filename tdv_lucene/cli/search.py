"""``tdv-lucene search``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options

_SHOWN = 10  # ids of queries without hits on the screen; --json has them all


@click.command("search")
@options.index_option
@options.topics_option
@options.output_option
@options.search_model_option
@click.option("--hits", default=1000, show_default=True, help="Documents a query.")
@click.option("--threads", type=int, help="Queries searched at once.  [default: all cores]")
@click.option("--k1", type=float, help="BM25's k1.  [default: what the index records, else 0.9]")
@click.option("--b", type=float, help="BM25's b.  [default: what the index records, else 0.4]")
@click.option("--mu", type=float, help="QLD's mu.  [default: what the index records, else 1000]")
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Search all topics and write a TREC run, as Pyserini would.

    A pruned index needs other parameters than its source, and records them; those used are
    printed, so that plain Pyserini can be given the same.
    """
    from ..searching.search import search_index

    summary = options.run(search_index, **arguments)
    if not as_json:
        empty = summary["queries_without_hits"]
        ids = " ".join(empty[:_SHOWN]) + (" ..." if len(empty) > _SHOWN else "")
        summary["queries_without_hits"] = f"{len(empty)}  {ids}".strip()
    options.show({"output": arguments["output"], **summary}, as_json)
