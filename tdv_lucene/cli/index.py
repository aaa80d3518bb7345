"""``tdv-lucene index``."""

from __future__ import annotations

from typing import Any

import click

from ..index.config import BuildConfig
from . import _options as options
from ._command import Command


class _WithHelp(Command):
    """Show help on -h alone: click would find an option -h among the letters of -threads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--help" if word == "-h" else word for word in args])


@click.command(
    "index",
    cls=_WithHelp,
    config=BuildConfig,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@options.option(
    "--index",
    "-index",
    "output",
    required=True,
    metavar="FOLDER",
    help="Write the index to this folder.",
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def command(output: str, as_json: bool, flags: tuple[str, ...], **given: Any) -> None:
    """Index a collection with Anserini's IndexCollection. Passes all other flags to it.

    \b
    tdv-lucene index --collection JsonCollection --input DOCS \\
      --generator DefaultLuceneDocumentGenerator --threads 2 --index INDEX
    """
    from ..index.build import build_index

    options.show(options.run(build_index, output, flags, **given), as_json)
