"""What is made of an index: decided from TDVs and options, ready to be written."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import TdvError, argument
from ..indexes.analysis import analysis_of, record_to_add
from ..indexes.field_analysis import IN_VALUES, FieldAnalysis
from ..indexes.search_parameters import Searcher
from ..indexes.shards.record import SEARCHER, SOURCE_PATH, ShardRecord, shard_as_user_data
from ..indexes.user_data import as_user_data, carried_over
from ..jvm.following import FieldState
from ..jvm.index import identify, read_user_data
from ..jvm.rewriter import FieldValues, has_norms
from ..ranking import Baking
from ..source import ID_FIELD
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import PruneConfig
from .drift import changed_field
from .field_description import describe_field
from .field_rule import point_at, rule_of
from .search_target import RECORDED, SearchTarget, baking_of, refuse_scale, scale_for

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Rewriting:
    """What happens to the fields of an index at a reduction; :mod:`.writing` does it.

    Attributes
    ----------
    index
        Only read.
    fields
        TDVs of one or more fields, each of another; the first is recorded as the one searched.
    config
        The options. Its reduction is the one that is written; None for each field's own.
    shard
        Where the index is a shard: of what.
    """

    index: str | os.PathLike[str]
    fields: Sequence[TermValues]
    config: PruneConfig
    shard: ShardRecord | None = None

    @cached_property
    def points(self) -> list[OperatingPoint]:
        """What decides on every posting of each field: the same for all shards."""
        return [self._point(values) for values in self.fields]

    @cached_property
    def bakings(self) -> list[Baking | None]:
        """What the norms of each field hold; of a shard, with the average length of the whole."""
        return [self._baking(values, at) for values, at in zip(self.fields, self.points)]

    @property
    def rules(self) -> list[FieldValues]:
        """What the rewriter is to make of each field."""
        decided = zip(self.fields, self.points, self.bakings, self.states)
        return [rule_of(*each) for each in decided]

    @cached_property
    def states(self) -> list[FieldState | None]:
        """What became of each field since its TDVs were learned; None where nothing did."""
        is_part = self.shard is not None
        whole = self.shard.source_commit if self.shard is not None else self.source["commit"]
        return [changed_field(self.index, values, whole, is_part=is_part) for values in self.fields]

    @cached_property
    def described(self) -> list[dict[str, Any]]:
        """How each field is pruned, in the words of the record."""
        return [
            describe_field(values, point, self.config, self.source, self.target, baking)
            for values, point, baking in zip(self.fields, self.points, self.bakings)
        ]

    @property
    def user_data(self) -> dict[str, str]:
        """What the commit of the new index says of it; but for the reduction reached, which is
        known when it is written.
        """
        made, said = read_user_data(self.index), dict[str, str]()
        for field, found in self.analysed.items():
            said |= record_to_add(found, field)
        # The documents' id may have been asked for here, or when TDVs were learned.
        sources = self.source, *(values.manifest.get("source", {}) for values in self.fields)
        named = next(({ID_FIELD: one[ID_FIELD]} for one in sources if ID_FIELD in one), {})
        return {
            **carried_over(made, [about["field"] for about in self.described]),
            **as_user_data(self.described),
            **shard_as_user_data(self.shard, made),
            **said,
            **named,
            SEARCHER: self.searcher.name,
            SOURCE_PATH: os.path.abspath(self.index),
        }

    @cached_property
    def analysed(self) -> dict[str, FieldAnalysis]:
        """How each field was analysed, by its name: as its TDVs say where nothing else tells."""
        found = {}
        for values in self.fields:
            field, learned = values.vocabulary.field, values.manifest.get("analysis")
            found[field] = analysis_of(self.index, field, self.config.analysis)
            if learned is not None and not found[field].is_certain:
                found[field] = FieldAnalysis.of_record(learned, IN_VALUES)
        return found

    @cached_property
    def target(self) -> SearchTarget:
        """Whose parameters it is written for: the searcher's that suits, unless one is named."""
        if self.config.target.given:
            return self.config.target
        return SearchTarget(self.searcher.name, False)

    @cached_property
    def searcher(self) -> Searcher:
        """Whose defaults the source is searched with; a shard's are those of the whole."""
        if self.shard is not None:
            return Searcher(self.shard.why_not_anserinis)
        return Searcher.of(self.index)

    @property
    def defaults(self) -> str:
        """Whose defaults the first field was written for, in words; empty where others were asked
        for, or where it has to be searched with recorded parameters."""
        if self.config.target.given:
            return ""
        searched = self.target.parameters(self.fields[0].model) or {}
        recorded = self.described[0]["search"]
        is_held = searched and all(recorded[name] == searched[name] for name in searched)
        return self.searcher.describe(searched) if is_held else ""

    @cached_property
    def source(self) -> dict[str, Any]:
        """The identity of the index."""
        return identify(self.index)

    def _point(self, values: TermValues) -> OperatingPoint:
        config = self.config
        refuse_scale(values, self.target, config.tf, config.fixed_scale)
        point = point_at(
            values, config.reduction, tf=config.tf, scale=config.fixed_scale,
            unit=_unit_of(values, config), min_doc_freq=config.min_doc_freq,
        )  # fmt: skip
        if config.fixed_scale is not None or point.scale is None:
            return point
        return replace(point, scale=scale_for(values, point.scale, self.target, config.reduction))

    def _baking(self, values: TermValues, point: OperatingPoint) -> Baking | None:
        baking, field = baking_of(values, point.scale, self.target), values.vocabulary.field
        if baking is None:
            return None
        if self.shard is not None:
            length = dict(self.shard.average_lengths).get(field)
            return None if length is None else replace(baking, average_length=length)
        if has_norms(self.index, field):
            return baking
        refuse_without_norms(field, self.index, self.config)
        return None

    def refuse_empty(self) -> None:
        """Refuse to drop every term, before anything is written."""
        for values, point in zip(self.fields, self.points):
            if not point.tdv.any() and len(point.tdv):
                self._refuse_rare(values)
                raise TdvError(_emptied(values.vocabulary.field, self.config.reduction))

    def _refuse_rare(self, values: TermValues) -> None:
        """Raise :class:`TdvError` where terms are left but for the least document frequency."""
        config = self.config
        whole = replace(self, config=replace(config, min_doc_freq=1))._point(values)
        kept = whole.tdv > 0
        if kept.any():
            largest = np.asarray(values.doc_freq)[kept].max()
            raise TdvError(
                f"{argument('min_doc_freq', config.min_doc_freq)} leaves no posting of "
                f"'{values.vocabulary.field}': {largest} is the largest that leaves some"
            )

    def warn(self, written: str) -> None:
        """Warn of a format that an older Lucene cannot read."""
        source = self.source
        if source["lucene_version"].split(".")[:2] != written.split(".")[:2]:
            _log.warning(
                "%s was written by Lucene %s, the new index will be in the format of the installed "
                "Lucene %s: a Pyserini with an older Lucene cannot read it",
                self.index, source["lucene_version"], written,
            )  # fmt: skip


def _unit_of(values: TermValues, config: PruneConfig) -> str | None:
    """Whole terms where ``--tf original`` cannot correct the idf, as rules for postings need."""
    return "term" if config.tf == "original" and values.posting_factors is not None else None


def refuse_without_norms(field: str, index: str | os.PathLike[str], config: PruneConfig) -> None:
    """Refuse to write k1 and b into norms that are not there, if that was asked for."""
    if config.target.given and config.target.name != RECORDED:
        raise TdvError(
            f"the field '{field}' of {index} has no norms to write k1 and b into: "
            f"leave out {argument('search_as')}"
        )


def refuse_emptied(report: Mapping[str, Any]) -> None:
    """Refuse what has no posting left of a field that had some; ``report`` as of
    :func:`.writing.write_index`."""
    for about in (report, *report.get("fields", {}).values()):
        if about["postings_before"] and not about["postings"]:
            raise TdvError(_emptied(about["field"], report["requested_reduction"]))


def _emptied(field: str, reduction: float | None) -> str:
    asked = "the recommended reduction" if reduction is None else f"a reduction of {reduction:g}"
    return (
        f"{asked} leaves no posting of '{field}': pass a smaller {argument('reduction')}, or a "
        f"smaller {argument('min_doc_freq')}"
    )
