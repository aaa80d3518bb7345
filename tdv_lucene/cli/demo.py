"""``tdv-lucene demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import _options as options


@click.command("demo")
@click.option(
    "--output", default="tdv-lucene-demo", show_default=True, metavar="FOLDER",
    help="Where to write the collection, the indexes and the report.",
)  # fmt: skip
@click.option(
    "--reduction",
    type=float,
    help="Share of the postings to remove.  [default: what held-out queries bear]",
)
@options.seed_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Run the whole job on a demonstration collection: Python's own documentation.

    Needs no download: documents and topics are made from the interpreter that runs this.
    """
    from ..experiments.demo import run_demo
    from .compare import show_comparison

    report = options.run(run_demo, announce=_announce, **arguments)
    show_comparison(report, Path(arguments["output"]) / "report", as_json)


def _announce(text: str) -> None:
    """On stderr, above a progress bar that may stand there."""
    from tqdm import tqdm

    tqdm.write(text, file=click.get_text_stream("stderr"))
