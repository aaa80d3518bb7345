"""What a plain searcher ranks with, and what an index must hold so that it ranks well.

Engines search an index with parameters of their own: Anserini and Pyserini with k1 0.9, b 0.4 and
mu 1000, Lucene and what is built on it with k1 1.2, b 0.75 and mu 2000. The parameters that an
index was learned with are written into the index, so that nobody needs to set any.

BM25 sees a document only through its length norm K = k1 (1 - b + b |d| / avgdl). So k1 and b go
into the norms: every document gets the length of which the searcher computes K
(``tdvlucene.common.BakedNorms``). The least K is that of an empty document, k1' (1 - b').

Query likelihood sees tf / (mu p(t|C)) and mu / (|d| + mu). So mu goes into the scale: frequencies,
and with them lengths, are multiplied by mu' / mu. That costs bytes where mu is small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TdvError
from ..index.parameters import Searcher
from ..ranking import (
    DEFAULT_MODEL,
    MODELS,
    NAMED_DEFAULTS,
    Baking,
    RankingFunction,
    SearchParameters,
    at_scale,
    ranking_function,
)
from ..values.posting_rule import nearest
from ..values.term_values import TermValues

RECORDED = "recorded"
"""No target: norms are lengths, and the searcher must be told the parameters."""

DEFAULT = "anserini"
MOST_BYTES = 1.02
"""By default mu is written into frequencies where that costs at most this share of the bytes."""

_MOST_SCALED = 4.0
"""A scale is raised at most this much so that short documents get their K."""
_RECORD = 900
"""Bytes that the record of a pruning takes in an index, about."""


@dataclass(frozen=True)
class SearchTarget:
    """Whose parameters an index is written for."""

    name: str  # "anserini", "lucene", "recorded", or numbers as they were given
    given: bool  # whether it was asked for; where not, what costs bytes is left
    numbers: tuple[float, ...] = ()  # (k1, b) or (mu,), where numbers were given

    @classmethod
    def of(cls, text: str | None) -> SearchTarget:
        """Read what ``--search-as`` takes; None is the default.

        Raises :class:`TdvError` when it is none of the names, nor legal numbers.
        """
        if text is None:
            return cls(DEFAULT, False)
        if text in (RECORDED, *NAMED_DEFAULTS):
            return cls(text, True)
        try:
            numbers = tuple(map(float, text.split(",")))
        except ValueError:
            numbers = ()
        legal = all(math.isfinite(number) and number > 0 for number in numbers)
        if len(numbers) not in (1, 2) or not legal or (len(numbers) == 2 and numbers[1] > 1):
            names = ", ".join(map(repr, (*NAMED_DEFAULTS, RECORDED)))
            raise TdvError(
                f"search_as must be {names}, 'K1,B' with K1 above 0 and B above 0 "
                f"and at most 1, or 'MU' above 0; got '{text}'"
            )
        return cls(text, True, numbers)

    def parameters(self, model: str) -> dict[str, float] | None:
        """Return the searcher's of a ranking function; None where it has to be told the recorded
        ones.

        TDVs that were made without one suit any, so lengths stay lengths by default.

        Raises :class:`TdvError` when the numbers given are another ranking function's.
        """
        if model not in MODELS:
            if not self.given:
                return None
            model = DEFAULT_MODEL
        if self.name == RECORDED or ranking_function(model).held_by is None:
            if self.given and self.name != RECORDED:
                raise TdvError(
                    f"an index holds no parameters of {model}: leave out search_as {self.name}"
                )
            return None
        names = MODELS[model]
        if not self.numbers:
            return {name: NAMED_DEFAULTS[self.name][name] for name in names}
        if len(self.numbers) != len(names):
            raise TdvError(
                f"search_as {self.name} does not fit these TDVs, learned for {model}: "
                f"give {','.join(names).upper()}, or the name of a searcher"
            )
        return dict(zip(names, self.numbers))


def target_of(searcher: Searcher, asked: SearchTarget) -> SearchTarget:
    """Return whose parameters an index is written for: those asked for, or the ``searcher``'s."""
    return asked if asked.given else SearchTarget(searcher.name, False)


def _function(values: TermValues) -> RankingFunction:
    """Return the ranking function that an index is written for; TDVs of no model get the
    default's."""
    return ranking_function(values.model if values.model in MODELS else DEFAULT_MODEL)


