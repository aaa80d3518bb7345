"""``tdv-lucene search``."""

from __future__ import annotations

from typing import Any

import click

from ..searching.config import SearchConfig
from . import _options as options

_SHOWN = 10  # ids of queries without hits on the screen; --json has them all


@options.command("search", config=SearchConfig, effects=options.PRINTED_EFFECTS)
@options.shards_option
@options.topics_option
@options.printed_output_option("the run")
@options.option("--rm3", is_flag=True, help="Expand queries with RM3, as Pyserini does.")
@options.option("--rocchio", is_flag=True, help="Expand queries with Rocchio, as Pyserini does.")
@options.scheduler_option
def command(as_json: bool, rm3: bool, rocchio: bool, **arguments: Any) -> None:
    """Search all topics and write a TREC run, as Pyserini would.

    Uses and prints the parameters that a pruned index records. For BM25 these are Pyserini's
    defaults, unless it was pruned with another --search-as. --rm3 and --rocchio need term vectors
    (Anserini's -storeDocvectors).
    """
    from ..searching.search import search_index

    if rm3 and rocchio:
        raise click.UsageError("--rm3 and --rocchio exclude each other: pass one")
    arguments["feedback"] = "rm3" if rm3 else "rocchio" if rocchio else None
    summary = options.run_or_print(search_index, **arguments)
    if not as_json:
        empty = summary["queries_without_hits"]
        ids = " ".join(empty[:_SHOWN]) + (" ..." if len(empty) > _SHOWN else "")
        summary["queries_without_hits"] = f"{len(empty)} (ids: {ids})" if empty else "0"
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)
