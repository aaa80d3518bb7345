"""Learn term discrimination values from a Lucene index and prune it with them.

One verb-noun function a stage: :func:`build_index`, :func:`inspect_index`, :func:`extract_matrix`,
:func:`embed_terms`, :func:`learn_from_index`, :func:`prune_index`, :func:`search_index`,
:func:`compare_indexes`. Importing the package starts no JVM and loads no numerical library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:  # what editors and type checkers see; the import itself stays light
    from .analysis import Analysis as Analysis
    from .comparison.compare import compare_indexes as compare_indexes
    from .comparison.config import CompareConfig as CompareConfig
    from .comparison.config import ExplainConfig as ExplainConfig
    from .comparison.explain import explain_query as explain_query
    from .errors import TdvError as TdvError
    from .evaluation.measures import evaluate_run as evaluate_run
    from .evaluation.topics import read_qrels as read_qrels
    from .evaluation.topics import read_topics as read_topics
    from .index.build import BuildConfig as BuildConfig
    from .index.build import build_index as build_index
    from .index.index import Index as Index
    from .index.inspection import InspectConfig as InspectConfig
    from .index.inspection import inspect_index as inspect_index
    from .jvm.analysis import analyze as analyze
    from .learning.config import LearnConfig as LearnConfig
    from .learning.config import TermValuesConfig as TermValuesConfig
    from .learning.from_index import learn_from_index as learn_from_index
    from .learning.learn import learn_term_values as learn_term_values
    from .learning.prior import prior_values as prior_values
    from .matrix.ciff import export_ciff as export_ciff
    from .matrix.config import EmbedConfig as EmbedConfig
    from .matrix.config import ExportConfig as ExportConfig
    from .matrix.config import ExtractConfig as ExtractConfig
    from .matrix.embed import embed_terms as embed_terms
    from .matrix.embed import load_term_vectors as load_term_vectors
    from .matrix.extract import extract_matrix as extract_matrix
    from .matrix.term_document_matrix import TermDocumentMatrix as TermDocumentMatrix
    from .matrix.term_document_matrix import load_matrix as load_matrix
    from .pruning.config import PruneConfig as PruneConfig
    from .pruning.config import UpdateConfig as UpdateConfig
    from .pruning.config import VerifyConfig as VerifyConfig
    from .pruning.prune import prune_index as prune_index
    from .pruning.update import update_index as update_index
    from .pruning.update import watch_index as watch_index
    from .pruning.verify import verify_pruned as verify_pruned
    from .report.tables import read_report as read_report
    from .searching.config import SearchConfig as SearchConfig
    from .searching.config import TuneConfig as TuneConfig
    from .searching.search import open_searcher as open_searcher
    from .searching.search import search_index as search_index
    from .searching.tune import tune_index as tune_index
    from .searching.tune import tune_parameters as tune_parameters
    from .source import Source as Source
    from .source import find_shards as find_shards
    from .values.peers import PeersConfig as PeersConfig
    from .values.peers import make_peer_values as make_peer_values
    from .values.peers import unlearned_values as unlearned_values
    from .values.posting_rule import OperatingPoint as OperatingPoint
    from .values.term_values import TermValues as TermValues
    from .vocabulary import Vocabulary as Vocabulary

_MODULES = {
    "analysis": "Analysis",
    "comparison.compare": "compare_indexes",
    "comparison.config": "CompareConfig ExplainConfig",
    "comparison.explain": "explain_query",
    "matrix.embed": "embed_terms load_term_vectors",
    "errors": "TdvError",
    "evaluation.measures": "evaluate_run",
    "evaluation.topics": "read_qrels read_topics",
    "index.build": "BuildConfig build_index",
    "index.index": "Index",
    "index.inspection": "InspectConfig inspect_index",
    "jvm.analysis": "analyze",
    "learning.config": "LearnConfig TermValuesConfig",
    "learning.from_index": "learn_from_index",
    "learning.learn": "learn_term_values",
    "matrix.ciff": "export_ciff",
    "matrix.config": "EmbedConfig ExportConfig ExtractConfig",
    "matrix.extract": "extract_matrix",
    "matrix.term_document_matrix": "TermDocumentMatrix load_matrix",
    "values.peers": "PeersConfig make_peer_values unlearned_values",
    "learning.prior": "prior_values",
    "pruning.config": "PruneConfig UpdateConfig VerifyConfig",
    "pruning.prune": "prune_index",
    "pruning.update": "update_index watch_index",
    "pruning.verify": "verify_pruned",
    "report.tables": "read_report",
    "searching.config": "SearchConfig TuneConfig",
    "searching.search": "open_searcher search_index",
    "searching.tune": "tune_index tune_parameters",
    "source": "Source find_shards",
    "values.posting_rule": "OperatingPoint",
    "values.term_values": "TermValues",
    "vocabulary": "Vocabulary",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}
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
