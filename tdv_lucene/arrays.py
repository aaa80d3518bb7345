"""Read NumPy's files. Nothing in them is executed, and a damaged one is reported as damaged."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import IO

import numpy as np

from .errors import TdvError

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def load_array(path: str | os.PathLike[str]) -> np.ndarray:
    """Map one of our ``.npy`` files into memory, read-only.

    Raises :class:`TdvError` as :func:`read_array`, and when there is no such file.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            shape = _check(file, path.stat().st_size, str(path))
    except OSError as error:
        raise TdvError(f"cannot read {path}: {error.strerror or error}") from error
    # An empty array cannot be mapped.
    mapped: np.ndarray = np.load(
        path, mmap_mode="r" if math.prod(shape) else None, allow_pickle=False
    )
    return mapped


def read_array(file: IO[bytes], size: int, name: str) -> np.ndarray:
    """Read one ``.npy`` of ``size`` bytes from a file that can seek; ``name`` is for messages.

    Raises :class:`TdvError` when it is none, would be a pickle, or its shape does not make up
    ``size``.
    """
    _check(file, size, name)
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def damaged(name: str | os.PathLike[str], byte: int, reason: str = "") -> TdvError:
    """Return the error of a file that is damaged from ``byte`` on."""
    why = f" ({reason})" if reason else ""
    return TdvError(f"{name} is damaged or truncated at byte {byte:,}{why}: make or fetch it again")


def _check(file: IO[bytes], size: int, name: str) -> tuple[int, ...]:
    try:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = _HEADERS[version](file)
    except (ValueError, KeyError, EOFError) as error:
        raise TdvError(
            f"{name} is not a NumPy array (.npy), or damaged or truncated at byte "
            f"{min(size, file.tell()):,}: {error}"
        ) from error
    if dtype.hasobject:
        raise TdvError(
            f"{name} holds Python objects (a pickle), and they are not read: save plain arrays"
        )
    if min(shape, default=0) < 0 or file.tell() + math.prod(shape) * dtype.itemsize != size:
        raise damaged(name, size, f"{dtype}{list(shape)} is another size")
    return shape
