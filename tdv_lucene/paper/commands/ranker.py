"""``tdv-lucene paper ranker``."""

from __future__ import annotations

from ...cli import _options as options
from ..config import RankerConfig


@options.command("ranker", config=RankerConfig)
@options.index_option
@options.topics_option
@options.qrels_option
@options.output_option("the ranker to this folder")
def command(as_json: bool, **arguments: object) -> None:
    """Train a neural re-ranker on judged queries, to compare pruning with.

    Needs the extra 'neural', and an index with positions or stored text. Hyperparameters are fixed;
    the epoch is chosen on the training queries. Pass the folder to 'rerank'.
    """
    from ..neural.rerank import train_ranker

    summary = options.run(train_ranker, **arguments)
    options.show({"output": arguments["output"], **summary}, as_json)
