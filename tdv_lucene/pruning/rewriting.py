"""One rewrite of an index: what happens to its fields, ready to be written at any reduction."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked_threads
from ..errors import TdvError, argument
from ..indexes.user_data import FieldRecord, as_user_data, carried_over
from ..progress import Progress, silent
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_description import describe_field
from .field_rule import point_at, rule_of

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
    """

    index: str | os.PathLike[str]
    fields: Sequence[TermValues]
    units: Sequence[str | None]
    config: PruneConfig
    progress: Progress = silent

    def write(self, folder: Path, reduction: float | None) -> dict[str, Any]:
        """Write the index into ``folder`` (existing, empty) and return the report of it.

        Raises
        ------
        TdvError
            When the index cannot be read or pruned, is locked, or has another vocabulary.
        """
        from ..jvm import rewriter
        from ..jvm.index import identify, read_user_data, written_lucene_version

        tf, min_doc_freq = self.config.tf, self.config.min_doc_freq
        points = [
            point_at(
                values, reduction, tf=tf, scale=self.config.fixed_scale, unit=unit,
                min_doc_freq=min_doc_freq,
            )
            for values, unit in zip(self.fields, self.units)
        ]  # fmt: skip
        for values, point, unit in zip(self.fields, points, self.units):
            self._refuse_empty(values, point, reduction, unit)
        source = identify(self.index)
        made = read_user_data(self.index)
        self._refuse_pruned(FieldRecord.of(made))
        written = written_lucene_version()
        self._warn(source, written)
        first, *others = (
            describe_field(values, point, tf, reduction, min_doc_freq, source)
            for values, point in zip(self.fields, points)
        )
        counts = rewriter.rewrite_index(
            self.index,
            folder,
            [rule_of(v, p, tf) for v, p in zip(self.fields, points)],
            threads=checked_threads(self.config.threads),
            user_data={
                **carried_over(made, [first["field"], *(about["field"] for about in others)]),
                **as_user_data([first, *others]),
            },
            one_segment=self.config.optimize,
            progress=self.progress,
        )
        for about in others:
            counts["fields"][about["field"]] = {**about, **counts["fields"][about["field"]]}
        for about in (first | counts, *counts.get("fields", {}).values()):
            if about["postings_before"] and not about["postings"]:
                raise TdvError(_emptied(about["field"], first["requested_reduction"]))
        before = counts["postings_before"]
        return {
            **first,
            "reduction": 1 - counts["postings"] / before if before else 0.0,
            **counts,
            "lucene_version": written,
            "validated": dict(points[0].nearest),
            "fidelity": _fidelity(points[0], first),
            "source": source,
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
                raise TdvError(
                    f"min_doc_freq={config.min_doc_freq} leaves no posting of '{field}': "
                    f"{np.asarray(values.doc_freq)[kept].max()} is the largest that leaves some"
                )
        raise TdvError(_emptied(field, reduction))

    def _refuse_pruned(self, source: FieldRecord) -> None:
        """Refuse a field whose TDVs are stored in the index."""
        given = [values.vocabulary.field for values in self.fields]
        if source.tf == "similarity" and source.field in given:
            raise TdvError(
                f"{self.index} was made with {argument('tf', 'similarity')}: the TDVs stored in it "
                f"for '{source.field}' would not fit what is left of the field; prune its source"
            )

    def _warn(self, source: dict[str, Any], written: str) -> None:
        """Warn of a format that an older Lucene cannot read, and of TDVs learned elsewhere."""
        if source["lucene_version"].split(".")[:2] != written.split(".")[:2]:
            _log.warning(
                "%s was written by Lucene %s, the new index will be in the format of the installed "
                "Lucene %s: a Pyserini with an older Lucene cannot read it",
                self.index, source["lucene_version"], written,
            )  # fmt: skip
        learned_on = self.fields[0].manifest.get("source", {})
        if learned_on.get("commit") not in (None, source["commit"]):
            _log.warning(
                "the TDVs were learned on another commit (%s) than that of %s; the vocabularies "
                "must be equal, statistics may differ",
                learned_on.get("path"),
                self.index,
            )


def _emptied(field: str, reduction: float | None) -> str:
    asked = "the recommended reduction" if reduction is None else f"reduction={reduction:g}"
    return (
        f"{asked} leaves no posting of '{field}': pass a smaller one, a smaller min_doc_freq or a "
        "larger scale"
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
