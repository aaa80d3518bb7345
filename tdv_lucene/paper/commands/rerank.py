"""``tdv-lucene paper rerank``."""

from __future__ import annotations

from typing import Any

import click

from ...cli import _options as options
from ._options import rerank_depth_option, tokens_matrix_option


@options.command("rerank", effects=options.PRINTED_EFFECTS)
@options.index_option
@click.option("--ranker", required=True, metavar="FOLDER", help="From 'ranker', of this index.")
@options.topics_option
@click.option("--run", "run", required=True, metavar="PATH", help="A TREC run to re-rank.")
@click.option(
    "--output",
    required=True,
    metavar="PATH",
    help="The new run; '-' prints it, and all else on stderr.",
)
@rerank_depth_option
@tokens_matrix_option
@options.topic_field_option
@click.option("--tag", help="Last column of the run.  [default: tdv-lucene-NAME]")
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Re-rank a run with a neural re-ranker.

    The first documents of each query are scored; those after them follow in their order.
    """
    from ..neural.rerank import rerank_run

    with options.printed_if_dash(arguments["output"]) as output:
        summary = options.run(rerank_run, **{**arguments, "output": output})
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)
