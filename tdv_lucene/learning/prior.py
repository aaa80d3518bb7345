"""The prior: TDVs and settings predicted by several judged collections for one without judgements.

It is a readable file beside this module, made by ``scripts/bench/prior.py``. It holds the search's
parameters, the first-position boost, and the paper's network over statistics that mean the same
everywhere, standardised on each collection. It has no word vectors: on unknown collections they
gain nothing. :func:`prior_values` makes TDVs from nothing else; :mod:`.learn` starts
from it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TdvError
from ..index.index import Index
from ..index.sharded import ShardedIndex, open_index
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import (
    STATISTICS,
    collection_statistics,
    standard_statistic,
    sums_of_lengths,
)
from ..progress import Progress, silent
from ..ranking import MODELS, SearchParameters, ranking_function
from ..ranking.postings import FirstPositionBoost, describe_boost
from ..simulation.collection import rule_of_order
from ..values.posting_rule import CORRECTED_AT, power_of_order
from ..values.term_values import TermValues, unvalidated_values

if TYPE_CHECKING:
    from ..simulation.scoring import Features, Linear

ASKED, DETAILS = "asked", "details"
KINDS = (ASKED, DETAILS)
"""Kinds of queries: asked by people who do not see the answering text; or about its details, in its
own words."""

PRIOR_FILE = Path(__file__).with_name("prior.json")
_FORMAT = 3
_LENGTH = 100  # the documents' mean length at which k1, mu and the reduction are the file's
_GROWING = {"k1": (0.5, 4.5), "mu": (30.0, 4000.0)}
"""Parameters that may grow with a power of it, and their limits."""
_MOST_DROPPED = 0.8
_SCALES = ((0.33, np.inf), (0.26, 1.5), (0.0, 1.0))
"""The largest scales, by the least reduction. Larger frequencies take more bytes than few dropped
postings save: no known collection's index without positions is smaller than the pruned one."""
_POSITIONS, _NO_POSITIONS = "positions", "no positions"
_RARITY, _MEAN_WEIGHT, _DROPPED = 0.25, 12.0, 0.6
"""For a model's weights: the fall of TDVs by a deviation of ln df, the mean weight, the share to
drop."""


@dataclass(frozen=True)
class Settings:
    """Settings of the prior for one ranking function."""

    parameters: SearchParameters
    boost: FirstPositionBoost | None  # None if the index has no positions, or they do not help
    slope: float  # How far TDVs may differ from their mean, within [0, 1]
    # The factor of TDVs before frequencies are rounded, where much is dropped (see
    # :meth:`scale_at`). TF-IDF ranks better with one far below 1, which leaves most frequencies at
    # 1, since it counts every occurrence in full.
    scale: float
    # The share of the postings to drop by default. None if some known query set loses by these
    # settings alone, or documents are too short: without judgements the index is left ``AS_IT_IS``.
    reduction: float | None

    def scale_at(self, reduction: float) -> float:
        """Return the factor of TDVs in an index that drops this share of the postings."""
        return min(self.scale, next(most for least, most in _SCALES if reduction >= least))


AS_IT_IS = Settings(SearchParameters(), None, 0.0, 1.0, None)
"""Nothing dropped, frequencies as they are, Anserini's parameters: such an index loses nothing."""


def reduction_for(at_mean_length: float, power: float, mean_length: float) -> float:
    """Convert the reduction for documents of 100 terms to that for documents of ``mean_length``.

    The more terms a document has, the smaller a share of them is enough.
    """
    kept: float = (1 - at_mean_length) ** ((max(mean_length, 1) / _LENGTH) ** power)
    return round(min(1 - kept, _MOST_DROPPED), 3)


