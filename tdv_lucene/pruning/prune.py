"""Stage 5: a new index with fewer postings and TDV-weighted frequencies."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..arguments import Shards, parse_bytes
from ..errors import TdvError, argument
from ..indexes.inspection import index_bytes
from ..indexes.shards.record import Part
from ..output import Output
from ..progress import Progress, silent
from ..store import manifest_bytes
from ..values.operating_point import CORRECTED_AT
from ..values.term_values import KIND as VALUES
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .reduction_choice import (
    foreseen_bytes,
    loss_of,
    most_loss_of,
    point_within_loss,
    reduction_within_bytes,
)
from .rewriting import Rewriting
from .unjudged import values_without_judgements

KIND = "pruned-index"
MANIFEST = "tdv-manifest.json"
"""Beside Lucene's files in the index folder; Lucene neither reads nor removes it."""


def prune_index(
    index: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    output: str | os.PathLike[str],
    config: PruneConfig | None = None,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Prune a field of ``index`` and write the result as the new index ``output``.

    A posting's new frequency is max(1, rint(scale * tf * tdv)). Norms, statistics and term vectors
    are made to fit. Stored fields, doc values, points, other fields and the order of documents stay
    as they are. Deleted documents are left out, soft-deleted ones too. ``index`` is only
    read.

    Parameters
    ----------
    index
        A folder, or :class:`..arguments.Shards`: then each is pruned with the TDVs and statistics
        of the whole, to a folder of its name inside ``output`` (see :mod:`.prune_shards`).
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
    dict
        Counts and ``bytes`` before and after; the ``reduction`` reached; the ``scale``; the
        ``lucene_version`` of the new index's format; ``chosen``, how ``max_loss`` or ``max_bytes``
        was met; ``search``, the parameters to search it with; ``baked``, the k1 and b that its
        norms hold, and ``norms``, of how many documents no norm can hold them; ``validated``, what
        was measured at the nearest learned point, with the table of scales; ``fidelity``, how well
        this pruning's ranking agreed with real-valued scoring (overlap@10, RBO) and the estimated
        bytes of its posting lists, None if it was not tried at this reduction and scale; with
        ``others``, theirs under ``fields`` by name. The same is in ``tdv-manifest.json``; the
        commit's user data has all but the counts.

    Raises
    ------
    TdvError
        When the index cannot be read or pruned, is locked, or has another vocabulary; when an
        option is out of its range, or has no effect beside others; when no posting would be left,
        or no reduction is given and none is recommended; when ``output`` exists or overlaps the
        index.
    """
    config = PruneConfig.of(config, options, values=values)
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
) -> dict[str, Any]:
    """Do the work of :func:`prune_index`, for the command ``made_by``."""
    from ..jvm.index import identify

    given = [v for v in (values, *others) if v is not None]
    if isinstance(index, Shards):
        from .prune_shards import prune_shards

        return prune_shards(
            index, given, output, config,
            save_values=config.save_values, overwrite=config.overwrite, progress=progress,
        )  # fmt: skip
    place = Output.folder(
        output, KIND, inputs=[index, *given], overwrite=config.overwrite, manifest=MANIFEST,
        made_by=made_by,
    )  # fmt: skip
    kept = config.save_values and Output.folder(
        config.save_values,
        VALUES,
        inputs=[index, place],
        overwrite=config.overwrite,
        option="save_values",
        made_by="prune",
    )
    identify(index)  # before anything is made: Java starts, and the index can be read
    with place as folder:
        if values is None:
            at = CORRECTED_AT if config.max_bytes is not None else (config.reduction,)
            made = values_without_judgements(index, config.field, config.tf, at, progress)
            given.insert(0, made)
        rewriting = plan_rewriting(index, load_fields(given), config, progress)
        reduction, chosen = chosen_by_loss(rewriting)
        if config.max_bytes is None:
            report = rewriting.write(folder, reduction)
        else:
            allowed = parse_bytes(config.max_bytes)
            reduction, report = _write_within(rewriting, folder, allowed)
            chosen = {"max_bytes": allowed}
        report |= bytes_of_both(index, folder)
        if chosen:
            report["chosen"] = {**chosen, "reduction": reduction}
        place.write_manifest(report)
        if kept is not None:
            rewriting.fields[0].save(kept)
    return {"output": str(place.path), **report}


def plan_rewriting(
    index: str | os.PathLike[str],
    fields: Sequence[TermValues],
    config: PruneConfig,
    progress: Progress = silent,
    part: Part | None = None,
) -> Rewriting:
    """What ``config`` asks to be done with these fields."""
    _refuse_several_fields(fields, config)
    units = [_unit_of(values, config) for values in fields]
    return Rewriting(index, fields, units, config, progress, part)


def chosen_by_loss(rewriting: Rewriting) -> tuple[float | None, dict[str, Any]]:
    """The reduction asked for, and what was found out where that was said by a loss."""
    config = rewriting.config
    if config.max_loss is None:
        return config.reduction, {}
    point = point_within_loss(rewriting.fields[0].points, config.max_loss)
    losses = {"loss": loss_of(point), "loss_at_most": most_loss_of(point)}
    return point["reduction"], {"max_loss": config.max_loss, **losses, **_figures(point)}


def bytes_of_both(index: str | os.PathLike[str], pruned: str | os.PathLike[str]) -> dict[str, int]:
    """The sizes of an index and of what was made of it, as a report has them."""
    return {
        "bytes_before": sum(index_bytes(index).values()),
        "bytes": sum(index_bytes(pruned).values()),
    }


def _unit_of(values: TermValues, config: PruneConfig) -> str | None:
    """With ``--tf original``, rules that need changed frequencies are not the default."""
    relies = values.posting_factors is not None
    return "term" if config.unit is None and config.tf == "original" and relies else config.unit


def _refuse_several_fields(given: Sequence[TermValues], config: PruneConfig) -> None:
    """Refuse options that are defined for one field only."""
    fields = [values.vocabulary.field for values in given]
    for_one = {
        argument("max_loss"): config.max_loss is not None,
        argument("max_bytes"): config.max_bytes is not None,
    }
    named = [name for name, used in for_one.items() if used]
    if len(fields) > 1 and named:
        raise TdvError(
            f"{' and '.join(named)} is for one field, got TDVs of {', '.join(fields)}: "
            f"prune by {argument('reduction')}, or one field after the other"
        )


def _figures(point: Mapping[str, Any]) -> dict[str, Any]:
    """What was measured at a point, and of the full index on the same held-out queries."""
    return {"measures": dict(point["measures"]), "full": dict(point["full"])}


def _write_within(
    rewriting: Rewriting, folder: Path, max_bytes: int
) -> tuple[float, dict[str, Any]]:
    """Write the index of the smallest reduction that fits with its manifest; return that and the
    report."""
    kinds = index_bytes(rewriting.index)
    shrinking = ("postings", "positions", "dictionary", "vectors")
    with ExitStack() as written:
        last: tuple[float, Path, dict[str, Any]] | None = None

        def bytes_at(reduction: float) -> int:
            nonlocal last
            written.close()  # one beside the output at a time
            beside = tempfile.TemporaryDirectory(prefix=".tdv-lucene-size-", dir=folder.parent)
            place = Path(written.enter_context(beside))
            report = rewriting.write(place, reduction)
            last = reduction, place, report
            size, before = sum(index_bytes(place).values()), sum(kinds.values())
            whole = {**report, "bytes_before": before, "bytes": size,
                     "chosen": {"max_bytes": max_bytes, "reduction": reduction}}  # fmt: skip
            return size + manifest_bytes(place, KIND, whole, MANIFEST)

        fixed = sum(size for kind, size in kinds.items() if kind not in shrinking)
        scaled = rewriting.config.tf == "scaled"
        points, scale = rewriting.fields[0].points, rewriting.config.fixed_scale
        foreseen = foreseen_bytes(points, scale) if scaled else None
        reduction = reduction_within_bytes(
            bytes_at, max_bytes, fixed_bytes=fixed, foreseen=foreseen
        )
        if last is None or last[0] != reduction:
            return reduction, rewriting.write(folder, reduction)
        _, place, report = last
        for file in place.iterdir():
            file.rename(folder / file.name)
        return reduction, report
