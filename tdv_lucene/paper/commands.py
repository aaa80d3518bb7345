"""``tdv-lucene paper``: the experiment's own commands."""

from __future__ import annotations

from typing import Any

import click

from ..cli import common as options
from .config import ReproduceConfig
from .neural import RANKERS
from .published import COLLECTIONS


@click.group("paper", context_settings=options.HELP_NAMES)
def paper() -> None:
    """Run the experiment of the paper."""


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
    --neural needs positions in the index, and the extra 'neural'.
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
        options.show_tables(*paper_tables(report))


paper.add_command(reproduce)