@dataclass(frozen=True, eq=False)
class Prior:
    """The content of a prior's file."""

    # ``name``, ``settings`` by model and by whether there are positions, ``network``
    # (``statistics`` by name, ``w``, ``b``), ``limits`` of what is dropped, ``ranges`` of
    # collection statistics, and where it is from: ``collections`` and ``made_by``
    content: Mapping[str, Any]
    sha256: str  # of the file

    @classmethod
    def load(cls, path: str | os.PathLike[str] = PRIOR_FILE) -> Prior:
        """Read a prior; without a path, the one that comes with the package.

        Raises :class:`TdvError` when the file is not one.
        """
        try:
            raw = Path(path).read_bytes()
            content = json.loads(raw)
        except (OSError, ValueError) as error:
            raise TdvError(f"no prior could be read from {path} ({error})") from error
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise TdvError(f"{path} is not a prior of format {_FORMAT}: make it anew")
        unknown = set(content["network"]["statistics"]) - set(STATISTICS)
        if unknown:
            raise TdvError(f"{path} asks for unknown statistics: {', '.join(sorted(unknown))}")
        return cls(content, hashlib.sha256(raw).hexdigest())

    def describe(self) -> dict[str, str]:
        """Return name and checksum for a manifest; the plain rule of :meth:`of` has no checksum."""
        named = {"name": str(self.content["name"])}
        return {**named, "sha256": self.sha256} if self.sha256 else named

    def knows(self, model: str) -> bool:
        """Tell whether it has settings for a ranking function."""
        return model in self.content["settings"]

    def of(self, model: str) -> Prior:
        """Return this prior if it knows the ranking function, else a plain rule.

        By that rule all TDVs are 1, and 10 % of the postings are dropped (see `_for_weights`).
        """
        if self.knows(model):
            return self
        plain = {"slope": 0.0, "scale": 1.0, "reduction": {ASKED: 0.1, DETAILS: 0.1, "power": 0.0}}
        content = {
            "name": "plain rule",
            "settings": {model: {_POSITIONS: plain, _NO_POSITIONS: plain}},
            "network": {"statistics": ["log df"], "w": [-_RARITY], "b": 1.0},
            "ranges": {},
        }
        return Prior(content, "")

    def settings(
        self,
        model: str,
        positions: bool,
        mean_length: float,
        expect: str = ASKED,
        *,
        documents: float = math.inf,
    ) -> Settings:
        """Return the settings for ``model`` and ``documents`` of ``mean_length`` tokens.

        k1 and mu grow with a power of the mean length: in short documents a second occurrence says
        less. The reduction is the largest at which none of the known query sets of the kind
        ``expect`` loses more than 2 % of nDCG@5. In a small collection it is limited: a search for
        a thousand answers returns most documents there that match at all, and dropped postings end
        that. Titles of a dozen words have nothing to spare: they stay ``AS_IT_IS``.
        """
        limits = self.content.get("limits", {"shortest": 0, "small": 1.0, "documents": 0})
        if mean_length < limits["shortest"]:
            return AS_IT_IS
        found = self.content["settings"][model][_POSITIONS if positions else _NO_POSITIONS]
        bears = found["reduction"]
        given = {name: found[name] for name in MODELS[model] if name in found}
        for name, (least, most) in _GROWING.items():
            if power := found.get(f"{name}_power", 0):
                grown = found[name] * (mean_length / _LENGTH) ** power
                given[name] = round(min(max(grown, least), most), 2)
        boost = found.get("boost", 0)
        most_dropped = limits["small"] if documents < limits["documents"] else 1.0
        return Settings(
            SearchParameters(**given),
            FirstPositionBoost(boost, found["span"]) if boost else None,
            found["slope"],
            found["scale"],
            bears and min(reduction_for(bears[expect], bears["power"], mean_length), most_dropped),
        )

    def weights(self, matrix: TermDocumentMatrix, slope: float) -> np.ndarray:
        """Return float32[V] TDVs, of mean 1 over tokens: 1 - slope + slope ReLU / mean ReLU.

        O(V) in time and memory: the network's statistics need no posting.
        """
        unit, mean = self._unit(matrix)
        return (1 - slope + slope / mean * unit).astype(np.float32)

    def linear(self, matrix: TermDocumentMatrix, features: Features, slope: float) -> Linear:
        """Return the network of :meth:`weights` for the learner's ``features``.

        Where the ReLU is 0, those TDVs are 1 - slope, which a single ReLU cannot express.
        """
        from ..simulation.scoring import Linear

        network = self.content["network"]
        of_statistics = np.zeros(features.width[0], np.float32)
        if features.width[0]:  # 0 when only vectors were asked for
            for name, weight in zip(network["statistics"], network["w"]):
                of_statistics[STATISTICS.index(name)] = weight
        factor = slope / self._unit(matrix)[1]
        bias = 1 - slope + factor * network["b"]
        of_vector = np.zeros(features.width[1], np.float32)
        return Linear(factor * of_statistics, of_vector, np.float32(bias))

    def differences(self, matrix: TermDocumentMatrix) -> list[str]:
        """Return in words how a collection differs from all that the prior was made from."""
        found = collection_statistics(matrix)
        ranges = self.content["ranges"]
        return [
            f"{name} {found[name]:.3g} (known: {low:.3g} to {high:.3g})"
            for name, (low, high) in ranges.items()
            if not low <= found[name] <= high
        ]

    def _unit(self, matrix: TermDocumentMatrix) -> tuple[np.ndarray, float]:
        """Return float64[V], the output of the network's unit, and its mean over tokens (> 0)."""
        network = self.content["network"]
        sums = np.full(matrix.shape[0], float(network["b"]))
        for name, weight in zip(network["statistics"], network["w"]):
            sums += weight * standard_statistic(matrix, name)
        unit = np.maximum(sums, 0)
        tokens = np.asarray(matrix.total_term_freq, np.float64)
        return unit, max(float(tokens @ unit / max(1.0, tokens.sum())), 1e-9)


def settings_for(
    prior: Prior, matrix: TermDocumentMatrix, model: str, *, positions: bool, expect: str = ASKED
) -> tuple[Settings, list[str]]:
    """Return the settings for a collection, and its differences from those the prior knows.

    If there are any, no more is dropped than queries about details tolerate.
    """
    differences = prior.differences(matrix)
    expect = DETAILS if differences else expect
    length, documents = mean_length(matrix), matrix.doc_count
    return prior.settings(model, positions, length, expect, documents=documents), differences


