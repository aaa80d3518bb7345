"""Learn term discrimination values from a Lucene index and prune it with them.

One verb-noun function a stage: :func:`build_index`, :func:`inspect_index`, :func:`extract_matrix`,
:func:`embed_terms`, :func:`learn_from_index`, :func:`prune_index`, :func:`search_index`,
:func:`compare_indexes`. Importing the package starts no JVM and loads no numerical library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "LatencyPlan": "latency",
    "OperatingPoint": "values",
    "TdvError": "errors",
    "TermDocumentMatrix": "records",
    "TermValues": "values",
    "Vocabulary": "records",
    "analyze": "jvm.index",
    "binary_values": "peers",
    "build_index": "indexing",
    "compare_indexes": "compare",
    "embed_terms": "embed",
    "evaluate_run": "evaluate",
    "explain_query": "explain",
    "extract_matrix": "extract",
    "index_bytes": "inspection",
    "inspect_index": "inspection",
    "learn_from_index": "learn",
    "learn_term_values": "learn",
    "load_matrix": "extract",
    "load_term_vectors": "embed",
    "make_peer_values": "peers",
    "open_searcher": "search",
    "prune_index": "prune",
    "read_qrels": "topics",
    "read_topics": "topics",
    "reproduce_paper": "reproduce",
    "search_index": "search",
    "tune_parameters": "tune",
    "verify_pruned": "verify",
    "unlearned_values": "peers",
}
__all__ = ["__version__", "start_jvm", *sorted(_PUBLIC)]


def start_jvm(heap: str | None = None) -> None:
    """Start the JVM with Pyserini's jar and ours; call it before importing Pyserini yourself.

    ``heap`` is the largest heap, such as ``"4g"``. Raises :class:`TdvError` when no suitable Java
    is found or a JVM runs already without our classes.
    """
    from . import jvm

    if heap is not None:
        jvm.set_heap(heap)
    jvm.start()


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
