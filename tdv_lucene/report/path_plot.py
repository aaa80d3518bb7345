"""The picture of what learning found: measures on held-out queries over bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..store import new_file, refuse_existing

_KINDS = ("svg", "png")


def check_plot(output: str | os.PathLike, *, overwrite: bool) -> str:
    """Return the kind of picture that ``output`` names, before any work is done.

    Raises
    ------
    TdvError
        When its ending is neither ``.svg`` nor ``.png``, or it cannot be written.
    """
    kind = Path(output).suffix.lstrip(".").lower()
    if kind not in _KINDS:
        raise TdvError(f"a plot is a .svg or a .png file, got '{output}'")
    refuse_existing(Path(output), overwrite=overwrite)
    return kind


def plot_points(
    points: Sequence[Mapping[str, Any]],
    full: Mapping[str, Any],
    recommended: float | None,
    output: str | os.PathLike,
    *,
    overwrite: bool = False,
) -> None:
    """Draw the validated ones of ``points`` beside the full index, as SVG or PNG.

    ``points`` are those of :class:`tdv_lucene.TermValues`, ``full`` what its manifest has under
    that name, ``recommended`` one of the points' reductions.

    Raises
    ------
    TdvError
        As :func:`check_plot`, and when nothing was validated.
    """
    kind = check_plot(output, overwrite=overwrite)
    points = [point for point in points if point.get("difference")]
    if not points:
        raise TdvError("there is nothing to plot: these values were not validated on queries")
    from .plots import plot_path

    picture = plot_path(points, full, recommended, kind)
    with new_file(output, overwrite=overwrite) as unfinished:
        unfinished.write_bytes(picture)
