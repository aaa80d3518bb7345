"""``tdv-lucene paper``: the experiment's own commands."""

from __future__ import annotations

from typing import Any

import click

from ..cli import common as options
from .config import RankerConfig, ReproduceConfig, RerankConfig
from .neural import RANKERS
from .published import COLLECTIONS


@click.group("paper", context_settings=options.HELP_NAMES)
def paper() -> None:
    """Run the experiment of the paper and the neural re-rankers it compares with."""


@options.command("reproduce", config=ReproduceConfig)
@options.option(
    "--collection", required=True, type=click.Choice(tuple(COLLECTIONS)),
    help="Name the collection. The paper has results for the first three only.",
)  # fmt: skip
@options.index_option
@options.topics_option
@options.qrels_option
@options.output_option("the tables to this folder")
def reproduce(as_json: bool, **arguments: Any) -> None:
    """Run the experiment and print Tables 1 to 3 of the paper with the published values.

    The index must hold the collection's documents (for TREC SGML, made by 'index --collection
    TrecCollection'). Uses only the paper's topics, and only judgements of documents in the index.
    --neural needs positions or stored text in the index, and the extra 'neural'.
    """
    from .reproduce import reproduce_paper
    from .results import paper_tables

    if "neural" in arguments:
        named = arguments["neural"]
        arguments["neural"] = tuple(RANKERS) if named == "all" else tuple(named.split(","))
    report = options.run(reproduce_paper, **arguments)
    if as_json:
        options.show(report, as_json)
    else:
        options.show_tables(paper_tables(report))


@options.command("ranker", config=RankerConfig)
@options.index_option
@options.topics_option
@options.qrels_option
@options.output_option("the ranker to this folder")
def ranker(as_json: bool, **arguments: object) -> None:
    """Train a neural re-ranker on judged queries, to compare pruning with.

    Needs the extra 'neural', and an index with positions or stored text. Hyperparameters are fixed;
    the epoch is chosen on the training queries. Pass the folder to 'rerank'.
    """
    from .neural.rerank import train_ranker

    summary = options.run(train_ranker, **arguments)
    options.show({"output": arguments["output"], **summary}, as_json)


@options.command("rerank", config=RerankConfig, effects=options.PRINTED_EFFECTS)
@options.index_option
@options.option(
    "--ranker", required=True, metavar="FOLDER",
    help="Re-ranker from 'ranker', trained on this index.",
)  # fmt: skip
@options.topics_option
@options.option("--run", "run", required=True, metavar="PATH", help="TREC run to re-rank.")
@options.printed_output_option("the new run")
def rerank(as_json: bool, **arguments: Any) -> None:
    """Re-rank a run with a neural re-ranker.

    Scores the first documents of each query. The others follow in their order.
    """
    from .neural.rerank import rerank_run

    summary = options.run_or_print(rerank_run, **arguments)
    printed = arguments["output"] == options.STDOUT
    options.show({"output": arguments["output"], **summary}, as_json, err=printed)


for each in (reproduce, ranker, rerank):
    paper.add_command(each)
