"""The options of making peers."""

from __future__ import annotations

from dataclasses import dataclass

from ..matrix.config import OfMatrix
from ..options import PYTHON_ONLY, Effect, OfField, Overwrite, Seed
from ..ranking import Parameter
from ..ranking.parameters import Parameters, options_of


def _recorded(each: Parameter) -> str:
    return f"{each.title} that the index records."


@dataclass(frozen=True, kw_only=True)
class PeersConfig(
    OfMatrix, Seed, OfField, Overwrite, Parameters, numbers=options_of(_recorded, flag=PYTHON_ONLY)
):
    """Options of :func:`tdv_lucene.make_peer_values`."""

    EFFECTS = (Effect(("seed",), "name", "nothing else is random", only=("random",)),)
