"""``tdv-lucene export``."""

from __future__ import annotations

from typing import Any

import click

from ..matrix.config import ExportConfig
from . import _options as options


@options.command("export", config=ExportConfig)
@options.index_option
@options.output_option("this file")
@options.option(
    "--format", "form", type=click.Choice(["ciff"]), default="ciff", show_default=True,
    help="Write the Common Index File Format, which PISA, JASSv2, Terrier and others read.",
)  # fmt: skip
def command(output: str, form: str, as_json: bool, **arguments: Any) -> None:
    """Write a field of a full or pruned index as one file that other engines read.

    Frequencies are those in the index. A document's length is their sum. Rank a pruned index with
    the parameters in the file's description: unlike Lucene's norms, lengths cannot hold k1.
    """
    from ..matrix.ciff import export_ciff

    written = options.run(export_ciff, output=output, **arguments)
    options.show({"output": output, "format": form, **written}, as_json)
