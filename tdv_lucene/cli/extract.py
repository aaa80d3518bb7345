"""``tdv-lucene extract``."""

from __future__ import annotations

from typing import Any

from ..matrix.config import ExtractConfig
from . import _options as options


@options.command("extract", config=ExtractConfig)
@options.shards_option
@options.output_option("the matrix to this folder")
def command(output: str, as_json: bool, **arguments: Any) -> None:
    """Write a field's term-document matrix as memory-mapped NumPy arrays.

    Needs postings only, no term vectors and no stored text.
    """
    from ..matrix.extract import extract_matrix
    from ..matrix.term_document_matrix import describe_matrix

    summary = describe_matrix(options.run(extract_matrix, output=output, **arguments))
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)
