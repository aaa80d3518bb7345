"""The options of making peers."""

from __future__ import annotations

from ..matrix.config import OfMatrix
from ..options import PYTHON_ONLY, Effect, OfField, Overwrite, Seed
from ..ranking.options import Parameters, parameter_option


class PeersConfig(OfMatrix, Seed, OfField, Overwrite, Parameters):
    """How :func:`tdv_lucene.make_peer_values` makes TDVs."""

    k1: float | None = parameter_option("BM25's k1 that the index records.", flag=PYTHON_ONLY)
    b: float | None = parameter_option("BM25's b that the index records.", flag=PYTHON_ONLY)
    mu: float | None = parameter_option("QLD's mu that the index records.", flag=PYTHON_ONLY)
    min_idf: float | None = parameter_option(
        "Pyserini's min_idf that the index records.", flag=PYTHON_ONLY
    )

    EFFECTS = (Effect(("seed",), "name", "nothing else is random", only=("random",)),)
