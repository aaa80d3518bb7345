"""TDVs for pruning an index without judgements: the prior's, as the rewrite applies them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..errors import TdvError, argument
from ..indexes.user_data import FieldRecord
from ..learning.prior import Prior
from ..learning.prior_alone import prior_values_of_index
from ..learning.recipes import REDUCTIONS
from ..learning.term_orders import PREFERENCES
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL
from ..values.term_values import TermValues
from .field_description import made_by_prior


def values_without_judgements(
    index: str | os.PathLike[str],
    field: str,
    tf: str,
    reductions: Sequence[float | None],
    progress: Progress = silent,
) -> TermValues:
    """Return the prior's TDVs of a field, the same for the same index and arguments.

    Parameters
    ----------
    tf : "scaled", "original" or "similarity"
        Only the first can apply a first-position boost.
    reductions
        Where the idf is corrected for the postings dropped; None stands for the prior's own.
    """
    at = _corrected_at(reductions)
    return prior_values_of_index(
        index, field=field, lead=tf == "scaled", reductions=at, progress=progress
    )


def values_again(
    index: str | os.PathLike[str], record: FieldRecord, progress: Progress = silent
) -> Iterator[TermValues]:
    """Yield the TDVs that a field may have been pruned with, those of ``prune`` alone first.

    Then come those that ``learn --no-judgements`` writes, with a first-position boost and without.

    Raises
    ------
    TdvError
        When the record names no prior, or not the one of this version.
    """
    made, prior = record.content.get("learned_from", ""), Prior.load().describe()
    by_preference = {made_by_prior({**prior, "prefer": prefer}): prefer for prefer in PREFERENCES}
    if made not in by_preference:
        raise TdvError(
            f"the field '{record.field}' was pruned with TDVs from '{made}', which cannot be made "
            f"again (without judgements this version has '{made_by_prior(prior)}'): pass them "
            f"({argument('values')})"
        )
    alone = record.tf == "scaled"
    asked = record.requested_reduction
    for lead, at in ((alone, (asked,)), (alone, REDUCTIONS), (not alone, REDUCTIONS)):
        yield prior_values_of_index(
            index, field=record.field, model=record.model or DEFAULT_MODEL, lead=lead,
            prefer=by_preference[made], reductions=_corrected_at(at), progress=progress,
        )  # fmt: skip


def _corrected_at(reductions: Sequence[float | None]) -> tuple[float, ...]:
    """Return the reductions, the prior's own for None."""
    own = Prior.load().content["reduction"]
    # A reduction out of its range is refused where it is used.
    return tuple(r if r is not None and 0 <= r < 1 else own for r in reductions)
