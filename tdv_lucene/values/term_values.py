"""What learning found, on disk and at a chosen reduction.

A :class:`TermValues` holds a TDV for every term and the order in which terms are dropped;
``at_reduction`` turns the two into the TDVs that pruning applies.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked_share
from ..errors import TdvError, argument
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..ranking import ANSERINI_DEFAULTS
from ..ranking.boosts import Boost, read_boost
from ..store import check_files, load_array, read_manifest, save_array
from ..vocabulary import ByteStrings, StrPath, Vocabulary
from .dropped_postings import PostingRule
from .dropped_terms import drop_terms, nearest
from .losses import MEASURE
from .manifest import LONG, check_arrays, check_manifest, describe
from .operating_point import OperatingPoint

_log = logging.getLogger(__name__)

KIND = "term-values"
_MADE_BY = "tdv-lucene learn --index INDEX ... --output FOLDER"
UNITS = ("term", "posting")
_ARRAYS = ("doc_freq", "total_term_freq", "weights", "priority")
_OPTIONAL = ("posting_priority", "posting_factors")


@dataclass(frozen=True, eq=False)
class TermValues:
    """The learned TDVs of one field of one index.

    Attributes
    ----------
    vocabulary : Vocabulary of V terms
    doc_freq, total_term_freq : int64[V]
    weights : float32[V]
        TDVs before any term is dropped.
    priority : float32[V]
        Terms with the smallest are dropped first.
    manifest : dict
        Model, recipe, seed, ``parameters`` (k1, b, mu), ``lead`` (the first-position boost),
        ``source``, ``folds``, ``measure`` (what points are chosen by), ``recommended_reduction``,
        ``recommended_because`` (see :class:`.losses.Recommended`), and ``points``. A point is a
        dict with its ``reduction``; the ``measures`` on held-out queries, beside those of the tuned
        ``full`` index, and the mean ``difference`` of each with its interval; the estimated
        ``posting_bytes`` and ``dictionary_bytes`` and, if learned from an index, ``index_bytes``;
        ``visited``, the postings in the lists of a query's terms, mean over the queries; the
        ``scale`` that keeps the ranking, and all ``scales`` that were tried.
        With a ``posting_priority`` there is also ``posting_rule`` (see
        :meth:`.dropped_postings.PostingRule.describe`) and ``unit``, what is dropped by default.
    posting_priority : float32[V] or None
        For the unit "posting": finite, above 0; see :class:`.dropped_postings.PostingRule`. None
        where there is no such rule.
    posting_factors : float32[F, V] or None
        The rule's ``factors``.
    """

    vocabulary: Vocabulary
    doc_freq: np.ndarray
    total_term_freq: np.ndarray
    weights: np.ndarray
    priority: np.ndarray
    manifest: Mapping[str, Any]
    posting_priority: np.ndarray | None = None
    posting_factors: np.ndarray | None = None

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in (*_ARRAYS, *_OPTIONAL)}
        factors_at = self.manifest.get("posting_rule", {}).get("factors_at", ())
        check_arrays(arrays, len(self.vocabulary), len(factors_at))

    @classmethod
    def of(
        cls,
        matrix: TermDocumentMatrix,
        weights: np.ndarray,
        priority: np.ndarray,
        rule: PostingRule | None,
        **facts: Any,
    ) -> TermValues:
        """Return TDVs of the terms of ``matrix``.

        Parameters
        ----------
        rule
            How single postings are dropped; None if only whole terms are.
        facts
            Of the manifest, see :func:`.manifest.describe`.
        """
        return cls(
            vocabulary=matrix.vocabulary,
            doc_freq=np.asarray(matrix.doc_freq),
            total_term_freq=np.asarray(matrix.total_term_freq),
            weights=weights,
            priority=priority,
            manifest=describe(matrix, rule, **facts),
            posting_priority=None if rule is None else rule.priority,
            posting_factors=None if rule is None else rule.factors,
        )

    @property
    def model(self) -> str:
        """The ranking function that they were made for; ``ANY_MODEL`` if they suit any."""
        return str(self.manifest["model"])

    @property
    def measure(self) -> str:
        """What points are chosen by."""
        return str(self.manifest.get("measure", MEASURE))

    @property
    def points(self) -> list[dict[str, Any]]:
        """The learned operating points, in order of reduction."""
        return list(self.manifest["points"])

    @property
    def recommended_reduction(self) -> float:
        """What pruning takes unless told otherwise.

        Raises
        ------
        TdvError
            When none is recommended: it names the choices there are.
        """
        recommended: float | None = self.manifest["recommended_reduction"]
        if recommended is None:
            measured = [p for p in self.points if p["measures"] and p["full"]]
            found = ", ".join(
                f"{p['reduction']:g} ({p['measures'][self.measure]:.4f})" for p in measured
            )
            said = f": {self.measure}, cross-validated, is {found}" if found else ""
            full = (
                f", {measured[0]['full'][self.measure]:.4f} of the full index" if measured else ""
            )
            raise TdvError(
                f"no reduction is recommended for these TDVs{said}{full}; choose "
                f"{argument('reduction')}, {argument('max_loss')} or {argument('max_bytes')}"
            )
        return recommended

    @property
    def parameters(self) -> dict[str, float]:
        """Return k1, b and mu of training and search, Anserini's where none is named; at a scale,
        multiply k1 and mu by it.
        """
        return {**ANSERINI_DEFAULTS, **self.manifest["parameters"]}

    @property
    def position_boost(self) -> Boost | None:
        """How frequencies count, see :mod:`..ranking.boosts`; None if as they are."""
        return read_boost(self.manifest.get("lead"))

    @property
    def posting_rule(self) -> PostingRule | None:
        """How single postings are dropped; None if only whole terms are."""
        if self.posting_priority is None:
            return None
        return PostingRule.read(
            self.posting_priority, self.posting_factors, self.manifest["posting_rule"]
        )

    @property
    def unit(self) -> str:
        """``"term"`` or ``"posting"``: what is dropped by default."""
        unit: str = self.manifest.get("unit", "term")
        return unit

    def summary(self) -> dict[str, Any]:
        """Return the manifest without its long tables (folds, scales, thresholds), for printing."""
        shown = {k: v for k, v in self.manifest.items() if k not in LONG}
        points = [{k: v for k, v in p.items() if k != "scales"} for p in self.points]
        return {**shown, "points": points}

    def check(self, vocabulary_sha256: str) -> None:
        """Raise :class:`TdvError` unless these are TDVs of that vocabulary."""
        if vocabulary_sha256 != self.vocabulary.sha256:
            raise TdvError(
                f"these TDVs belong to another vocabulary ({self.vocabulary.sha256[:12]}; "
                f"the index has {vocabulary_sha256[:12]}): run 'tdv-lucene learn' on this index"
            )

    def at_reduction(self, reduction: float, *, unit: str | None = None) -> OperatingPoint:
        """Return the TDVs that drop about ``reduction`` of the field's postings.

        Terms are dropped in order of ``priority`` (see :func:`.dropped_terms.drop_terms`), single
        postings by ``posting_priority`` as well (see :class:`.dropped_postings.PostingRule`). Terms
        with a learned TDV of 0 are always dropped, so a small ``reduction`` may be exceeded: see
        ``OperatingPoint.reduction``.

        Parameters
        ----------
        reduction
            Within [0, 1).
        unit
            What is dropped, ``"term"`` or ``"posting"``; None for what the recipe recommends.
        """
        checked_share(reduction)
        point = self.points[nearest([p["reduction"] for p in self.points], reduction)]
        rule, scale = self._rule_of(unit), float(point["scale"])
        if rule is not None:
            tdv, cut = rule.drop(self.weights, self.priority, self.doc_freq, reduction)
            return OperatingPoint(tdv, scale, cut, reduction, point, self.position_boost)
        tdv, dropped = drop_terms(self.weights, self.priority, self.doc_freq, reduction)
        return OperatingPoint(tdv, scale, None, dropped, point, self.position_boost)

    def _rule_of(self, unit: str | None) -> PostingRule | None:
        """Return the rule for single postings, None for whole terms."""
        unit = unit or self.unit
        if unit not in UNITS:
            raise TdvError(f"no unit '{unit}': choose one of {', '.join(UNITS)}")
        if unit == "posting" and self.posting_priority is None:
            raise TdvError(
                f"these TDVs have no rule for single postings: pass {argument('unit', 'term')}, or "
                "learn them with 'tdv-lucene learn'"
            )
        return self.posting_rule if unit == "posting" else None

    def save(self, output: StrPath | Output, *, overwrite: bool = False) -> None:
        """Write the folder ``output``."""
        place = (
            output
            if isinstance(output, Output)
            else Output(output, KIND, inputs=(), overwrite=overwrite, made_by="TermValues.save")
        )
        with place as folder:
            save_array(folder / "terms.npy", self.vocabulary.terms.data)
            save_array(folder / "terms_indptr.npy", self.vocabulary.terms.indptr)
            for name in (*_ARRAYS, *_OPTIONAL):
                if getattr(self, name) is not None:
                    save_array(folder / f"{name}.npy", getattr(self, name))
            place.write_manifest(dict(self.manifest))

    @classmethod
    def load(cls, path: StrPath) -> TermValues:
        """Read a folder written by :meth:`save`, its arrays memory-mapped.

        All files are compared with the sizes and digests in the manifest.

        Raises
        ------
        TdvError
            When it is not such a folder, or what it holds is damaged or not admissible.
        """
        manifest = read_manifest(path, KIND, _MADE_BY)
        check_files(path, manifest, _MADE_BY)
        names = ["terms", "terms_indptr", *_ARRAYS]
        names += [name for name in _OPTIONAL if (Path(path) / f"{name}.npy").exists()]
        check_manifest(path, manifest, _MADE_BY, by_posting="posting_priority" in names)
        arrays = {name: load_array(path, name, _MADE_BY) for name in names}
        terms = ByteStrings(arrays.pop("terms"), arrays.pop("terms_indptr"))
        vocabulary = Vocabulary(manifest["field"], terms)
        if vocabulary.sha256 != manifest["vocabulary_sha256"]:
            raise TdvError(f"{path}: the terms do not match their checksum: learn it again")
        _log.info(
            "read values of %d terms of '%s' from %s", len(vocabulary), vocabulary.field, path
        )
        return cls(vocabulary, manifest=manifest, **arrays)
