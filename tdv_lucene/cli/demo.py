"""``tdv-lucene demo``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..demo import DemoConfig
from . import _options as options


@options.command("demo", config=DemoConfig)
@options.option(
    "--output", default="tdv-lucene-demo", show_default=True, metavar="FOLDER",
    help="Write the collection, the indexes and the report to this folder.",
)  # fmt: skip
def command(as_json: bool, **arguments: Any) -> None:
    """Run the whole job on a demonstration collection: 4,000 Wikipedia articles.

    Downloads nothing. People asked the 600 queries and judged the answers. Learns from half of the
    queries and measures on the other half. Then shows a catalogue of short texts, which bear no
    pruning.
    """
    from tqdm import tqdm

    from ..demo.run import run_demo
    from .compare import show_comparison

    above_a_bar = partial(tqdm.write, file=sys.stderr)  # which may stand there
    report = options.run(run_demo, announce=above_a_bar, **arguments)
    folder = Path(arguments["output"]) / "report"
    show_comparison(report, folder, as_json)
    if not as_json:
        _close(report, folder)


def _close(report: dict[str, Any], folder: Path) -> None:
    """Print what the tables say, and what comes next."""
    from ..demo.collection import DemoCollection
    from ..demo.run import CATALOGUE
    from ..demo.words import (
        NEXT_STEPS,
        catalogue_table,
        example_tables,
        kinds_table,
        tell_outcomes,
    )
    from ..report.reading import read_report

    click.echo("It begins with a picture of all this, and lists every query.")
    collection = DemoCollection.at(folder.parent / "collection")
    kinds = kinds_table(folder, without=report["parameters"]["tier_of"])
    options.show_tables([kinds, *example_tables(collection, folder)])
    click.echo(f"\n{tell_outcomes(report)}\n")
    options.show_tables([catalogue_table(read_report(folder.parent / CATALOGUE / "report"))])
    click.echo(f"\n{NEXT_STEPS}", nl=False)
