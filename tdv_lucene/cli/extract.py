"""``tdv-lucene extract``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import _options as options


@options.command("extract")
@options.shards_option
@options.scheduler_option
@options.output_option
@options.field_option
@click.option(
    "--documents",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write only the rows of these documents: a file of ids, one a line. Learning needs all "
    "documents.",
)
@click.option(
    "--positions/--no-positions",
    default=True,
    show_default=True,
    help="Also write each term's first position in each document, if the index has positions.",
)
@click.option(
    "--tokens",
    is_flag=True,
    help="Also write every document's tokens in order, for neural re-rankers: from positions, else "
    "from stored text.",
)
@options.threads_option
@options.overwrite_option
@options.json_option
def command(output: str, documents: Path | None, as_json: bool, **arguments: Any) -> None:
    """Write the term-document matrix of an index's field as memory-mapped NumPy arrays.

    This reads postings only; neither stored vectors nor stored text is needed. With --documents,
    memory and output grow with the rows asked for; term statistics stay those of the whole index.
    """
    from ..evaluation.topics import STDIN, read_stdin
    from ..matrix.extract import describe_matrix, extract_matrix, split_ids

    ids: list[str] | Path | None = documents
    if documents is not None and str(documents) == STDIN:
        ids = split_ids(read_stdin("document ids"), f"--documents {documents}")
    matrix = options.run(extract_matrix, output=output, documents=ids, **arguments)
    summary = describe_matrix(matrix)
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)
