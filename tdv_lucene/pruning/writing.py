"""An index, or a shard, written as it was decided: in this process, or in a worker."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..arguments import cores, parse_bytes
from ..errors import TdvError
from ..indexes.inspection import bytes_of, index_bytes
from ..indexes.shards.record import ShardRecord
from ..jvm import rewriter
from ..jvm.index import read_user_data, written_lucene_version
from ..output import Output
from ..prior.alone import gains_to_expect
from ..progress import Progress, silent
from ..store import check_files
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .reduction_choice import foreseen_bytes, reduction_within_bytes
from .rewriting import Rewriting, refuse_emptied

KIND = "pruned-index"
MANIFEST = "tdv-manifest.json"
"""Beside Lucene's files in the index folder; Lucene neither reads nor removes it."""

_SHRINKING = ("postings", "positions", "dictionary", "vectors")


@dataclass(frozen=True)
class Task:
    """How a part is pruned, beside its TDVs: small, for it travels.

    Attributes
    ----------
    output : str
        The place of the result.
    config : PruneConfig
        Its reduction is what is written, unless ``max_bytes`` is given.
    made_by : str
    chosen : mapping
        How the reduction was found out, for the report.
    shard : ShardRecord or None
        If the part is a shard: of what.
    """

    output: str
    config: PruneConfig
    made_by: str = "prune"
    chosen: Mapping[str, Any] | None = None
    shard: ShardRecord | None = None

    def place(self, inputs: Sequence[Any]) -> Output:
        """Where the result comes into being, if it may."""
        return Output(
            self.output, KIND, inputs=inputs, overwrite=self.config.overwrite, manifest=MANIFEST,
            made_by=self.made_by,
        )  # fmt: skip

    def rewriting(
        self, index: str | os.PathLike[str], values: Sequence[str | TermValues]
    ) -> Rewriting:
        """What is made of a part with these values, or those in these folders."""
        return Rewriting(index, load_fields(values), self.config, self.shard)


def prune_part(
    index: str | os.PathLike[str],
    values: Sequence[str | TermValues],
    task: Task,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write a part of a source, or all of it, and return the report of it.

    Of a shard nothing is written that a worker finished which died before it could tell.
    """
    rewriting = task.rewriting(index, values)
    if task.shard is not None:
        report = finished_part(rewriting, Path(task.output))
        if report is not None:
            return report
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(task.output))  # on the worker's own disk
    place = task.place([index, *values])
    with place as folder:
        if task.config.max_bytes is None:
            report = write_index(rewriting, folder, progress)
            if task.chosen:
                report["chosen"] = task.chosen
        else:
            report = _write_within(rewriting, folder, progress)
        place.write_manifest(report)
    return report


def finished_part(rewriting: Rewriting, place: Path) -> dict[str, Any] | None:
    """The report of the whole index in ``place``; None where it is not what would be written."""
    if not (place / MANIFEST).is_file():
        return None
    with contextlib.suppress(TdvError, OSError, ValueError):
        report: dict[str, Any] = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        check_files(place, report, "tdv-lucene prune", digests_up_to=0)
        if rewriting.user_data.items() <= read_user_data(place).items():
            return report
    return None


def write_index(rewriting: Rewriting, folder: Path, progress: Progress = silent) -> dict[str, Any]:
    """Write the index into ``folder`` (existing, empty) and return the report of it.

    Raises :class:`TdvError` when the index cannot be read or pruned, is locked, or has another
    vocabulary.
    """
    rewriting.refuse_empty()
    written = written_lucene_version()
    rewriting.warn(written)
    config = rewriting.config
    counts = rewriter.rewrite_index(
        rewriting.index, folder, rewriting.rules,
        threads=cores(config.threads), user_data=rewriting.user_data,
        one_segment=config.optimize, is_shard=rewriting.shard is not None,
        has_changed=any(rewriting.states), progress=progress,
    )  # fmt: skip
    report = report_of(rewriting, counts)
    if rewriting.shard is None:  # of a shard, nothing may be left
        refuse_emptied(report)
    return {**report, "bytes_before": bytes_of(rewriting.index), "bytes": bytes_of(folder)}


def report_of(rewriting: Rewriting, counts: dict[str, Any]) -> dict[str, Any]:
    """What was written, in the words of :func:`.prune.prune_index`; ``counts`` are Java's."""
    first, *others = rewriting.described
    for about in others:
        counts["fields"][about["field"]] = {**about, **counts["fields"][about["field"]]}
    before = counts["postings_before"]
    return {
        **first,
        "reduction": 1 - counts["postings"] / before if before else 0.0,
        **counts,
        "lucene_version": written_lucene_version(),
        **({"defaults": rewriting.defaults} if rewriting.defaults else {}),
        "analysis": rewriting.analysed[first["field"]].describe(),
        "validated": dict(rewriting.points[0].nearest),
        "fidelity": _fidelity(rewriting.points[0], first),
        "expected": _expected(rewriting.fields[0], first),
        "source": rewriting.source,
    }


def count_part(
    index: str | os.PathLike[str], values: Sequence[str | TermValues], task: Task
) -> dict[str, dict[str, Any]]:
    """Of each field its ``tokens`` and ``documents`` with terms after pruning, and whether it
    ``has_norms``. Writes nothing.
    """
    rewriting = task.rewriting(index, values)
    counts = rewriter.rewrite_index(
        index, os.devnull, rewriting.rules, user_data={}, counts_only=True,
        threads=cores(task.config.threads), is_shard=task.shard is not None,
        has_changed=any(rewriting.states),
    )  # fmt: skip
    names = [values.vocabulary.field for values in rewriting.fields]
    found = {names[0]: counts, **counts.get("fields", {})}
    return {
        name: {
            "tokens": found[name]["tokens"],
            "documents": found[name]["documents_with_terms"],
            "has_norms": rewriter.has_norms(index, name),
        }
        for name in names
    }


def _write_within(rewriting: Rewriting, folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the index of the smallest reduction that fits; return its report."""
    config = rewriting.config
    max_bytes = parse_bytes(config.max_bytes or 0)
    with ExitStack() as written:
        there: dict[float, tuple[Path, dict[str, Any]]] = {}

        def bytes_at(reduction: float) -> int:
            there.clear()
            written.close()  # one beside the output at a time
            beside = tempfile.TemporaryDirectory(prefix=".tdv-lucene-size-", dir=folder.parent)
            tried = Path(written.enter_context(beside))
            at = replace(config, reduction=reduction, max_bytes=None)
            report = write_index(replace(rewriting, config=at), tried, progress)
            report["chosen"] = {"max_bytes": max_bytes, "reduction": reduction}
            there[reduction] = tried, report
            return int(report["bytes"])

        kinds = index_bytes(rewriting.index)
        fixed = sum(size for kind, size in kinds.items() if kind not in _SHRINKING)
        foreseen = None
        if config.tf == "scaled":
            foreseen = foreseen_bytes(rewriting.fields[0].points, config.fixed_scale)
        reduction = reduction_within_bytes(
            bytes_at, max_bytes, fixed_bytes=fixed, foreseen=foreseen
        )
        if reduction not in there:
            bytes_at(reduction)
        tried, report = there[reduction]
        for file in tried.iterdir():
            file.rename(folder / file.name)
        return report


def _expected(values: TermValues, made: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What other collections gained that were pruned like this without judgements; empty if this
    was learned, or if none were."""
    if (made["unit"], made["tf"], made["min_doc_freq"]) != ("posting", "scaled", 1):
        return []
    return gains_to_expect(values, made["requested_reduction"])


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
