"""The options of the demonstration."""

from __future__ import annotations

from dataclasses import dataclass

from ..arguments import checked_share
from ..options import Overwrite, Seed, option


@dataclass(frozen=True, kw_only=True)
class DemoConfig(Seed, Overwrite):
    """How the demonstration is run."""

    reduction: float = option(
        0.45, "Drop this share of the postings.", metavar="SHARE", check=checked_share
    )
