"""``tdv-lucene paper ranker``."""

from __future__ import annotations

import click

from ...cli import _options as options
from ._options import tokens_matrix_option


@options.command("ranker")
@options.index_option
@options.topics_option
@options.qrels_option
@options.option(
    "--name",
    type=click.Choice(["drmm", "duet", "conv-knrm"]),
    default="drmm",
    show_default=True,
    help="Choose the neural re-ranker.",
)
@options.output_option
@options.option(
    "--vectors",
    metavar="PATH",
    help="Use word vectors from 'embed', or from a file.  [default: LSA]",
)
@options.trust_pickle_option
@tokens_matrix_option
@options.topic_field_option
@options.seed_option
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: object) -> None:
    """Train a neural re-ranker on judged queries, to compare pruning with.

    Needs the extra 'neural', and an index with positions or stored text. Hyperparameters are fixed;
    the epoch is chosen on the training queries. Pass the folder to 'rerank'.
    """
    from ..neural.rerank import train_ranker

    summary = options.run(train_ranker, **arguments)
    options.show({"output": arguments["output"], **summary}, as_json)
