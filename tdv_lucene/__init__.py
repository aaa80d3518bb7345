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
    "LatencyPlan": "timing.latency",
    "OperatingPoint": "values.term_values",
    "TdvError": "errors",
    "TermDocumentMatrix": "matrix.record",
    "TermValues": "values.term_values",
    "Vocabulary": "records",
    "analyze": "jvm.index",
    "binary_values": "learning.peers",
    "build_index": "indexes.build",
    "compare_indexes": "comparison.compare",
    "embed_terms": "embedding.embed",
    "evaluate_run": "evaluation.evaluate",
    "explain_query": "comparison.explain",
    "export_ciff": "matrix.ciff",
    "extract_matrix": "matrix.extract",
    "index_bytes": "indexes.inspection",
    "inspect_index": "indexes.inspection",
    "learn_from_index": "learning.learn",
    "learn_term_values": "learning.learn",
    "load_matrix": "matrix.extract",
    "load_term_vectors": "embedding.embed",
    "make_peer_values": "learning.peers",
    "open_searcher": "searching.search",
    "prior_values": "learning.prior_values",
    "prune_index": "pruning.prune",
    "read_qrels": "evaluation.topics",
    "read_topics": "evaluation.topics",
    "reproduce_paper": "experiments.reproduce",
    "search_index": "searching.search",
    "serve_indexes": "comparison.serving",
    "tune_parameters": "searching.tuning",
    "verify_pruned": "pruning.verify",
    "unlearned_values": "learning.peers",
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
