"""The prior: what several judged collections say of one without judgements.

It is a readable file beside this module, made by ``scripts/bench/prior.py``. It holds the search's
parameters, the first-position boost, and the paper's network over statistics that mean the same
everywhere, standardised on each collection. It has no word vectors, because those belong to one
collection. :mod:`.alone` makes TDVs from nothing else; :mod:`.as_start` lets learning
begin at it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.tdv import Features, Linear
from ..errors import TdvError
from ..matrix.first_positions import FirstPositionBoost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import STATISTICS, digit_share, residual_idf, standard_statistic
from ..ranking import SearchParameters as Parameters

_NAMES = (
    "mean length", "spread of lengths", "tokens a posting", "mean RIDF", "bytes a token",
    "share of digits", "share of tokens with non-ASCII letters",
)  # fmt: skip

OF_LANGUAGE = ("bytes a token", "share of tokens with non-ASCII letters")
"""Those that differ between languages as such."""

PRIOR_FILE = Path(__file__).with_name("prior.json")
_FORMAT = 2
_LENGTH, _TOKENS = 100, 1e6
"""The documents' mean length and the collection's tokens at which k1 and mu are the file's."""
_GROWING = {"k1": (0.5, 4.5), "mu": (30.0, 4000.0)}
"""Parameters that may grow with a power of one of these, and their limits."""
_POSITIONS, _NO_POSITIONS = "positions", "no positions"


@dataclass(frozen=True)
class Settings:
    """What the prior sets for one ranking function.

    Attributes
    ----------
    parameters : Parameters
    boost : FirstPositionBoost or None
        None if the index has no positions, or they do not help.
    slope : float
        How far TDVs may differ from their mean, within [0, 1].
    scale : float
        What TDVs are multiplied by before frequencies are rounded. TF-IDF counts every occurrence
        in full, so it ranks better with one far below 1, which leaves most frequencies at 1.
    reduction : float
        The share of the postings to drop unless told otherwise.
    """

    parameters: Parameters
    boost: FirstPositionBoost | None
    slope: float
    scale: float
    reduction: float


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior as its file has it.

    Attributes
    ----------
    content : mapping
        ``name``, ``settings`` by model and by whether there are positions, ``unlike`` (settings
        for a collection unlike all of ``collections``), ``network`` (``statistics`` by name, ``w``,
        ``b``), ``ranges`` of collection statistics, and where it is from:
        ``collections`` and ``made_by``.
    sha256 : str
        Of the file.
    """

    content: Mapping[str, Any]
    sha256: str

    @classmethod
    def load(cls, path: str | os.PathLike[str] = PRIOR_FILE) -> Prior:
        """Read a prior; without a path, the one that comes with the package.

        Raises
        ------
        TdvError
            When the file is not one.
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

    @property
    def name(self) -> str:
        return str(self.content["name"])

    def describe(self) -> dict[str, str]:
        """Name and checksum, for a manifest."""
        return {"name": self.name, "sha256": self.sha256}

    def settings(
        self,
        model: str,
        positions: bool,
        mean_length: float,
        tokens: float,
        *,
        unlike: bool = False,
    ) -> Settings:
        """Return the settings for ``model`` and a collection of so many ``tokens``, whose documents
        have ``mean_length`` of them.

        k1 grows with a power of the mean length: in short documents a second occurrence says less.
        mu grows with a power of the tokens: the more there are, the smaller is a rare term's share
        of them, and mu times that share is what tells occurrences apart. ``unlike`` is for a
        collection unlike those it knows (see :meth:`differences`).
        """
        table = self.content["unlike" if unlike else "settings"]
        found = table[model][_POSITIONS if positions else _NO_POSITIONS]
        given = {name: found[name] for name in ("k1", "b", "mu") if name in found}
        for name, (least, most) in _GROWING.items():
            by_length, by_tokens = (
                found.get(f"{name}_{power}", 0) for power in ("power", "tokens_power")
            )
            if by_length or by_tokens:
                grown = (mean_length / _LENGTH) ** by_length * (tokens / _TOKENS) ** by_tokens
                given[name] = round(min(max(found[name] * grown, least), most), 2)
        boost = found.get("boost", 0)
        return Settings(
            Parameters(**given),
            FirstPositionBoost(boost, found["span"]) if boost else None,
            found["slope"],
            found["scale"],
            found["reduction"],
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
    prior: Prior, matrix: TermDocumentMatrix, model: str, *, positions: bool
) -> tuple[Settings, list[str]]:
    """Return the settings for a collection, and how it differs from those the prior knows; if it
    does, they are those that lose least."""
    differences = prior.differences(matrix)
    tokens = float(np.sum(matrix.doc_len))
    mean_length = tokens / max(1, matrix.doc_count)
    found = prior.settings(model, positions, mean_length, tokens, unlike=bool(differences))
    return found, differences


def collection_statistics(matrix: TermDocumentMatrix) -> dict[str, float]:
    """Return what tells kinds of collection apart, O(V + D)."""
    lengths = np.asarray(matrix.doc_len, np.float64)
    lengths = lengths[lengths > 0]
    tokens = np.asarray(matrix.total_term_freq, np.float64)
    doc_freq = np.asarray(matrix.doc_freq, np.float64)
    terms = matrix.vocabulary.terms
    if not len(lengths) or not len(tokens):
        return dict.fromkeys(_NAMES, 0.0)
    other = np.concatenate([[0], np.cumsum(np.asarray(terms.data) >= 128)])[terms.indptr]
    values = (
        lengths.mean(),
        lengths.std() / lengths.mean(),
        tokens.sum() / doc_freq.sum(),
        np.average(residual_idf(matrix), weights=doc_freq),
        np.average(np.diff(terms.indptr), weights=tokens),
        np.average(digit_share(matrix), weights=tokens),
        np.average(np.diff(other) > 0, weights=tokens),
    )
    return dict(zip(_NAMES, map(float, values)))
