"""``tdv-lucene serve``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options


@options.command("serve")
@click.option(
    "--index", "indexes", required=True, multiple=True, metavar="NAME=FOLDER",
    help="Lucene index, given at least twice. The others are compared with the first.",
)  # fmt: skip
@click.option(
    "--tdv", "values", multiple=True, metavar="NAME=FOLDER",
    help="The TDVs that the index NAME was pruned with, if kept.",
)  # fmt: skip
@options.search_model_option
@options.field_option
@click.option("--hits", default=10, show_default=True, help="Best documents shown.")
@click.option("--port", type=int, default=0, help="Port to listen on.  [default: any that is free]")
def command(indexes: tuple[str, ...], values: tuple[str, ...], **arguments: Any) -> None:
    """Show the rankings of several indexes side by side on a local page.

    Type a query and see which documents moved, appeared or disappeared, their texts, and what
    became of the query's terms. Only this machine can open the page, at the printed address, until
    Ctrl-C. Nothing is written.
    """
    from ..comparison.serving import serve_indexes
    from ..interruption import obey

    named = options.named_folders(indexes, "--index")
    by_name = options.named_folders(values, "--tdv")
    for name in by_name.keys() - named.keys():
        raise click.UsageError(f"--tdv {name}=...: no --index has the name '{name}'")
    named = {name: options.folder_of_index(given) for name, given in named.items()}
    serve_indexes(named, values=by_name, ready=_say, **arguments)
    obey()  # Ctrl-C is how to stop it, and no error
    click.echo("Stopped.")


def _say(address: str) -> None:
    click.echo(f"{address}\nOpen this address in a browser; Ctrl-C stops.")