def mean_length(matrix: TermDocumentMatrix) -> float:
    """Return the mean number of tokens of a document."""
    tokens = sum(each[1] for each in matrix.each(sums_of_lengths))
    return float(tokens) / max(1, matrix.doc_count)


def _for_weights(settings: Settings, matrix: TermDocumentMatrix) -> Settings:
    """Return the settings for an impact index, whose weights are stored more coarsely.

    A model has not seen how rare a term is here. The more weights are its own, the more TDVs fall
    with ln df, and the more is dropped (``runs/2026-11-28-sparse`` of the bench).
    """
    own, least = 1 - power_of_order(matrix), settings.reduction or 0.0
    mean = np.sum(matrix.total_term_freq) / max(1, int(np.sum(matrix.doc_freq)))
    scale = float(_MEAN_WEIGHT / max(mean, _MEAN_WEIGHT))
    return replace(settings, slope=own, scale=scale, reduction=least + own * (_DROPPED - least))


_log = logging.getLogger(__name__)


def prior_values(
    matrix: TermDocumentMatrix,
    *,
    model: str | None = None,
    lead: bool = True,
    expect: str = ASKED,
    prior: Prior | None = None,
    reductions: Sequence[float | None] | None = None,
    quiet: bool = False,
) -> TermValues:
    """Return the prior's TDVs of every term of ``matrix``; no judgements are needed.

    Nothing is validated: the points have no measures. Two passes over the postings, in blocks.

    Parameters
    ----------
    model
        The ranking function; None for the one that suits the field. ``"impact"`` has no prior, and
        a plain rule weighs terms and drops postings.
    lead
        Use a first-position boost, if the matrix has ``first_positions``.
    expect
        ``"asked"``, or ``"details"`` for queries about details in the text's own words: then the
        prior recommends to drop less, or nothing.
    prior
        None for the one that comes with the package.
    reductions
        The operating points; TDVs are corrected for what dropped postings add to idf at each.
        An entry of None is the prior's recommendation. None for ``CORRECTED_AT``.
    quiet
        Log no warning about the prior.

    Raises
    ------
    TdvError
        When there is no such model.
    """
    model = matrix.searched_by(model)
    matrix.require_postings("a pruning")
    prior = (prior or Prior.load()).of(model)
    positions = lead and matrix.first_positions is not None
    settings, differences = settings_for(prior, matrix, model, positions=positions, expect=expect)
    if ranking_function(model).of_weights:
        settings = _for_weights(settings, matrix)
    if differences and not quiet:
        _log.warning(
            "this collection differs from all that the prior was made from, in %s. It may be of "
            "another kind of text: measure with 'tdv-lucene compare' before you serve it",
            ", ".join(differences),
        )
    if not settings.reduction and not quiet:
        advice = "Measure with 'tdv-lucene compare' what is lost"
        if reductions in (None, (None,)):
            advice = "Say how much to drop, pass a query log, or learn from judged queries"
            advice += "" if positions else "; or index with positions (Anserini's -storePositions)"
        _log.warning(
            "The prior drops nothing here%s: indexes of this kind (%s %s), or of documents as "
            "short as these, lost too much by it. %s",
            ", and weights nothing" if settings.reduction is None else "",
            ranking_function(model).title,
            "with positions" if positions else "without positions",
            advice,
        )
    recommended = settings.reduction or 0.0
    if settings.reduction is None:
        settings = AS_IT_IS
    # One out of range is refused where it is used.
    asked = CORRECTED_AT if reductions is None else reductions
    points = [r if r is not None and 0 <= r < 1 else recommended for r in asked]
    counted = matrix.with_position_boost(settings.boost)
    rule = rule_of_order(counted, model, settings.parameters, points)
    about = {**prior.describe(), "lead": lead, "unlike": differences}
    return unvalidated_values(
        matrix, prior.weights(matrix, settings.slope), rule.priority, rule,
        reductions=points, scale=settings.scale_at, recommended=recommended,
        model=model, parameters=settings.parameters, lead=describe_boost(settings.boost),
        positions=matrix.first_positions is not None, recipe={"name": "prior"}, prior=about,
    )  # fmt: skip


def prior_values_of_index(
    index: str | os.PathLike[str],
    *,
    matrix: str | os.PathLike[str] | None = None,
    field: str = "contents",
    lead: bool = True,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Return :func:`prior_values` of a Lucene index, by the same ``options``.

    Without a folder ``matrix`` from :func:`extract_matrix` of this index, a temporary one of about
    ten bytes a posting is extracted; of shards each worker extracts its own.
    """
    with open_index(index, field, progress=progress) as opened:
        opened.require_prunable(field, lead)
        with open_matrix(opened, matrix, field=field, positions=lead, progress=progress) as counts:
            progress("apply the prior", 0, 0)
            return with_network(prior_values(counts, lead=lead, **options), opened)


def with_network(values: TermValues, index: Index | ShardedIndex) -> TermValues:
    """Return TDVs of shards with the bytes that travelled between here and them, ``network``."""
    if isinstance(index, Index):
        return values
    return replace(values, manifest={**values.manifest, "network": index.network})
