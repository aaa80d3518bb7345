"""``tdv-lucene serve``."""

from __future__ import annotations

from typing import Any

import click

from ..comparison.config import ServeConfig
from . import _options as options


@options.command("serve", config=ServeConfig, json=False)
@options.option(
    "--index", "indexes", required=True, multiple=True, metavar="NAME=FOLDER",
    help="Open this Lucene index. Pass two or more; the others are compared with the first.",
)  # fmt: skip
def command(indexes: tuple[str, ...], **arguments: Any) -> None:
    """Show the rankings of several indexes side by side on a local page.

    Prints an address that only this machine can open. Type a query there to see which documents
    moved, appeared or disappeared, their texts, and what was dropped. Writes nothing. Stop it with
    Ctrl-C.
    """
    from ..comparison.serving import serve_indexes
    from ..interruption import obey

    named = options.named_folders(indexes, "--index")
    by_name = options.named_folders(arguments.get("values", ()), "--tdv")
    for name in by_name.keys() - named.keys():
        raise click.UsageError(
            f"--tdv {name}=FOLDER names no index: pass --index {name}=FOLDER too"
        )
    named = {name: options.folder_of_index(given) for name, given in named.items()}
    serve_indexes(
        named,
        ready=lambda at: click.echo(f"{at}\nOpen this address in a browser. Stop with Ctrl-C."),
        **{**arguments, "values": by_name},
    )
    obey()  # Ctrl-C is how to stop it, and no error
    click.echo("Stopped.")
