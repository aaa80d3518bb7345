"""JVMs that are quick to start and small, as Lucene's own tests have them."""

from __future__ import annotations

from tdv_lucene.jvm import _start

# The heap of the default would grow to 2 GB.
JVM_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx400m"]


def make_jvm_small() -> None:
    """Have this process start its JVM with ``JVM_OPTIONS``."""
    options = _start._options
    _start._options = lambda major: [*options(major), *JVM_OPTIONS]
