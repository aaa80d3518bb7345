"""Neural re-rankers that the paper measures TDV against; nothing else depends on them.

They need Equinox, which the extra ``neural`` installs: call :func:`require_equinox` before
importing the modules that run them.
"""

from __future__ import annotations

from importlib.util import find_spec

from ...errors import TdvError

RANKERS = {"drmm": "DRMM", "duet": "DUET", "conv-knrm": "Conv-KNRM"}
"""Our names for the paper's neural methods, in its order."""


def require_equinox() -> None:
    """Raise :class:`TdvError` when the extra is not installed."""
    if find_spec("equinox") is None:
        raise TdvError(
            "neural re-rankers need Equinox, which is not installed: pip install "
            "'tdv-lucene[neural]'"
        )


def check_name(name: str) -> None:
    """Raise :class:`TdvError` when no re-ranker has this name."""
    if name not in RANKERS:
        raise TdvError(f"no neural re-ranker '{name}': choose one of {', '.join(RANKERS)}")
