"""Term values: what learning found, its manifest, and the TDVs that pruning applies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked_share
from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..plan import LONGEST, kinds_of
from ..ranking import ANSERINI_DEFAULTS, DEFAULT_MODEL, SearchParameters
from ..ranking.postings import Boost, read_boost
from ..store import check_files, map_array, read_manifest, save_array
from ..vocabulary import ByteStrings, StrPath, Vocabulary
from .posting_rule import OperatingPoint, PostingRule, drop_terms, nearest

_log = logging.getLogger(__name__)

KIND = "term-values"
MEASURE = "nDCG@5"
"""The measure that points are chosen by, unless learning was told another."""
_MADE_BY = "tdv-lucene learn --index INDEX ... --output FOLDER"
UNITS = ("term", "posting")
TUNE_RECIPE = "tune"
"""The recipe of :func:`tuned_values`."""

_LONG = ("points", "posting_rule", "files")
"""Entries with tables, which are left out where a manifest is printed."""
_OPTIONAL = ("posting_priority", "posting_factors")
_ARRAYS = ("doc_freq", "total_term_freq", "weights", "priority", *_OPTIONAL)


@dataclass(frozen=True, eq=False)
class TermValues:
    """The learned TDVs of one field of one index, and the order in which terms are dropped.

    ``manifest`` has the model, recipe, seed, ``parameters`` (k1, b, mu), ``lead`` (the
    first-position boost), ``source``, ``measure`` (by which points are chosen),
    ``recommended_reduction``, ``recommended_because`` (see
    :class:`..learning.selection.Recommended`), ``first_ten`` (see
    :func:`..learning.validate.validate_points`), and ``points``. A point is a dict with its
    ``reduction``; the ``measures`` on held-out queries, beside those of the tuned ``full`` index,
    and the mean ``difference`` of each with its interval; what of the ten best is ``judged``; the
    estimated ``posting_bytes`` and ``dictionary_bytes`` and, if learned from an index,
    ``index_bytes``; ``visited``, the postings in the lists of a query's terms, mean over the
    queries; the ``scale`` that keeps the ranking, and all ``scales`` that were tried. With a
    ``posting_priority`` there is also ``posting_rule`` (see
    :meth:`.posting_rule.PostingRule.describe`) and ``unit``, which is dropped by default.
    """

    vocabulary: Vocabulary  # V terms
    doc_freq: np.ndarray  # int64[V]
    total_term_freq: np.ndarray  # int64[V]
    weights: np.ndarray  # float32[V]: TDVs before any term is dropped
    priority: np.ndarray  # float32[V]: terms with the smallest are dropped first
    manifest: Mapping[str, Any]
    # float32[V] and float32[F, V]: ``priority`` and ``factors`` of a
    # :class:`.posting_rule.PostingRule`, for the unit "posting"; None without such a rule
    posting_priority: np.ndarray | None = None
    posting_factors: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        matrix: TermDocumentMatrix,
        weights: np.ndarray,
        priority: np.ndarray,
        rule: PostingRule | None,
        *,
        model: str,
        parameters: SearchParameters,
        recipe: Mapping[str, Any],
        points: Sequence[Mapping[str, Any]],
        recommended_reduction: float | None,
        queries: int,
        **further: Any,
    ) -> TermValues:
        """Return TDVs of the terms of ``matrix``.

        ``rule`` None drops whole terms only. ``further`` are facts that not all TDVs have, by their
        names in the manifest; None for no such fact, except for ``lead``.
        """
        by_posting = {} if rule is None else {"unit": "posting", "posting_rule": rule.describe()}
        manifest = {
            **by_posting,
            "field": matrix.vocabulary.field,
            "source": matrix.source,
            "vocabulary_sha256": matrix.vocabulary.sha256,
            "model": model,
            "parameters": parameters.values(),
            **{name: fact for name, fact in further.items() if name == "lead" or fact is not None},
            "recipe": dict(recipe),
            "queries": queries,
            "points": list(points),
            "recommended_reduction": recommended_reduction,
        }
        # Copies: those of the matrix may be mapped from a folder that is about to be removed.
        terms = matrix.vocabulary.terms
        held = ByteStrings(np.array(terms.data), np.array(terms.indptr))
        return cls(
            Vocabulary(matrix.vocabulary.field, held), np.array(matrix.doc_freq),
            np.array(matrix.total_term_freq), weights, priority, manifest,
            None if rule is None else rule.priority, None if rule is None else rule.factors,
        )  # fmt: skip

    @property
    def model(self) -> str:
        """The ranking function that they were made for; ``ANY_MODEL`` if they suit any."""
        return str(self.manifest["model"])

    @property
    def measure(self) -> str:
        """The measure by which points are chosen."""
        return str(self.manifest.get("measure", MEASURE))

    @property
    def points(self) -> list[dict[str, Any]]:
        """The operating points, in order of reduction."""
        return list(self.manifest["points"])

    @property
    def recommended_reduction(self) -> float:
        """The reduction that pruning takes by default.

        Raises :class:`TdvError` when none is recommended; it names the choices there are.
        """
        recommended: float | None = self.manifest["recommended_reduction"]
        if recommended is None:
            measured = ", ".join(
                f"{p['reduction']:g} ({p['measures'][self.measure]:.4f})"
                for p in self.points
                if p["measures"]
            )
            raise TdvError(
                "no reduction is recommended for these TDVs "
                f"({self.measure}, cross-validated: {measured or 'not measured'}); choose "
                "reduction, max_loss or max_bytes"
            )
        return recommended

    @property
    def parameters(self) -> dict[str, float]:
        """k1, b and mu of training and search, Anserini's by default, for a scale of 1."""
        return {**ANSERINI_DEFAULTS, **self.manifest["parameters"]}

    @property
    def position_boost(self) -> Boost | None:
        """The boost of frequencies (:mod:`..ranking.postings`); None if they count as they are."""
        return read_boost(self.manifest.get("lead"))

    @property
    def posting_rule(self) -> PostingRule | None:
        """The rule for single postings; None if only whole terms are dropped."""
        if self.posting_priority is None:
            return None
        return PostingRule.read(
            self.posting_priority, self.posting_factors, self.manifest["posting_rule"]
        )

    @property
    def unit(self) -> str:
        """``"term"`` or ``"posting"``: the unit that is dropped by default."""
        return str(self.manifest.get("unit", "term"))

    def summary(self) -> dict[str, Any]:
        """Return the manifest without its long tables (scales, thresholds), for printing."""
        shown = {k: v for k, v in self.manifest.items() if k not in _LONG}
        points = [{k: v for k, v in p.items() if k != "scales"} for p in self.points]
        return {**shown, "points": points}

    def at_reduction(self, reduction: float, *, unit: str | None = None) -> OperatingPoint:
        """Return the TDVs that drop about ``reduction`` of the field's postings.

        Terms with a learned TDV of 0 are always dropped, so a small ``reduction`` may be exceeded:
        see ``OperatingPoint.reduction``.

        ``reduction`` is within [0, 1). The ``unit`` ``"term"`` drops whole terms, in order of
        ``priority`` (see :func:`.posting_rule.drop_terms`); ``"posting"`` single postings, by the
        ``posting_rule``; None is the default of these TDVs.
        """
        checked_share(reduction)
        point = self.points[nearest([p["reduction"] for p in self.points], reduction)]
        unit, scale = unit or self.unit, float(point["scale"])
        if unit not in UNITS:
            raise TdvError(f"no unit '{unit}': choose one of {', '.join(UNITS)}")
        learned = self.weights, self.priority, self.doc_freq
        if unit == "term":
            tdv, dropped = drop_terms(*learned, reduction)
            return OperatingPoint(tdv, scale, None, dropped, point, self.position_boost)
        if (rule := self.posting_rule) is None:
            raise TdvError(
                "these TDVs have no rule for single postings: pass unit term, or "
                "learn them with 'tdv-lucene learn'"
            )
        tdv, cut = rule.thresholds_at(*learned, reduction)
        return OperatingPoint(tdv, scale, cut, reduction, point, self.position_boost)

    def save(self, output: StrPath | Output) -> None:
        """Write the folder ``output``."""
        place = output
        if not isinstance(place, Output):
            place = Output(place, KIND, inputs=(), made_by="TermValues.save")
        with place as folder:
            save_array(folder / "terms.npy", self.vocabulary.terms.data)
            save_array(folder / "terms_indptr.npy", self.vocabulary.terms.indptr)
            for name in _ARRAYS:
                if getattr(self, name) is not None:
                    save_array(folder / f"{name}.npy", getattr(self, name))
            place.write_manifest(dict(self.manifest))

    @classmethod
    def load(cls, path: StrPath) -> TermValues:
        """Read a folder written by :meth:`save`, its arrays memory-mapped.

        All files are compared with the sizes and digests in the manifest. Raises :class:`TdvError`
        when it is not such a folder, or its content is damaged.
        """
        manifest = read_manifest(path, KIND, _MADE_BY)
        check_files(path, manifest, _MADE_BY)
        there = [n for n in _ARRAYS if n not in _OPTIONAL or (Path(path) / f"{n}.npy").exists()]
        names = ["terms", "terms_indptr", *there]
        arrays = {name: map_array(Path(path) / f"{name}.npy") for name in names}
        terms = ByteStrings(arrays.pop("terms"), arrays.pop("terms_indptr"))
        vocabulary = Vocabulary(manifest["field"], terms)
        _log.info(
            "read values of %d terms of '%s' from %s", len(vocabulary), vocabulary.field, path
        )
        return cls(vocabulary, manifest=manifest, **arrays)


