"""``tdv-lucene paper ranker``."""

from __future__ import annotations

import click

from ...cli import _options as options
from ._options import tokens_matrix_option


@options.command("ranker")
@options.index_option
@options.topics_option
@options.qrels_option
@click.option(
    "--name",
    type=click.Choice(["drmm", "duet", "conv-knrm"]),
    default="drmm",
    show_default=True,
    help="Which neural re-ranker.",
)
@options.output_option
@click.option(
    "--vectors",
    metavar="PATH",
    help="From 'embed', or a file of word vectors.  [default: LSA of the matrix]",
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

    Needs the extra 'neural', and an index with positions or stored text. 'rerank' takes the folder.
    Every number of it is fixed; the epoch is chosen on the training queries.
    """
    from ..neural.rerank import train_ranker

    summary = options.run(train_ranker, **arguments)
    options.show({"output": arguments["output"], **summary}, as_json)
