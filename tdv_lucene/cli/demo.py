"""``tdv-lucene demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import _options as options


@options.command("demo")
@click.option(
    "--output", default="tdv-lucene-demo", show_default=True, metavar="FOLDER",
    help="Where to write the collection, the indexes and the report.",
)  # fmt: skip
@click.option(
    "--reduction",
    type=float,
    help="Share of the postings to drop.  [default: two indexes, one that costs held-out queries "
    "almost nothing and one as small as learning recommends]",
)
@options.seed_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Run the whole job on a demonstration collection: Python's own documentation.

    Needs no download: documents and topics are made from the interpreter that runs this.
    """
    from ..demo.run import run_demo
    from .compare import show_comparison

    report = options.run(run_demo, announce=_announce, **arguments)
    folder = Path(arguments["output"]) / "report"
    show_comparison(report, folder, as_json)
    if not as_json:
        _close(report, folder)


def _close(report: dict[str, Any], folder: Path) -> None:
    """After the tables: what they say, and what comes next."""
    from ..demo.words import NEXT_STEPS, kinds_table, tell_outcomes

    click.echo("It begins with a picture of all this, and lists every query.\n")
    options.show_tables([kinds_table(folder / "per_query.tsv")])
    click.echo(f"\n{tell_outcomes(report)}\n\n{NEXT_STEPS}", nl=False)


def _announce(text: str) -> None:
    """On stderr, above a progress bar that may stand there."""
    from tqdm import tqdm

    tqdm.write(text, file=click.get_text_stream("stderr"))
