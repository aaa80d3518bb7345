"""``tdv-lucene extract``."""

from __future__ import annotations

import click

from . import _options as options


@click.command("extract")
@options.index_option
@options.output_option
@options.field_option
@options.overwrite_option
@options.json_option
def command(index: str, output: str, field: str, overwrite: bool, as_json: bool) -> None:
    """Write the term-document matrix of an index's field as memory-mapped NumPy arrays.

    Needs only postings: no stored vectors, no stored text.
    """
    from ..extract import describe_matrix, extract_matrix

    matrix = options.run(extract_matrix, index, output, field=field, overwrite=overwrite)
    summary = describe_matrix(matrix)
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)
