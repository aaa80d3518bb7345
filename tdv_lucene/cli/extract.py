"""``tdv-lucene extract``."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from ..errors import TdvError
from . import _options as options


@options.command("extract")
@options.shards_option
@options.scheduler_option
@options.output_option
@options.field_option
@click.option(
    "--documents",
    type=click.File("rb"),
    help="Write rows of these documents only: their ids, one a line. Not to learn from, which "
    "needs all.",
)
@click.option(
    "--positions/--no-positions",
    default=True,
    show_default=True,
    help="Also write where each document has each term first, if the index knows.",
)
@options.threads_option
@options.overwrite_option
@options.json_option
def command(output: str, documents: BinaryIO | None, as_json: bool, **arguments: Any) -> None:
    """Write the term-document matrix of an index's field as memory-mapped NumPy arrays.

    Needs only postings: no stored vectors, no stored text. With --documents, memory and output are
    as large as the rows asked for; the terms' statistics stay those of the whole index.
    """
    from ..matrix.extract import describe_matrix, extract_matrix

    ids = None if documents is None else _read_ids(documents)
    matrix = options.run(extract_matrix, output=output, documents=ids, **arguments)
    summary = describe_matrix(matrix)
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)


def _read_ids(file: BinaryIO) -> list[str]:
    try:
        text = file.read().decode()
    except UnicodeDecodeError as error:
        raise TdvError(
            f"--documents {file.name}: byte {error.start + 1} is not UTF-8: write document ids in "
            "UTF-8, one a line"
        ) from error
    return [line for line in text.splitlines() if line]
