"""TDVs for pruning an index without judgements: the prior's, as the rewrite applies them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import TdvError, argument
from ..indexes.user_data import FieldRecord
from ..learning.config import LearnConfig
from ..matrix.extract import open_matrix
from ..prior.alone import in_memory, prior_values, prior_values_of_index
from ..prior.prior import Prior
from ..progress import Progress
from ..ranking import DEFAULT_MODEL
from ..values.operating_point import CORRECTED_AT
from ..values.term_values import TermValues
from ..values.unvalidated import tuned_values
from .config import PruneConfig
from .field_description import TUNED, made_by_prior
from .field_rule import find_point


def values_without_judgements(
    index: str | os.PathLike[str], config: PruneConfig, progress: Progress
) -> TermValues:
    """Return the prior's TDVs of a field, the same for the same index and options; those for a
    query log have operating points measured by it (see :mod:`..learning.by_log`).

    Only scaled frequencies can apply a first-position boost. The idf is corrected for the postings
    dropped at the reduction asked for, or at the prior's own; at many if a size is to be met.
    """
    lead = config.tf == "scaled"
    if config.queries is None:
        return prior_values_of_index(
            index, field=config.field, lead=lead, expect=config.expect,
            reductions=(config.reduction,) if config.max_bytes is None else CORRECTED_AT,
            progress=progress,
        )  # fmt: skip
    from ..learning.from_index import values_from_index  # with all that learns

    learning = LearnConfig(field=config.field, lead=lead, **config.asked_analysis)
    with values_from_index(index, config.queries, None, learning, progress) as values:
        return in_memory(values)


def values_again(
    index: str | os.PathLike[str], record: FieldRecord, progress: Progress
) -> TermValues:
    """Return the TDVs that a field was pruned with, made again from one look at its source.

    They may be those of ``prune`` alone, or those that ``learn --no-judgements`` writes, with a
    first-position boost or without. If none has the recorded checksum, the last is returned.

    Raises :class:`TdvError` when the record names no prior, or not the one of this version.
    """
    if record.learned_from.startswith(TUNED):
        with open_matrix(index, field=record.field, positions=False, progress=progress) as matrix:
            return in_memory(tuned_values(matrix, record.learned_parameters, {"tuned_on": 0}))
    model = record.model or DEFAULT_MODEL
    _require_this_prior(record, model)
    alone = record.tf == "scaled"
    ways: tuple[tuple[bool, Sequence[float | None]], ...] = (
        (alone, (record.requested_reduction,)), (alone, CORRECTED_AT), (not alone, CORRECTED_AT)
    )  # fmt: skip
    with open_matrix(index, field=record.field, positions=True, progress=progress) as matrix:
        for lead, at in ways:
            values = prior_values(matrix, model=model, lead=lead, reductions=at, quiet=True)
            if find_point(values, record) is not None:
                break
        return in_memory(values)


def _require_this_prior(record: FieldRecord, model: str) -> None:
    made, ours = record.learned_from, made_by_prior(Prior.load().of(model).describe())
    if made != ours:
        raise TdvError(
            f"the field '{record.field}' was pruned with TDVs from '{made}'. This version cannot "
            f"make them again (without judgements it makes '{ours}'): pass them "
            f"({argument('values')})"
        )
