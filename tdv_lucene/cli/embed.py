"""``tdv-lucene embed``."""

from __future__ import annotations

from . import _options as options


@options.command("embed")
@options.index_option
@options.output_option
@options.option(
    "--vectors",
    default="lsa",
    show_default=True,
    metavar="lsa|train|FILE",
    help="lsa: compute vectors from the matrix.  train: train vectors on the stored text.  FILE: "
    "read fastText .bin, word2vec .bin, .vec or .txt, or NumPy .npz (arrays 'words' and 'vectors') "
    "or .npy (words in a .txt beside it).",
)
@options.trust_pickle_option
@options.option(
    "--dimensions", type=int, default=100, show_default=True,
    help="Set the dimensions of vectors from lsa and train.",
)  # fmt: skip
@options.matrix_option
@options.seed_option
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: object) -> None:
    """Make word vectors for an index's terms, for 'learn --vectors'.

    Matches the words of a file to the index's stems by running them through its analyzer.
    """
    from ..embedding.embed import embed_terms

    made = options.run(embed_terms, **arguments)
    terms, dimensions = made.vectors.shape
    sizes = {"terms_with_a_vector": terms, "dimensions": dimensions}
    options.show({"output": arguments["output"], **sizes, **made.origin}, as_json)
