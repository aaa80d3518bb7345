"""``tdv-lucene extract``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..matrix.config import ExtractConfig
from . import _options as options


@options.command("extract", config=ExtractConfig)
@options.shards_option
@options.scheduler_option
@options.output_option("the matrix to this folder")
@options.option(
    "--documents",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write only the documents listed in FILE, one id a line. '-' reads standard input. "
    "'learn' needs all documents.",
)
def command(output: str, documents: Path | None, as_json: bool, **arguments: Any) -> None:
    """Write a field's term-document matrix as memory-mapped NumPy arrays.

    Needs postings only, no term vectors and no stored text. With --documents, memory and output
    grow with the number of documents listed. Term statistics stay those of the whole index.
    """
    from ..evaluation.topics import STDIN, read_stdin
    from ..matrix.extract import extract_matrix, split_ids
    from ..matrix.stored_matrix import describe_matrix

    ids: list[str] | Path | None = documents
    if documents is not None and str(documents) == STDIN:
        ids = split_ids(read_stdin("document ids"), f"--documents {documents}")
    matrix = options.run(extract_matrix, output=output, documents=ids, **arguments)
    summary = describe_matrix(matrix)
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)
