"""``tdv-lucene compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from . import _options as options


@click.command("compare")
@options.index_option
@click.option("--pruned", required=True, metavar="FOLDER", help="What 'prune' wrote from it.")
@options.topics_option
@options.qrels_option
@options.output_option
@options.model_option
@options.field_option
@click.option(
    "--names", nargs=2, default=("full", "pruned"), show_default=True,
    help="What to call the two indexes in the report.",
)  # fmt: skip
@click.option("--threads", type=int, help="Queries searched at once, when not timed.")
@click.option(
    "--latency-budget",
    "latency_budget_seconds",
    default=60.0,
    show_default=True,
    help="Seconds for measuring latency; fewer queries are timed where they do not fit.",
)
@click.option(
    "--latency-rounds",
    default=7,
    show_default=True,
    help="Rounds that count, at least 5.",
)
@click.option("--seed", default=0, show_default=True, help="Order, and choice, of queries timed.")
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Compare the full index with a pruned one: effectiveness, size and latency.

    Writes report.json, report.html, per_query.tsv and the runs into the folder OUTPUT.
    """
    from ..compare import compare_indexes

    report = options.run(compare_indexes, **arguments)
    show_comparison(report, Path(arguments["output"]), as_json)


def show_comparison(report: dict[str, Any], folder: Path, as_json: bool) -> None:
    """Print a report as tables, or as JSON; ``folder`` is where it was written."""
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False))
        return
    from rich.console import Console

    from ..report.tables import comparison_tables, to_rich

    console = Console()
    for table in comparison_tables(report):
        console.print(to_rich(table))
    for note in report["notes"]:
        console.print(f"Note: {note}.")
    emptied = report["queries"]["emptied_ids"]
    if emptied:
        console.print(f"Emptied by pruning: {' '.join(emptied)}")
    click.echo(f"\nReport: {folder / 'report.html'}")