def scale_for(values: TermValues, scale: float, target: SearchTarget, reduction: float) -> float:
    """Return the scale that suits the target, where none was asked for, from the ``scale`` that
    suits the ranking.

    It is raised so that short documents get their K; where that was not asked for, not beyond the
    full index's bytes: the shortest documents then have the least K there is.
    """
    searched = target.parameters(values.model)
    if searched is None:
        return scale
    learned = values.parameters
    if _function(values).held_by == "scale":
        (name,) = searched
        baked = searched[name] / learned[name]
        cheap = baked >= scale and _share_of_bytes(values, reduction, scale, baked) <= MOST_BYTES
        return baked if target.given or cheap else scale
    least = searched["k1"] * (1 - searched["b"])
    fixed = learned["k1"] * (1 - learned["b"])
    needed = least / fixed if fixed else scale  # no scale gives short documents a K of 0
    most = math.inf if target.given else _largest_within_full(values, reduction)
    return max(scale, min(needed, _MOST_SCALED * scale, most))


def refuse_scale(values: TermValues, target: SearchTarget, tf: str, scale: float | None) -> None:
    """Refuse a target for query likelihood where its scale, which holds mu, cannot be taken:
    frequencies stay as they are, or another ``scale`` was asked for."""
    searched = target.parameters(values.model) if target.given else None
    if searched is None or _function(values).held_by != "scale":
        return
    (name,) = searched
    needed = searched[name] / values.parameters[name]
    if tf != "scaled" or not (scale is None or math.isclose(scale, needed, rel_tol=1e-6)):
        raise TdvError(
            f"search_as {target.name} holds {name} in frequencies at a scale of "
            f"{needed:g}: leave out scale and tf"
        )


def baking_of(values: TermValues, scale: float | None, target: SearchTarget) -> Baking | None:
    """Return what the norms of a field are to hold; None where they are lengths."""
    searched = target.parameters(values.model)
    learned = SearchParameters().with_values(values.parameters)
    held = _function(values).held(learned, 1.0 if scale is None else scale)
    if searched is None or held is None:
        return None
    if held[0] == 0:  # no document's length gives a searcher a K of 0
        if target.given:
            raise TdvError(
                f"search_as {target.name}: norms cannot hold the k1 of 0 that was learned with; "
                f"pass search_as {RECORDED}, or learn with a k1 above 0"
            )
        return None
    return Baking(held, (searched["k1"], searched["b"]))


def search_parameters(
    values: TermValues, scale: float | None, target: SearchTarget, baking: Baking | None
) -> dict[str, float]:
    """Return k1, b and mu to search a field with that is written for ``target``."""
    learned = values.parameters
    found = at_scale(learned, 1.0 if scale is None else float(scale))
    searched = target.parameters(values.model) or {}
    if baking is not None:
        return {**found, **searched}
    # Otherwise it would have cost too many bytes, or another scale was asked for.
    near = [name for name in searched if math.isclose(searched[name], found[name], rel_tol=1e-6)]
    is_held = _function(values).held_by == "scale" and near == [*searched]
    return {**found, **searched} if is_held else found


def _share_of_bytes(values: TermValues, reduction: float, scale: float, other: float) -> float:
    """Return predicted bytes at the ``other`` scale, as a share of those at ``scale``; infinite if
    learning did not measure any."""
    if (point := _measured_near(values, reduction)) is None:
        return math.inf
    scales, sizes = _bytes_by_scale(point, "posting_bytes")
    if not scales[0] <= other <= scales[-1]:
        return math.inf
    total = point.get("index_bytes") or point["posting_bytes"] + point["dictionary_bytes"]
    more = np.interp(np.log([other, scale]), np.log(scales), sizes)
    return float(1 + (more[0] - more[1]) / total)


def _largest_within_full(values: TermValues, reduction: float) -> float:
    """Return the largest scale at which the index is predicted to be no larger than the full one;
    infinite if all that were measured are, or none was measured."""
    if (point := _measured_near(values, reduction)) is None:
        return math.inf
    kinds = ("posting_bytes", "dictionary_bytes")
    scales, sizes = _bytes_by_scale(point, *kinds)
    full = sum(values.manifest["full"][kind] for kind in kinds) - _RECORD
    if sizes[-1] <= full:
        return math.inf
    return float(np.exp(np.interp(full, np.maximum.accumulate(sizes), np.log(scales))))


def _measured_near(values: TermValues, reduction: float) -> Mapping[str, Any] | None:
    """Return the operating point nearest to a reduction of those whose scales were measured."""
    points = [point for point in values.points if point.get("scales")]
    return points[nearest([p["reduction"] for p in points], reduction)] if points else None


def _bytes_by_scale(point: Mapping[str, Any], *kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """Return float64[n] twice: the scales that were tried, ascending, and their bytes."""
    table = sorted((each["scale"], sum(each[kind] for kind in kinds)) for each in point["scales"])
    scales, sizes = (np.array(column, float) for column in zip(*table))
    return scales, sizes
