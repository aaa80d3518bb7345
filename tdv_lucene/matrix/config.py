"""The options of extracting and exporting a field, and of making word vectors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysed
from ..options import (
    INPUT,
    PYTHON_ONLY,
    Config,
    Effect,
    Named,
    OfField,
    Overwrite,
    Seed,
    Threads,
    option,
)

LSA, TRAIN = "lsa", "train"
_MADE = (LSA, TRAIN)
MIN_DOC_FREQ = 5
"""Terms in fewer documents get no vector, by default."""


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


@dataclass(frozen=True, kw_only=True)
class ExportConfig(OfField, OfMatrix, Named, Overwrite):
    """Options of :func:`tdv_lucene.export_ciff`."""

    EFFECTS = (Effect(("id_field",), "matrix", "the matrix has the ids", only=(None,)),)


@dataclass(frozen=True, kw_only=True)
class EmbedConfig(OfMatrix, Seed, Analysed, OfField, Overwrite):
    """Options of :func:`tdv_lucene.embed_terms`."""

    vectors: str | os.PathLike[str] = option(
        LSA,
        "lsa: compute vectors from the matrix.  train: train vectors on the stored text.  FILE: "
        "read fastText .bin, word2vec .bin, .vec or .txt, or NumPy .npz (arrays 'words' and "
        "'vectors').",
        metavar="lsa|train|FILE",
    )
    dimensions: int = option(
        100, "Set the dimensions of vectors from lsa and train.", least=1, remedy="try 100"
    )
    min_doc_freq: int = option(
        MIN_DOC_FREQ, "Terms in fewer documents get no vector from LSA or from sub-words.",
        flag=PYTHON_ONLY,
    )  # fmt: skip

    EFFECTS = (
        Effect(("dimensions",), "vectors", "a file's vectors have their own length", only=_MADE),
        Effect(("seed",), "vectors", "nothing in a file is random", only=_MADE),
        Effect(tuple(Analysed.OPTIONS), "vectors", "no text is read", unless=(LSA,)),
    )
