"""The options of the demonstration."""

from __future__ import annotations

from ..arguments import checked_share
from ..options import Overwrite, Seed, option


class DemoConfig(Seed, Overwrite):
    """How the demonstration is run."""

    reduction: float = option(
        0.45, "Drop this share of the postings.", metavar="SHARE", check=checked_share
    )
