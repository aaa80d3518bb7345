"""TDVs for those who prune and verify shards: in a folder that they see, or sent to them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..indexes.shards.workers import Workers
from ..source import Part, Source
from ..values.term_values import KEPT_IN, TermValues


@contextlib.contextmanager
def values_for_workers(
    workers: Workers,
    source: Source,
    fields: Sequence[TermValues],
    given: Sequence[Any],
    beside: Path,
) -> Iterator[dict[Part, Any]]:
    """The values for each shard, as arguments of what is done with it: folders that exist already
    or, for the while, in the folder ``beside``, which workers see; where they see none of ours, the
    values themselves, which travel to each disk's workers once.
    """
    if source.resources:
        yield workers.send(fields, source)
        return
    with contextlib.ExitStack() as made:
        folders = []
        for values, one in zip(fields, given):
            if isinstance(one, TermValues):
                place = tempfile.TemporaryDirectory(prefix=".tdv-lucene-values-", dir=beside)
                one = Path(made.enter_context(place)) / "values"
                about = {**values.manifest, KEPT_IN: values.folder}
                replace(values, manifest=about).save(one)
            folders.append(os.path.abspath(one))
        yield dict.fromkeys(source.parts, folders)


def refuse_without_values(source: Source, given: Sequence[Any]) -> None:
    """Raise :class:`TdvError` where TDVs would be made of shards that are not seen here."""
    if not given:
        raise TdvError(
            f"{source} lie where only workers see them, and TDVs are made of all postings here: "
            f"pass {argument('values')}, or name folders that are seen here"
        )
