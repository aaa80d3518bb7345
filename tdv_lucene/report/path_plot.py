"""The picture of what learning found: measures on held-out queries over bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..output import Output

PLOT = "plot"
_KINDS = ("svg", "png")


def check_plot(
    output: str | os.PathLike[str], *, overwrite: bool, inputs: Sequence[Any] = ()
) -> Output:
    """Return where the picture ``output`` goes, before any work is done.

    ``inputs`` are those of the work, which the picture may not touch.

    Raises :class:`TdvError` when its ending is neither ``.svg`` nor ``.png``, or it cannot be
    written.
    """
    place = Output(output, PLOT, is_folder=False, inputs=inputs, overwrite=overwrite, option="plot")
    if _kind(output) not in _KINDS:
        raise TdvError(f"a plot is a .svg or a .png file, got '{output}'")
    return place


def plot_points(
    points: Sequence[Mapping[str, Any]],
    full: Mapping[str, Any],
    recommended: float | None,
    place: Output,
) -> None:
    """Draw the validated ones of ``points`` beside the full index, where :func:`check_plot` said.

    ``points`` are those of :class:`tdv_lucene.TermValues`, ``full`` what its manifest has under
    that name, ``recommended`` one of the points' reductions.

    Raises :class:`TdvError` when nothing was validated.
    """
    points = [point for point in points if point.get("difference")]
    if not points:
        raise TdvError("there is nothing to plot: these values were not validated on queries")
    from .plots import plot_path

    picture = plot_path(points, full, recommended, _kind(place.path))
    with place as unfinished:
        unfinished.write_bytes(picture)
        place.write_manifest({"recommended_reduction": recommended})


def _kind(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lstrip(".").lower()
