"""Stage 5: a new index with fewer postings and TDV-weighted frequencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..jvm.index import identify
from ..output import Output
from ..progress import Progress, silent
from ..source import Source, named_by
from ..values.losses import loss_of, most_loss_of, point_within_loss
from ..values.term_values import KIND as VALUES
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .reports import PruneReport
from .shards import check_shards, prune_shards
from .unjudged import values_without_judgements
from .writing import Task, prune_part


def prune_index(
    index: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    output: str | os.PathLike[str],
    config: PruneConfig | None = None,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> PruneReport:
    """Prune a field of ``index`` and write the result as the new index ``output``.

    A posting's new frequency is max(1, rint(scale * tf * tdv)). Norms, statistics and term vectors
    are made to fit. Stored fields, doc values, points, other fields and the order of documents stay
    as they are. Deleted documents are left out, soft-deleted ones too. ``index`` is only
    read.

    Parameters
    ----------
    index
        A folder, or a :class:`..source.Source` of shards: then each is pruned with the TDVs and
        statistics of the whole, to a folder of its name inside ``output`` (see :mod:`.shards`).
    values
        The TDVs of this index's vocabulary, or the folder that holds them. None takes those that
        other judged collections give this one, for BM25 (see :mod:`..prior.prior`). That needs
        no judgements, and a temporary folder of about ten bytes a posting.
    config, options
        How to prune: a :class:`PruneConfig`, or its options by name, as ``reduction=0.45``.
    others
        TDVs of further fields, pruned in the same rewrite with the same options. Where an option
        is None or ``"auto"``, each field has its own. The field of ``values`` is the one that the
        index records as searched.

    Returns
    -------
    PruneReport
        A dict of counts and bytes before and after, ``bytes`` with the manifest; the ``reduction``
        reached; the ``scale``; the ``lucene_version`` of the new index's format; ``chosen``, how
        ``max_loss`` or ``max_bytes`` was met; ``expected``, without judgements, what other
        collections gained (see :meth:`..prior.prior.Prior.expected`); ``search``, the parameters to
        search it with; ``baked``, the k1 and b that its norms hold, and ``norms``, of how many
        documents no norm can hold them; ``validated``, what was measured at the nearest learned
        point, with the table of scales; ``fidelity``, how well this pruning's ranking agreed with
        real-valued scoring (overlap@10, RBO) and the estimated bytes of its posting lists, None if
        it was not tried at this reduction and scale; with ``others``, theirs under ``fields`` by
        name. What does not apply is None. The same is in ``tdv-manifest.json``; the commit's user
        data has all but the counts.

    Raises
    ------
    TdvError
        When the index cannot be read or pruned, is locked, or has another vocabulary; when an
        option is out of its range, or has no effect beside others; when no posting would be left,
        or no reduction is given and none is recommended; when ``output`` exists or overlaps the
        index.
    """
    config = PruneConfig.of(config, options, values=values)
    if config.max_loss is not None and values is None and config.queries is None:
        raise TdvError(
            f"{argument('max_loss')} has no effect without {argument('values')} or "
            f"{argument('queries')}: a loss is measured on queries; leave it out"
        )
    return write_pruned(index, values, output, config, others=others, progress=progress)


def write_pruned(
    index: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    output: str | os.PathLike[str],
    config: PruneConfig,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    made_by: str = "prune",
    progress: Progress = silent,
) -> PruneReport:
    """Do the work of :func:`prune_index`, for the command ``made_by``."""
    given = [v for v in (values, *others) if v is not None]
    index = named_by(index, config.id_field)
    source, whole = Source.of(index), Task(os.path.abspath(output), config, made_by)
    place = (
        check_shards(source, Path(whole.output), given, config)
        if source.is_sharded
        else whole.place([index, *given])
    )
    kept = config.save_values and Output(
        config.save_values,
        VALUES,
        inputs=[index, place],
        overwrite=config.overwrite,
        option="save_values",
        made_by="prune",
    )
    if not source.resources:
        identify(index)  # before anything is made: Java starts, and the index can be read
    if values is None:
        made = values_without_judgements(index, config, progress)
        given.insert(0, replace(made, folder=str(kept.path)) if kept else made)
    fields = load_fields(given)
    _refuse_several_fields(fields, config)
    whole = _at_loss(whole, fields[0])
    if source.is_sharded:
        report = prune_shards(source, fields, given, whole, progress)
    else:
        written = prune_part(index, fields, whole, progress)
        report = {**written, "output": whole.output}
    if kept:  # not of what was refused
        fields[0].save(kept)
    return report


def _at_loss(task: Task, values: TermValues) -> Task:
    """The task with the reduction that was asked for by a loss, and what was found out of it."""
    config, log = task.config, values.manifest.get("log")
    max_loss, measure = config.max_loss, values.measure
    if log and (config.reduction, max_loss, config.max_bytes) == (None, None, None):
        max_loss, points = log["max_loss"], values.points
        point = next(p for p in points if p["reduction"] == values.recommended_reduction)
    elif max_loss is None:
        return task
    else:
        point = dict(point_within_loss(values.points, max_loss, measure))
    chosen = {
        **({"log": log, "difference": point["difference"]} if log else {}),
        "max_loss": max_loss,
        "measure": measure,
        "loss": loss_of(point, measure),
        "loss_at_most": most_loss_of(point, measure),
        "measures": dict(point["measures"]),
        "full": dict(point["full"]),
        "reduction": point["reduction"],
    }
    config = replace(config, reduction=point["reduction"], max_loss=None)
    return replace(task, config=config, chosen=chosen)


def _refuse_several_fields(given: Sequence[TermValues], config: PruneConfig) -> None:
    """Refuse options that are defined for one field only."""
    fields = [values.vocabulary.field for values in given]
    for_one = ("max_loss", "max_bytes")
    named = [argument(name) for name in for_one if getattr(config, name) is not None]
    if len(fields) > 1 and named:
        raise TdvError(
            f"{' and '.join(named)} is for one field, got TDVs of {', '.join(fields)}: "
            f"prune by {argument('reduction')}, or one field after the other"
        )
