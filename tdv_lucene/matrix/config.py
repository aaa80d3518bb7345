"""The options of extracting and exporting a field."""

from __future__ import annotations

from ..options import OfField, OfMatrix, Overwrite, Threads, option


class ExtractConfig(OfField, Threads, Overwrite):
    """What :func:`tdv_lucene.extract_matrix` writes."""

    positions: bool = option(
        True,
        "Also write each term's first position in each document, if the index has positions.",
    )
    tokens: bool = option(
        False,
        "Also write the tokens of each document in order, for neural re-rankers. Uses positions, "
        "or stored text if there are none.",
    )


class ExportConfig(OfField, OfMatrix, Overwrite):
    """What :func:`tdv_lucene.export_ciff` writes."""
