"""TDVs for pruning an index without judgements: the prior's, as the rewrite applies them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..errors import TdvError, argument
from ..indexes.user_data import FieldRecord
from ..learning.prior import Prior
from ..learning.prior_alone import prior_values_of_index
from ..learning.recipes import REDUCTIONS
from ..progress import Progress, silent
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
    own = Prior.load().content["reduction"]
    # A reduction out of its range is refused where it is used.
    at = tuple(r if r is not None and 0 <= r < 1 else own for r in reductions)
    return prior_values_of_index(
        index, field=field, lead=tf == "scaled", reductions=at, progress=progress
    )


def values_again(
    index: str | os.PathLike[str], record: FieldRecord, progress: Progress = silent
) -> Iterator[TermValues]:
    """Yield the TDVs that a field may have been pruned with: for its reduction, then for all.

    Raises
    ------
    TdvError
        When the record names no prior, or not the one of this version.
    """
    made, ours = record.content.get("learned_from", ""), made_by_prior(Prior.load().describe())
    if made != ours:
        raise TdvError(
            f"the field '{record.field}' was pruned with TDVs from '{made}', which cannot be made "
            f"again (without judgements this version has '{ours}'): pass them "
            f"({argument('values')})"
        )
    for at in ((record.requested_reduction,), REDUCTIONS):
        yield values_without_judgements(index, record.field, record.tf, at, progress)
