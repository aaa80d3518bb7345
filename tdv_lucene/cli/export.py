"""``tdv-lucene export``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options


@options.command("export")
@options.index_option
@options.output_option
@click.option(
    "--format", "form", type=click.Choice(["ciff"]), default="ciff", show_default=True,
    help="Common Index File Format: read by PISA, JASSv2, Terrier and others.",
)  # fmt: skip
@options.field_option
@options.matrix_option
@options.overwrite_option
@options.json_option
def command(output: str, form: str, as_json: bool, **arguments: Any) -> None:
    """Write a field of a full or pruned index as one file that other engines read.

    Frequencies are those in the index, lengths their sums. Rank a pruned index with the parameters
    in the file's description: lengths cannot hold k1 for an engine with one of its own.
    """
    from ..matrix.ciff import export_ciff

    written = options.run(export_ciff, output=output, **arguments)
    options.show({"output": output, "format": form, **written}, as_json)
