"""One rewrite of an index: what happens to its fields, ready to be written at any reduction."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import cores
from ..errors import TdvError, argument
from ..indexes.shards.record import Part, part_as_user_data
from ..indexes.written_record import as_user_data, carried_over
from ..progress import Progress, silent
from ..ranking import Baking
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_description import describe_field
from .field_rule import point_at, rule_of
from .search_target import RECORDED, baking_of, refuse_scale, scale_for

if TYPE_CHECKING:
    from ..jvm.rewriter import FieldValues

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Rewriting:
    """What :func:`.prune.prune_index` was asked for, checked; only the reduction is still open.

    Attributes
    ----------
    index
        Only read.
    fields
        TDVs of one or more fields, each of another; the first is recorded as the one searched.
    units
        What is dropped of each field, as ``prune_index`` takes it.
    config
        The options; :meth:`write` takes the reduction.
    part
        Where the index is a shard: of what.
    """

    index: str | os.PathLike[str]
    fields: Sequence[TermValues]
    units: Sequence[str | None]
    config: PruneConfig
    progress: Progress = silent
    part: Part | None = None

    def user_data(
        self, points: Sequence[OperatingPoint], reduction: float | None
    ) -> dict[str, str]:
        """What the commit of the index will say of it, of these :meth:`points`; its reduction, too,
        which is known when it is written.
        """
        return self._user_data(self._described(points, reduction))

    def points(self, reduction: float | None) -> list[OperatingPoint]:
        """What decides on every posting of each field: the same for all shards."""
        return [
            self._point(values, reduction, unit) for values, unit in zip(self.fields, self.units)
        ]

    def _point(
        self, values: TermValues, reduction: float | None, unit: str | None
    ) -> OperatingPoint:
        config = self.config
        refuse_scale(values, config.target, config.tf, config.fixed_scale)
        point = point_at(
            values, reduction, tf=config.tf, scale=config.fixed_scale, unit=unit,
            min_doc_freq=config.min_doc_freq,
        )  # fmt: skip
        if config.fixed_scale is not None or point.scale is None:
            return point
        return replace(point, scale=scale_for(values, point.scale, config.target, reduction))

    def rules(self, points: Sequence[OperatingPoint]) -> list[FieldValues]:
        """What the rewriter is to make of each field."""
        return [
            rule_of(values, point, self._baking(values, point))
            for values, point in zip(self.fields, points)
        ]

    def _baking(self, values: TermValues, point: OperatingPoint) -> Baking | None:
        """What the norms of a field hold; of a shard, with the average length of the whole."""
        from ..jvm.rewriter import has_norms

        baking = baking_of(values, point.scale, self.config.target)
        field = values.vocabulary.field
        if baking is None:
            return None
        if self.part is not None:
            length = dict(self.part.average_lengths).get(field)
            return None if length is None else replace(baking, average_length=length)
        if has_norms(self.index, field):
            return baking
        refuse_without_norms(field, self.index, self.config)
        return None

    def count(self, reduction: float | None) -> dict[str, dict[str, Any]]:
        """Of each field whose norms may hold k1 and b: its ``tokens`` and ``documents`` with terms
        after pruning, and whether it ``has_norms``. Writes nothing.
        """
        from ..jvm import rewriter

        points = self.points(reduction)
        names = [values.vocabulary.field for values in self.fields]
        counts = rewriter.rewrite_index(
            self.index, os.devnull, self.rules(points), user_data={}, counts_only=True,
            threads=cores(self.config.threads), is_shard=self.part is not None,
            progress=self.progress,
        )  # fmt: skip
        found = {names[0]: counts, **counts.get("fields", {})}
        return {
            name: {
                "tokens": found[name]["tokens"],
                "documents": found[name]["documents_with_terms"],
                "has_norms": rewriter.has_norms(self.index, name),
            }
            for name, values, point in zip(names, self.fields, points)
            if baking_of(values, point.scale, self.config.target) is not None
        }

    def write(self, folder: Path, reduction: float | None) -> dict[str, Any]:
        """Write the index into ``folder`` (existing, empty) and return the report of it.

        Raises
        ------
        TdvError
            When the index cannot be read or pruned, is locked, or has another vocabulary.
        """
        from ..jvm import rewriter
        from ..jvm.index import written_lucene_version

        points = self.points(reduction)
        for values, point, unit in zip(self.fields, points, self.units):
            self._refuse_empty(values, point, reduction, unit)
        written = written_lucene_version()
        self._warn(self._source, written)
        described = self._described(points, reduction)
        first, *others = described
        counts = rewriter.rewrite_index(
            self.index,
            folder,
            self.rules(points),
            threads=cores(self.config.threads),
            user_data=self._user_data(described),
            one_segment=self.config.optimize,
            is_shard=self.part is not None,
            progress=self.progress,
        )
        for about in others:
            counts["fields"][about["field"]] = {**about, **counts["fields"][about["field"]]}
        if self.part is None:  # of a shard, nothing may be left
            refuse_emptied(first | counts)
        before = counts["postings_before"]
        return {
            **first,
            "reduction": 1 - counts["postings"] / before if before else 0.0,
            **counts,
            "lucene_version": written,
            "validated": dict(points[0].nearest),
            "fidelity": _fidelity(points[0], first),
            "source": self._source,
        }

    @cached_property
    def _source(self) -> dict[str, Any]:
        from ..jvm.index import identify

        return identify(self.index)

    @cached_property
    def _made(self) -> dict[str, str]:
        """What the source's commit says."""
        from ..jvm.index import read_user_data

        return read_user_data(self.index)

    def _described(
        self, points: Sequence[OperatingPoint], reduction: float | None
    ) -> list[dict[str, Any]]:
        tf, min_doc_freq = self.config.tf, self.config.min_doc_freq
        return [
            describe_field(
                values,
                point,
                tf,
                reduction,
                min_doc_freq,
                self._source,
                self.config.target,
                self._baking(values, point),
            )  # fmt: skip
            for values, point in zip(self.fields, points)
        ]

    def _user_data(self, described: Sequence[dict[str, Any]]) -> dict[str, str]:
        return {
            **carried_over(self._made, [about["field"] for about in described]),
            **as_user_data(described),
            **part_as_user_data(self.part, self._made),
        }

    def _refuse_empty(
        self,
        values: TermValues,
        point: OperatingPoint,
        reduction: float | None,
        unit: str | None,
    ) -> None:
        """Refuse to drop every term, before anything is written."""
        if point.tdv.any() or not len(point.tdv):
            return
        field = values.vocabulary.field
        config = self.config
        if config.min_doc_freq > 1:
            whole = point_at(values, reduction, tf=config.tf, scale=config.fixed_scale, unit=unit)
            kept = whole.tdv > 0
            if kept.any():
                largest = np.asarray(values.doc_freq)[kept].max()
                raise TdvError(
                    f"{argument('min_doc_freq', config.min_doc_freq)} leaves no posting of "
                    f"'{field}': {largest} is the largest that leaves some"
                )
        raise TdvError(_emptied(field, reduction))

    def _warn(self, source: dict[str, Any], written: str) -> None:
        """Warn of a format that an older Lucene cannot read, and of TDVs learned elsewhere."""
        if source["lucene_version"].split(".")[:2] != written.split(".")[:2]:
            _log.warning(
                "%s was written by Lucene %s, the new index will be in the format of the installed "
                "Lucene %s: a Pyserini with an older Lucene cannot read it",
                self.index, source["lucene_version"], written,
            )  # fmt: skip
        learned_on = self.fields[0].manifest.get("source", {})
        ours = source["commit"] if self.part is None else self.part.source_commit
        if learned_on.get("commit") not in (None, ours):
            _log.warning(
                "the TDVs were learned on another commit (%s) than that of %s; the vocabularies "
                "must be equal, statistics may differ",
                learned_on.get("path"),
                self.index,
            )


