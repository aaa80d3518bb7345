"""JVMs that are quick to start and small, as Lucene's own tests have them."""

from __future__ import annotations

import os

from tdv_lucene.jvm import _start

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What compiles for seconds what runs for milliseconds stays off, as do threads for large heaps."""


def make_jvm_small() -> None:
    """Have this process and its children start their JVMs with ``JAVA_OPTIONS``.

    A JVM says on standard error that it picked them up. This process's heap is smaller as well: by
    default it would grow to 2 GB.
    """
    os.environ["JAVA_TOOL_OPTIONS"] = JAVA_OPTIONS
    options = _start._options
    _start._options = lambda major: [*options(major), "-Xmx400m"]
