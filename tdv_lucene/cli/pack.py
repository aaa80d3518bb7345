"""``tdv-lucene pack``."""

from __future__ import annotations

from typing import Any

from ..indexes.config import PackConfig
from . import _options as options


@options.command("pack", config=PackConfig)
@options.index_option
@options.output_option("this file, NAME.tar.gz")
def command(as_json: bool, **arguments: Any) -> None:
    """Write an index as one file NAME.tar.gz, to pass on.

    It unpacks to the folder NAME, as Pyserini's prebuilt indexes do. Prints the checksums.
    """
    from ..indexes.pack import pack_index

    options.show(options.run(pack_index, **arguments), as_json)
