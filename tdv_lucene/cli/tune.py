"""``tdv-lucene tune``."""

from __future__ import annotations

from typing import Any

import click

from ..searching.config import TuneConfig
from . import _options as options
from ._advice import how_to_search


@options.command("tune", config=TuneConfig)
@options.shards_option
@options.option("--topics", metavar="TOPICS", help=options.TOPICS_HELP)
@options.option("--qrels", metavar="QRELS", help=options.QRELS_HELP)
@options.output_option("the index to this folder")
@options.scheduler_option
def command(as_json: bool, **arguments: Any) -> None:
    """Copy an index so that default BM25 ranks as with tuned k1 and b. Drops nothing.

    Only norms change. Frequencies, positions and stored fields stay as they are. Tunes on --topics
    and --qrels. Without them, uses the parameters of the built-in prior, learned on other judged
    collections.
    """
    from ..searching.tune import tune_index

    report = options.run(tune_index, **arguments)
    if as_json:
        options.show(report, as_json)
        return
    shown = {
        "output": report["output"],
        "field": report["field"],
        "learned_from": report["learned_from"],
        "documents_with_terms": report["documents_with_terms"],
        "bytes_before": report["bytes_before"],
        "bytes": report["bytes"],
    }
    tuned = report["baked"] or {}
    options.show({**shown, **{f"tuned {name}": value for name, value in tuned.items()}}, as_json)
    options.show_network(report)
    click.echo(how_to_search(report))
