"""TDVs for an index without judgements: those of the prior alone, and the rule for its postings."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..indexes.index import Index
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, ranking_function
from ..ranking.boosts import describe_boost
from ..simulation.posting_rules import rule_of_order
from ..values.operating_point import CORRECTED_AT
from ..values.term_values import TermValues
from ..values.unvalidated import unvalidated_values
from ..vocabulary import ByteStrings, Vocabulary
from .prior import AS_IT_IS, ASKED, Prior, Settings, mean_length, settings_for

_log = logging.getLogger(__name__)
_WITH_POSITIONS = "Index with -storePositions, which lets it drop more for BM25. "


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
        ``"bm25"``, ``"qld"``, ``"tfidf"`` or ``"impact"``, of which no prior is known: then a
        plain rule drops postings. None for the one that suits the field.
    lead
        Use a first-position boost, if the matrix has ``first_positions``.
    expect
        ``"asked"``, or ``"details"`` for queries about details in the text's own words: then the
        prior recommends to drop less, or nothing.
    prior
        None for the one that comes with the package.
    reductions
        The operating points; TDVs are corrected for what dropped postings add to idf at each.
        In it, None stands for the one that the prior recommends. Who names others alone chooses
        among them, and no warning says that the prior does. None for ``CORRECTED_AT``.
    quiet
        Log no warning of what speaks against the prior here.

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
    recommends = reductions is None or None in reductions
    if not quiet:
        may_place = lead and model == DEFAULT_MODEL and matrix.first_positions is None
        _warn(settings, differences, model, positions, recommends, may_place)
    recommended = settings.reduction or 0.0
    if settings.reduction is None:
        settings = AS_IT_IS
    # One out of range is refused where it is used.
    asked = CORRECTED_AT if reductions is None else reductions
    points = [r if r is not None and 0 <= r < 1 else recommended for r in asked]
    counted = matrix.with_position_boost(settings.boost)
    rule = rule_of_order(counted, model, settings.parameters, points)
    about = {
        **prior.describe(), "lead": lead, "unlike": differences,
        "mean_length": mean_length(matrix),
    }  # fmt: skip
    return unvalidated_values(
        matrix, prior.weights(matrix, settings.slope), rule.priority, rule,
        reductions=points, scale=settings.scale_at, recommended=recommended,
        model=model, parameters=settings.parameters, lead=describe_boost(settings.boost),
        positions=matrix.first_positions is not None, recipe={"name": "prior"}, prior=about,
    )  # fmt: skip


def _warn(
    settings: Settings,
    differences: Sequence[str],
    model: str,
    positions: bool,
    recommends: bool,
    may_place: bool,
) -> None:
    """Nothing was measured on this collection: whatever speaks against the prior is said.

    ``may_place``: an index with positions would be given a first-position boost.
    """
    if differences:
        _log.warning(
            "this collection differs from all that the prior was made from, in %s. It may be of "
            "another kind of text. %smeasure with 'tdv-lucene compare' before you serve it",
            ", ".join(differences),
            "No more is dropped than queries written from a passage tolerate: "
            if recommends
            else "So ",
        )
    if not settings.reduction:
        _log.warning(
            "for %s %s the prior %s nothing here: where a tenth of the postings or more was "
            "dropped, some query set that it knows lost more than 1.5 %% of nDCG@5 or R@100. "
            "Frequencies %s. %s",
            ranking_function(model).title,
            "with positions" if positions else "without positions",
            "drops" if recommends else "would drop",
            "and parameters stay as they are, too"
            if settings.reduction is None
            else "are still weighted",
            f"{_WITH_POSITIONS if may_place else ''}Say how much to drop, pass a query log, or "
            "learn from judged queries"
            if recommends
            else "Measure with 'tdv-lucene compare' before you serve it",
        )


def gains_to_expect(values: TermValues, reduction: float) -> list[dict[str, Any]]:
    """Return what other collections gained where :func:`prior_values` dropped as much of them.

    See :meth:`.prior.Prior.expected`. Empty where TDVs are learned, or not of this version's prior.
    """
    about, prior = values.manifest.get("prior", {}), Prior.load()
    if about.get("sha256") != prior.sha256 or "mean_length" not in about:
        return []
    positions = about["lead"] and values.manifest["positions"]
    return prior.expected(values.manifest["model"], positions, about["mean_length"], reduction)


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
    ten bytes a posting is extracted.
    """
    with Index.open(index) as opened:
        opened.require_prunable(field)
        with open_matrix(opened, matrix, field=field, positions=lead, progress=progress) as counts:
            progress("apply the prior", 0, 0)
            return in_memory(prior_values(counts, lead=lead, **options))


def in_memory(values: TermValues) -> TermValues:
    """Return the TDVs with a copy of what is mapped from a folder that is about to be removed."""
    terms = values.vocabulary.terms
    held = ByteStrings(np.array(terms.data), np.array(terms.indptr))
    return replace(
        values,
        vocabulary=Vocabulary(values.vocabulary.field, held),
        doc_freq=np.array(values.doc_freq),
        total_term_freq=np.array(values.total_term_freq),
    )
