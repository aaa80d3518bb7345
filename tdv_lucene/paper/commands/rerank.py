"""``tdv-lucene paper rerank``."""

from __future__ import annotations

from typing import Any

from ...cli import _options as options
from ._options import rerank_depth_option, tokens_matrix_option


@options.command("rerank", effects=options.PRINTED_EFFECTS)
@options.index_option
@options.option(
    "--ranker",
    required=True,
    metavar="FOLDER",
    help="Re-ranker from 'ranker', trained on this index.",
)
@options.topics_option
@options.option("--run", "run", required=True, metavar="PATH", help="TREC run to re-rank.")
@options.option(
    "--output",
    required=True,
    metavar="PATH",
    help="Write the new run to PATH. '-' prints it and sends everything else to stderr.",
)
@rerank_depth_option
@tokens_matrix_option
@options.topic_field_option
@options.option("--tag", help="Tag the run (last column).  [default: tdv-lucene-NAME]")
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Re-rank a run with a neural re-ranker.

    Scores the first documents of each query. The others follow in their order.
    """
    from ..neural.rerank import rerank_run

    with options.printed_if_dash(arguments["output"]) as output:
        summary = options.run(rerank_run, **{**arguments, "output": output})
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)
