"""The tiny collection in one index and in shards, and workers for them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cloudpickle
import distributed
from lucene_indexes import Layout, write_index
from small_jvm import make_jvm_small
from tiny_collection import tiny_segments

from tdv_lucene.index.workers import dead_workers_return

cloudpickle.register_pickle_by_value(sys.modules["small_jvm"])  # workers cannot import the tests
LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp")


def write_tiny_shards(folder: Path) -> None:
    """Write the index ``one``, and in ``S`` four shards of it, one without a document; two
    documents are deleted."""
    segments = tiny_segments(2)
    for at in (1, 3):
        segments[at][0] = dataclasses.replace(segments[at][0], deleted=True)
    write_index(folder / "one", segments, LAYOUT)
    (folder / "S").mkdir()
    for name, part in {"a": segments[:2], "b": segments[2:3], "c": [], "d": segments[3:]}.items():
        write_index(folder / "S" / name, part, LAYOUT)


@contextmanager
def two_workers(temporary: Path) -> Iterator[str]:
    """Processes with a thread each, JVMs like the tests' own, and a resource, ``x`` or ``y``;
    the address of their scheduler."""
    options = {"nthreads": 1, "memory_limit": 0, "env": {"TMPDIR": str(temporary)}}
    workers = {
        name: {"cls": distributed.Nanny, "options": {**options, "resources": {name: 1}}}
        for name in "xy"
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None}}
    with (
        dead_workers_return(),
        distributed.SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster,
    ):
        with distributed.Client(cluster) as client:
            client.run(make_jvm_small)
        yield cluster.scheduler_address
