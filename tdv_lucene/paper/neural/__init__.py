"""Neural re-rankers that the paper measures TDV against: peers, on which nothing else depends.

They need Equinox, which the extra ``neural`` installs. Only what runs them imports them, and asks
:func:`require_equinox` first.
"""

from __future__ import annotations

from importlib.util import find_spec

from ...errors import TdvError

KIND = "neural-ranker"
"""What the manifest of a trained one calls it."""

RANKERS = {"drmm": "DRMM", "duet": "DUET", "conv-knrm": "Conv-KNRM"}
"""Our names of the paper's neural methods, in its order."""


def require_equinox() -> None:
    """Raise :class:`TdvError` when the extra is not installed."""
    if find_spec("equinox") is None:
        raise TdvError(
            "neural re-rankers need Equinox, which is not installed: pip install "
            "'tdv-lucene[neural]'"
        )


def check_name(name: str) -> None:
    """Raise :class:`TdvError` when there is no such re-ranker."""
    if name not in RANKERS:
        raise TdvError(f"no neural re-ranker '{name}': choose one of {', '.join(RANKERS)}")
