"""``tdv-lucene embed``."""

from __future__ import annotations

from ..matrix.config import EmbedConfig
from . import _options as options


@options.command("embed", config=EmbedConfig)
@options.index_option
@options.output_option("the vectors to this folder")
def command(as_json: bool, **arguments: object) -> None:
    """Make word vectors for an index's terms, for 'learn --vectors'.

    Matches the words of a file to the index's stems by running them through its analyzer.
    """
    from ..matrix.embed import embed_terms

    made = options.run(embed_terms, **arguments)
    terms, dimensions = made.vectors.shape
    sizes = {"terms_with_a_vector": terms, "dimensions": dimensions}
    options.show({"output": arguments["output"], **sizes, **made.origin}, as_json)