def unvalidated_values(
    matrix: TermDocumentMatrix,
    weights: np.ndarray,
    priority: np.ndarray,
    rule: PostingRule | None,
    *,
    reductions: Sequence[float],
    scale: float | Callable[[float], float],
    recommended: float,
    **about: Any,
) -> TermValues:
    """Return TDVs with operating points that have no measures: of peers, the prior and tuning.

    ``scale`` is that of all points, or a function of the reduction. ``about`` are facts about their
    origin for :meth:`TermValues.of`: ``model``, ``parameters``, ``recipe`` and more.
    """
    points = [
        {"reduction": r, "removed": r, "measures": {}, "full": {},
         "scale": scale(r) if callable(scale) else scale, "scales": []}
        for r in reductions
    ]  # fmt: skip
    return TermValues.of(
        matrix, weights, priority, rule,
        **about, queries=0, points=points, recommended_reduction=recommended,
    )  # fmt: skip


def tuned_values(
    matrix: TermDocumentMatrix, parameters: SearchParameters, about: Mapping[str, Any]
) -> TermValues:
    """Return TDVs of 1 for BM25 with these parameters, which drop nothing; ``about`` them."""
    matrix.require_postings("tuning")
    weights = np.ones(matrix.shape[0], np.float32)
    return unvalidated_values(
        matrix, weights, weights, None, reductions=(0.0,), scale=1.0, recommended=0.0,
        model=DEFAULT_MODEL, parameters=parameters, lead=None, positions=False,
        recipe={"name": TUNE_RECIPE}, **about,
    )  # fmt: skip


def tdvs_of_unseen(values: TermValues) -> np.ndarray:
    """Return float32[2 (LONGEST + 1)]: TDVs of unseen terms, by :func:`..plan.kinds_of`.

    An unseen term gets the mean TDV of the terms of its kind in a single document; if there is
    none, of all in a single document, or of all. The network gave those a TDV by their length and
    digits alone, since word vectors and the other statistics need more documents. So the TDV
    depends on nothing but the learned TDVs and the term's bytes, which makes updates exact:
    however an index grew, every posting gets the frequency that pruning it anew would give it.
    """
    once = np.flatnonzero(np.asarray(values.doc_freq) == 1)
    if not len(once):
        once = np.arange(len(values.vocabulary))
    tdv = np.asarray(values.weights, np.float64)[once]
    kinds, size = kinds_of(values.vocabulary.terms)[once], 2 * (LONGEST + 1)
    counts = np.bincount(kinds, minlength=size)
    usual = tdv.mean() if len(tdv) else 1.0
    means = np.bincount(kinds, tdv, minlength=size) / np.maximum(counts, 1)
    return np.where(counts > 0, means, usual).astype(np.float32)
