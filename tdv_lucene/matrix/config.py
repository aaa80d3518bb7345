"""The options of extracting and exporting a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..options import INPUT, Config, Effect, Named, OfField, Overwrite, Threads, option


@dataclass(frozen=True, kw_only=True)
class OfMatrix(Config):
    """The term-document matrix."""

    matrix: Any = option(
        None, "Use a matrix from 'extract'.  [default: extract a temporary one]",
        metavar="FOLDER", group=INPUT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExtractConfig(OfField, Threads, Named, Overwrite):
    """Options of :func:`tdv_lucene.extract_matrix`."""

    positions: bool = option(
        True, "Also write each term's first position in each document, if the index has positions."
    )
    tokens: bool = option(
        False,
        "Also write the tokens of each document in order, for neural re-rankers. Uses positions, "
        "or stored text if there are none.",
    )


@dataclass(frozen=True, kw_only=True)
class ExportConfig(OfField, OfMatrix, Named, Overwrite):
    """Options of :func:`tdv_lucene.export_ciff`."""

    EFFECTS = (Effect(("id_field",), "matrix", "the matrix has the ids", only=(None,)),)
