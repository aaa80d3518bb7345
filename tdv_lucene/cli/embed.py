"""``tdv-lucene embed``."""

from __future__ import annotations

import click

from . import _options as options


@options.command("embed")
@options.index_option
@options.output_option
@click.option(
    "--vectors",
    default="lsa",
    show_default=True,
    metavar="lsa|train|FILE",
    help="lsa: from the matrix. train: on the stored text. A file: fastText .bin, word2vec .bin, "
    ".vec or .txt, NumPy .npz (arrays 'words' and 'vectors') or .npy (words in a .txt beside it).",
)
@options.trust_pickle_option
@click.option(
    "--dimensions", type=int, default=100, show_default=True,
    help="Length of the vectors of lsa and train.",
)  # fmt: skip
@options.matrix_option
@options.seed_option
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: object) -> None:
    """Make word vectors of an index's terms, for 'learn --vectors'.

    Words of a file are matched to the index's stems by running them through its analyzer.
    """
    from ..embedding.embed import embed_terms

    made = options.run(embed_terms, **arguments)
    terms, dimensions = made.vectors.shape
    sizes = {"terms_with_a_vector": terms, "dimensions": dimensions}
    options.show({"output": arguments["output"], **sizes, **made.origin}, as_json)
