"""An index, or a shard, written by its plan: in this process, or in a worker."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..arguments import cores
from ..errors import TdvError
from ..index.analysis import IN_VALUES, FieldAnalysis, analysis_of, record_to_add
from ..index.index import Index
from ..index.parameters import Searcher
from ..index.record import (
    SEARCHER,
    SOURCE_PATH,
    ShardRecord,
    as_user_data,
    carried_over,
    shard_as_user_data,
)
from ..jvm import rewriter
from ..jvm.index import written_lucene_version
from ..output import Output
from ..plan import Plan
from ..progress import Progress, silent
from ..source import ID_FIELD
from ..store import check_files
from .config import PruneConfig
from .drift import planned_for
from .planning import emptied
from .sizes import reduction_within_bytes

KIND = "pruned-index"
MANIFEST = "tdv-manifest.json"
"""Beside Lucene's files in the index folder; Lucene neither reads nor removes it."""
_OF_MANIFESTS = ("kind", "format", "created", "versions", "made_by", "files", "sha256")

_SHRINKING = ("postings", "positions", "dictionary", "vectors")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """How a part is written, beside its plan: small, for it travels."""

    output: str  # the place of the result
    config: PruneConfig
    made_by: str = "prune"  # the command
    named_by: str | None = None  # the field that names documents, if one was asked for
    # Field -> how it was analysed, as its TDVs say; those that say nothing are left out
    learned_analyses: Mapping[str, Any] = field(default_factory=dict)
    # What the report says of the field that is searched: ``validated``, ``chosen``, ``tiers`` and
    # ``defaults``
    told: Mapping[str, Any] = field(default_factory=dict)
    # Whose defaults the source is searched with; a shard's are those of the whole
    searcher: Searcher = field(default_factory=Searcher)
    shard: ShardRecord | None = None  # if the part is a shard: of what

    def place(self, inputs: Sequence[Any]) -> Output:
        """Where the result comes into being, if it may."""
        return Output(
            self.output, KIND, inputs=inputs, overwrite=self.config.overwrite, manifest=MANIFEST,
            made_by=self.made_by,
        )  # fmt: skip

    def analyses(self, index: Index, plan: Plan) -> dict[str, FieldAnalysis]:
        """Return how each field was analysed, by the name it is written to: as the TDVs of its
        source say where the index does not."""
        found = {}
        for one in plan.fields:
            field, source = one.field, one.source_field
            found[field] = analysis_of(index, source, self.config.analysis)
            if source in self.learned_analyses and not found[field].is_certain:
                found[field] = FieldAnalysis.of_record(self.learned_analyses[source], IN_VALUES)
        return found

    def user_data(
        self, index: Index, plan: Plan, analysed: Mapping[str, FieldAnalysis]
    ) -> dict[str, str]:
        """Return what the commit of the result says of it, but for what Java adds: the reduction
        reached, average lengths and segments."""
        described = [{**one.record(), "source_commit": index.commit} for one in plan.fields]
        said: dict[str, str] = {}
        for one in plan.fields:
            said |= record_to_add(analysed[one.field], one.field, is_new=one.name is not None)
        return {
            **carried_over(index.user_data, [one.field for one in plan.fields]),
            **as_user_data(described),
            **shard_as_user_data(self.shard, index.user_data),
            **said,
            **({} if self.named_by is None else {ID_FIELD: self.named_by}),
            SEARCHER: self.searcher.name,
            SOURCE_PATH: os.path.abspath(index),
        }


def finished_part(index: Index, plan: Plan, task: Task) -> dict[str, Any] | None:
    """Return the report of the index in the task's place; None where it is not what would be
    written."""
    made = Path(task.output)
    if not (made / MANIFEST).is_file():
        return None
    with contextlib.suppress(TdvError, OSError, ValueError, KeyError):
        manifest = json.loads((made / MANIFEST).read_text(encoding="utf-8"))
        check_files(made, manifest, "tdv-lucene prune", digests_up_to=0)
        wanted = task.user_data(index, plan, task.analyses(index, plan))
        with Index.open(made) as found:
            if wanted.items() <= found.user_data.items():
                return {name: x for name, x in manifest.items() if name not in _OF_MANIFESTS}
    return None


