"""``tdv-lucene search``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options

_SHOWN = 10  # ids of queries without hits on the screen; --json has them all


@options.command("search", effects=options.PRINTED_EFFECTS)
@options.shards_option
@options.scheduler_option
@options.topics_option
@click.option(
    "--output",
    required=True,
    metavar="PATH",
    help="The run; '-' prints it, and everything else goes to stderr.",
)
@options.search_model_option
@options.topic_field_option
@click.option("--tag", help="Last column of the run.  [default: tdv-lucene-MODEL]")
@click.option("--rm3", is_flag=True, help="Expand queries by RM3, as Pyserini's --rm3.")
@click.option("--rocchio", is_flag=True, help="Expand queries by Rocchio, as Pyserini's --rocchio.")
@click.option("--hits", default=1000, show_default=True, help="Documents per query.")
@click.option("--threads", type=int, help="Queries searched at once.  [default: all cores]")
@click.option("--k1", type=float, help="BM25's k1.  [default: what the index records, else 0.9]")
@click.option("--b", type=float, help="BM25's b.  [default: what the index records, else 0.4]")
@click.option("--mu", type=float, help="QLD's mu.  [default: what the index records, else 1000]")
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, rm3: bool, rocchio: bool, **arguments: Any) -> None:
    """Search all topics and write a TREC run, as Pyserini would.

    A pruned index needs other parameters than its source, and records them. They are printed, so
    that you can give plain Pyserini the same. --rm3 and --rocchio need term vectors (Anserini's
    -storeDocvectors).
    """
    from ..searching.search import search_index

    if rm3 and rocchio:
        raise click.UsageError("--rm3 and --rocchio exclude each other: each expands the query")
    arguments["feedback"] = "rm3" if rm3 else "rocchio" if rocchio else None
    with options.printed_if_dash(arguments["output"]) as output:
        summary = options.run(search_index, **{**arguments, "output": output})
    if not as_json:
        empty = summary["queries_without_hits"]
        ids = " ".join(empty[:_SHOWN]) + (" ..." if len(empty) > _SHOWN else "")
        summary["queries_without_hits"] = f"{len(empty)} (ids: {ids})" if empty else "0"
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)
