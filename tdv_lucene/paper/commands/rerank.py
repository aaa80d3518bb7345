"""``tdv-lucene paper rerank``."""

from __future__ import annotations

from typing import Any

from ...cli import _options as options
from ..config import RerankConfig


@options.command("rerank", config=RerankConfig, effects=options.PRINTED_EFFECTS)
@options.index_option
@options.option(
    "--ranker",
    required=True,
    metavar="FOLDER",
    help="Re-ranker from 'ranker', trained on this index.",
)
@options.topics_option
@options.option("--run", "run", required=True, metavar="PATH", help="TREC run to re-rank.")
@options.printed_output_option("the new run")
def command(as_json: bool, **arguments: Any) -> None:
    """Re-rank a run with a neural re-ranker.

    Scores the first documents of each query. The others follow in their order.
    """
    from ..neural.rerank import rerank_run

    summary = options.run_or_print(rerank_run, **arguments)
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)
