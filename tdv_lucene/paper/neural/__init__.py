"""Neural re-rankers that the paper measures TDV against; nothing else depends on them.

They need Equinox, which the extra ``neural`` installs: call :func:`check_rankers` before importing
the modules that run them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from ...errors import TdvError

RANKERS = {"drmm": "DRMM", "duet": "DUET", "conv-knrm": "Conv-KNRM"}
"""Our names for the paper's neural methods, in its order."""


def check_rankers(names: Sequence[str]) -> None:
    """Raise :class:`TdvError` when no re-ranker has a name, or the extra is not installed."""
    for name in names:
        if name not in RANKERS:
            raise TdvError(f"no neural re-ranker '{name}': choose one of {', '.join(RANKERS)}")
    if names and find_spec("equinox") is None:
        raise TdvError(
            "neural re-rankers need Equinox, which is not installed: pip install "
            "'tdv-lucene[neural]'"
        )
