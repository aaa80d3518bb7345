"""``tdv-lucene compare``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from ..comparison.config import CompareConfig
from ..options import Effect
from . import _options as options

_EFFECTS = (Effect(("form",), "as_json", "JSON output has no tables", only=(False,)),)


@options.command("compare", config=CompareConfig, effects=_EFFECTS)
@options.option(
    "--index", "indexes", required=True, multiple=True, metavar="[NAME=]FOLDER",
    help="Compare this Lucene index. Repeat with names to compare several; the first is the "
    "baseline. For shards, pass 'SHARDS/*' (quoted) or @FILE.",
)  # fmt: skip
@options.option(
    "--pruned", metavar="FOLDER", callback=options.folder_or_shards,
    help="Compare this pruned index with --index.",
)  # fmt: skip
@options.option(
    "--topics", required=True, multiple=True, metavar="TOPICS",
    help=f"{options.TOPICS_HELP} Repeat for more query sets.",
)  # fmt: skip
@options.option(
    "--qrels", required=True, multiple=True, metavar="QRELS",
    help=f"{options.QRELS_HELP} Pass one for each --topics, in the same order.",
)  # fmt: skip
@options.output_option("the report to this folder")
@options.option(
    "--tune-topics", metavar="TOPICS",
    help="Add a system: the baseline with k1 and b (or mu) tuned on these training topics.",
)  # fmt: skip
@options.option("--tune-qrels", metavar="QRELS", help="Read the judgements of --tune-topics.")
@options.option(
    "--format", "form", type=click.Choice(["screen", "markdown", "latex"]), default="screen",
    show_default=True, group="Report", help="Print tables in this format.",
)  # fmt: skip
def command(
    indexes: tuple[str, ...],
    pruned: Any,
    topics: tuple[str, ...],
    qrels: tuple[str, ...],
    tune_topics: str | None,
    tune_qrels: str | None,
    form: str,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Compare the full index with a pruned one: effectiveness, size and latency.

    Pass --index and --pruned, or several --index NAME=FOLDER. Writes report.html, report.json,
    the measures of each query and the runs into the folder --output.
    """
    from ..comparison.compare import compare_indexes

    (first, index), (second, treatment), *further = _named(indexes, pruned)
    if len(topics) != len(qrels):
        raise click.UsageError(
            f"{len(topics)} --topics but {len(qrels)} --qrels: pass one --qrels for each --topics"
        )
    if (tune_topics is None) != (tune_qrels is None):
        raise click.UsageError("--tune-topics and --tune-qrels go together: pass both")
    arguments["names"] = (first, second)
    report = options.run(
        compare_indexes, index, treatment, topics[0], qrels[0], **arguments,
        further_indexes=dict(further), further_queries=list(zip(topics[1:], qrels[1:])),
        tune=(tune_topics, tune_qrels) if tune_topics else None,
    )  # fmt: skip
    if form != "screen" and not as_json:
        from ..report.tables import all_tables
        from ..report.text import to_latex, to_markdown

        click.echo({"markdown": to_markdown, "latex": to_latex}[form](all_tables(report)))
        for note in report["notes"]:
            click.echo(f"Note: {note}.", err=True)
        return
    show_comparison(report, Path(arguments["output"]), as_json)


def _named(indexes: tuple[str, ...], pruned: Any) -> list[tuple[str, Any]]:
    """Return (name, folder or shards) of every index, the baseline first."""
    found = partial(options.index_or_shards, click.get_current_context(), None)
    if len(indexes) == 1 and pruned is not None:
        return [*zip(CompareConfig.names, (found(indexes), pruned))]
    if pruned is not None:
        raise click.UsageError("--pruned goes with one --index: pass it as --index NAME=FOLDER")
    if len(indexes) == 1:
        raise click.UsageError("one index is nothing to compare: pass --pruned, or several --index")
    named = [one.partition("=") for one in indexes]
    names = [name for name, _, _ in named]
    for name, _, folder in named:
        if not (name and folder):
            raise click.UsageError(f"--index {name} has no name: pass --index NAME=FOLDER")
        if names.count(name) > 1:
            raise click.UsageError(f"two --index are named '{name}': use different names")
    return [(name, found([folder])) for name, _, folder in named]


def show_comparison(report: dict[str, Any], folder: Path, as_json: bool) -> None:
    """Print a report as tables, or as JSON; ``folder`` is where it was written."""
    if as_json:
        options.show(report, as_json)
        return
    from ..report.tables import comparison_tables

    options.show_tables(comparison_tables(report))
    for note in report["notes"]:
        options.say(f"Note: {note}.")
    for label, found in report["query_sets"].items():
        for name, ids in found["queries"]["emptied_ids_by"].items():
            where = f"{name}, {label}" if len(report["query_sets"]) > 1 else name
            if ids:
                options.say(f"Emptied by pruning in {where}: {' '.join(ids)}")
    click.echo()
    options.say(f"Queries were analysed as {report['analysis']['described']}.")
    for told in dict.fromkeys(report["defaults"].values()):
        names = ", ".join(name for name, one in report["defaults"].items() if one == told)
        options.say(f"Defaults taken for {names}: {told}.")
    options.say(f"Report: {folder / 'report.html'}")
