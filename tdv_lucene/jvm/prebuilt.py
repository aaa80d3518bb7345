"""Prebuilt indexes by the names Pyserini gives them, fetched and kept by Pyserini itself."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import tarfile
from collections.abc import Mapping
from typing import Any

from ..errors import TdvError
from ._pyserini import importing_pyserini

_SHOWN = 3


def find_index(index: str) -> str:
    """The folder of an index: ``index`` itself, or that of the prebuilt one of this name.

    What exists here wins over a name. A prebuilt index that is not in Pyserini's cache yet
    (``~/.cache/pyserini/indexes``, or below ``PYSERINI_CACHE``) is downloaded by Pyserini, which
    checks its size and digest.

    Raises :class:`TdvError` when nothing has this name, or the index cannot be downloaded.
    """
    if os.path.exists(index) or not index or os.sep in index:
        return index
    try:
        with importing_pyserini():
            import pyserini.util as pyserini  # light: neither torch nor transformers
    except TdvError as error:
        raise TdvError(
            f"no such index: {index} is not a folder, and whether Pyserini has a prebuilt one of "
            f"this name cannot be looked up ({error})"
        ) from error
    known = {**pyserini.IMPACT_INDEX_INFO, **pyserini.TF_INDEX_INFO}
    if index not in known:
        raise TdvError(
            f"no such index: {index} is neither a folder nor a prebuilt index of Pyserini"
            + _close(index, known)
        )
    return _fetch(index, pyserini)


def _fetch(name: str, pyserini: Any) -> str:
    try:
        # It prints on stdout, where programs read our results.
        with contextlib.redirect_stdout(sys.stderr):
            return pyserini.download_prebuilt_index(name, verbose=False)
    except (AssertionError, OSError, ValueError, tarfile.TarError) as error:
        raise TdvError(
            f"the prebuilt index '{name}' is not in Pyserini's cache and could not be downloaded "
            f"({error}): connect to the network, or give the folder of an index"
        ) from error


def _close(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, _SHOWN)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