def refuse_without_norms(field: str, index: str | os.PathLike[str], config: PruneConfig) -> None:
    """Refuse to write k1 and b into norms that are not there, if that was asked for."""
    if config.target.given and config.target.name != RECORDED:
        raise TdvError(
            f"the field '{field}' of {index} has no norms, which k1 and b are written into: "
            f"leave out {argument('search_as')}"
        )


def refuse_emptied(report: Mapping[str, Any]) -> None:
    """Refuse what has no posting left of a field that had some; ``report`` as of :meth:`write`."""
    for about in (report, *report.get("fields", {}).values()):
        if about["postings_before"] and not about["postings"]:
            raise TdvError(_emptied(about["field"], report["requested_reduction"]))


def _emptied(field: str, reduction: float | None) -> str:
    asked = "the recommended reduction" if reduction is None else f"a reduction of {reduction:g}"
    return (
        f"{asked} leaves no posting of '{field}': pass a smaller {argument('reduction')}, or a "
        f"smaller {argument('min_doc_freq')}"
    )


def _fidelity(point: OperatingPoint, made: Mapping[str, Any]) -> dict[str, float] | None:
    """What was measured of exactly this pruning against real-valued scoring; None if nothing was.

    ``made`` is its description. The figures of a neighbouring point would be those of another
    index.
    """
    nearest = point.nearest
    measured = (made["requested_reduction"], made["unit"], 1, "scaled")
    of_point = (nearest["reduction"], nearest.get("unit", "term"), made["min_doc_freq"], made["tf"])
    if measured != of_point:
        return None
    names = ("overlap_at_10", "rbo_at_10", "posting_bytes")
    for entry in nearest["scales"]:
        if entry["scale"] == point.scale and set(names) <= set(entry):
            return {name: entry[name] for name in names}
    return None