def write_index(
    index: Index, plan: Plan, task: Task, folder: Path, progress: Progress = silent
) -> dict[str, Any]:
    """Write the index and its plan into ``folder`` (existing, empty); return the report of it.

    Raises :class:`TdvError` when the index cannot be pruned, is locked, or has another vocabulary.
    """
    written = written_lucene_version()
    if index.identity["lucene_version"].split(".")[:2] != written.split(".")[:2]:
        _log.warning(
            "%s was written by Lucene %s, the new index will be in the format of the installed "
            "Lucene %s: a Pyserini with an older Lucene cannot read it",
            index, index.identity["lucene_version"], written,
        )  # fmt: skip
    config, shard = task.config, task.shard
    today, has_changed = planned_for(index, plan, shard)
    analysed = task.analyses(index, plan)
    counts = rewriter.rewrite_index(
        index, folder, today,
        threads=cores(config.threads), user_data=task.user_data(index, plan, analysed),
        one_segment=config.optimize, is_shard=shard is not None, has_changed=has_changed,
        progress=progress,
    )  # fmt: skip
    plan.save(folder)
    first, *others = [{**one.record(), "source_commit": index.commit} for one in plan.fields]
    report = {
        **_field_report(first, counts),
        "fields": {
            one["field"]: _field_report(one, counts["fields"][one["field"]]) for one in others
        },
        "segments": counts["segments"],
        "deleted_left_out": counts.get("deleted_left_out", 0),
        "bytes_before": index.bytes,
        "bytes": counts["bytes"],
        "lucene_version": written,
        "analysis": analysed[first["field"]].describe(),
        **{"tiers": None, **task.told},
        "source": index.identity,
        "shards": [],
    }
    if shard is None:  # of a shard, nothing may be left
        refuse_emptied([report, *report["fields"].values()])
    if counts["first_vectors_lost"]:
        _log.warning(
            "the first document has no term left, and Pyserini's set_rm3 takes the index for "
            "one without term vectors by it: drop less, search with 'tdv-lucene search --rm3', or "
            "index another document first"
        )
    return report


def _field_report(described: Mapping[str, Any], counts: Mapping[str, Any]) -> dict[str, Any]:
    before, left = counts["postings_before"], counts["postings"]
    names = ("terms_before", "terms", "tokens", "documents_with_terms", "documents_without_terms",
             "norm_kind")  # fmt: skip
    return {
        **described,
        "reduction": 1 - left / before if before else 0.0,
        "postings_before": before,
        "postings": left,
        **{name: counts[name] for name in names},
        "norms": counts.get("norms"),
    }


def refuse_emptied(fields: Iterable[dict[str, Any]]) -> None:
    """Refuse what has no posting left of a field that had some."""
    for about in fields:
        if about["postings_before"] and not about["postings"]:
            raise emptied(about["field"], about["requested_reduction"])


def count_tokens(index: Index, plan: Plan, task: Task) -> dict[str, dict[str, int]]:
    """Return each field's ``tokens`` and ``documents_with_terms`` after pruning. Writes nothing."""
    today, has_changed = planned_for(index, plan, task.shard)
    counts = rewriter.rewrite_index(
        index, os.devnull, today, user_data={}, counts_only=True,
        threads=cores(task.config.threads), is_shard=task.shard is not None,
        has_changed=has_changed,
    )  # fmt: skip
    found = {plan.fields[0].field: counts, **counts.get("fields", {})}
    names = ("tokens", "documents_with_terms")
    return {field: {name: of_it[name] for name in names} for field, of_it in found.items()}


def write_within(
    index: Index,
    decide: Callable[[float], tuple[Plan, dict[str, Any]]],
    task: Task,
    max_bytes: int,
    folder: Path,
    foreseen: Callable[[float], float] | None,
    progress: Progress,
) -> dict[str, Any]:
    """Write the index of the smallest reduction that fits into ``folder``; return its report.

    ``decide`` returns the plan at a reduction, and what the report tells of it; ``foreseen`` the
    predicted bytes there, None if nothing was predicted.
    """
    prefix, last = ".tdv-lucene-size-", (-1.0, dict[str, Any]())
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder.parent) as beside:
        tried = Path(beside, "index")  # one at a time beside the output

        def bytes_at(reduction: float) -> int:
            nonlocal last
            shutil.rmtree(tried, ignore_errors=True)
            tried.mkdir()
            plan, told = decide(reduction)
            told["chosen"] = {"max_bytes": max_bytes, "reduction": reduction}
            last = reduction, write_index(index, plan, replace(task, told=told), tried, progress)
            return int(last[1]["bytes"])

        kinds = index.bytes_by_kind
        fixed = sum(size for kind, size in kinds.items() if kind not in _SHRINKING)
        if max_bytes <= fixed and not index.deleted:
            raise TdvError(
                f"max_bytes {max_bytes:,} is out of reach: what no pruning makes smaller takes "
                f"{fixed:,} bytes, {kinds['stored']:,} of them stored fields; pass more, or index "
                "without stored text (Anserini's -storeRaw and -storeContents)"
            )
        reduction = reduction_within_bytes(
            bytes_at, max_bytes, fixed_bytes=fixed, foreseen=foreseen
        )
        if reduction != last[0]:
            bytes_at(reduction)
        for file in tried.iterdir():
            file.rename(folder / file.name)
        return last[1]
