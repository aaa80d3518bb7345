"""The demonstration: the whole job on a sample of Wikipedia, with its options."""

from __future__ import annotations

from ..arguments import checked_share
from ..options import Overwrite, Seed, option


class DemoConfig(Seed, Overwrite):
    """Options of the demonstration."""

    reduction: float = option(
        0.45, "Drop this share of the postings.", metavar="SHARE", check=checked_share
    )
