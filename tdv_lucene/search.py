"""Stage 6: topics to a TREC run, with Anserini's engine and the parameters the index asks for."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import TdvError
from .progress import Progress, silent
from .store import new_file, refuse_existing, write_manifest
from .topics import read_topics

MODELS = {"bm25": ("k1", "b"), "qld": ("mu",), "tfidf": ()}
"""Ranking functions and the parameters each of them has."""

ANY_MODEL = "any"
"""In place of a model: values that were made without one."""

ANSERINI_DEFAULTS = {"k1": 0.9, "b": 0.4, "mu": 1000.0}

_RECORDED = "tdv.search."  # prefix of the commit's user data that the prune stage writes


@dataclass(frozen=True)
class SearchParameters:
    """A ranking function with its parameters; those it does not have are None.

    Attributes
    ----------
    model : ``bm25``, ``qld`` (Dirichlet) or ``tfidf`` (the paper's)
    k1 : float >= 0
    b : float in [0, 1]
    mu : float > 0
    """

    model: str
    k1: float | None = None
    b: float | None = None
    mu: float | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise TdvError(f"no such model: '{self.model}'; choose one of {', '.join(MODELS)}")
        for name in ANSERINI_DEFAULTS:
            value = getattr(self, name)
            if (value is not None) != (name in MODELS[self.model]):
                state = "has no parameter" if value is not None else "needs a value for"
                raise TdvError(f"model {self.model} {state} '{name}'")
        self._require("k1", "at least 0", lambda k1: k1 >= 0)
        self._require("b", "from 0 to 1", lambda b: 0 <= b <= 1)
        self._require("mu", "above 0", lambda mu: mu > 0)

    def _require(self, name: str, legal: str, holds: Any) -> None:
        value = getattr(self, name)
        if value is not None and not (math.isfinite(value) and holds(value)):
            raise TdvError(f"{name}={value} is out of range: a finite number {legal} is needed")

    def values(self) -> dict[str, float]:
        """The parameters this model has, by name."""
        return {name: getattr(self, name) for name in MODELS[self.model]}

    def describe(self) -> dict[str, Any]:
        """Model and parameters, as manifests and reports hold them."""
        return {"model": self.model, **self.values()}

    def similarity(self, index: str | os.PathLike | None = None) -> Any:
        """The Java ``Similarity`` (starts the JVM) to search ``index`` with.

        It applies the term values that an index made with ``--tf similarity`` keeps; to any other,
        or without an index, the model's own.

        Raises
        ------
        TdvError
            When the index should keep term values and does not, or has changed since.
        """
        from .jvm.index import read_user_data
        from .jvm.searcher import make_similarity, weigh_similarity

        plain = make_similarity(**asdict(self))
        made = {} if index is None else read_user_data(index)
        if made.get("tdv.tf") != "similarity":
            return plain
        return weigh_similarity(plain, index, made["tdv.field"])


def recorded_parameters(
    index: str | os.PathLike,
    model: str = "bm25",
    *,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
) -> SearchParameters:
    """The parameters an index is to be searched with.

    A pruned index with scaled frequencies records them (k1 * s, mu * s) in its commit; any other
    gets Anserini's defaults, k1 0.9, b 0.4, mu 1000. A parameter given here takes precedence.

    Raises
    ------
    TdvError
        When there is no such index or model, the model has no such parameter, or a value is out
        of its range.
    """
    from .jvm.index import read_user_data

    recorded = read_user_data(index)
    given = {name: value for name, value in (("k1", k1), ("b", b), ("mu", mu)) if value is not None}
    defaults = {
        name: float(recorded.get(_RECORDED + name, ANSERINI_DEFAULTS[name]))
        for name in MODELS.get(model, ())
    }
    return SearchParameters(model, **{**defaults, **given})


def search_index(
    index: str | os.PathLike,
    topics: str | os.PathLike | Mapping[str, str],
    output: str | os.PathLike,
    *,
    model: str = "bm25",
    hits: int = 1000,
    threads: int | None = None,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
    field: str = "contents",
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Search all topics and write the run ``output`` (``qid Q0 docid rank score tag`` lines).

    Queries are Anserini's bags of words; hits, order and scores are those of Pyserini's
    ``LuceneSearcher`` given the returned parameters. ``threads`` defaults to the machine's cores
    and does not change the run. A manifest is written beside the run.

    Returns the parameters used, ``queries``, ``hits`` and ``queries_without_hits``.

    Raises
    ------
    TdvError
        For unreadable topics or index, a parameter out of its range, or an existing output.
    """
    from .jvm import searcher
    from .jvm.index import identify

    output = Path(os.path.abspath(output))
    refuse_existing(output, overwrite=overwrite)
    threads = os.cpu_count() or 1 if threads is None else threads
    for name, value in (("hits", hits), ("threads", threads)):
        if value < 1:
            raise TdvError(f"{name}={value} is out of range: at least 1 is needed")
    queries = topics if isinstance(topics, Mapping) else read_topics(topics)
    parameters = recorded_parameters(index, model, k1=k1, b=b, mu=mu)
    with new_file(output, overwrite=overwrite) as unfinished:
        found = searcher.write_run(
            index,
            parameters.similarity(index),
            field,
            queries,
            hits=hits,
            threads=threads,
            tag=f"tdv-lucene-{model}",
            output=unfinished,
            progress=progress,
        )
    summary = {**parameters.describe(), "field": field, "queries": len(queries), **found}
    manifest = {**summary, "depth": hits, "source": identify(index)}
    beside = output.with_name(f"{output.name}.manifest.json")
    with new_file(beside, overwrite=True) as unfinished:
        write_manifest(unfinished.parent, "run", manifest, unfinished.name)
    return summary


def open_searcher(index: str | os.PathLike, model: str = "bm25", **parameters: float) -> Any:
    """A Pyserini ``LuceneSearcher`` on ``index``, set up with what it records.

    That is the parameters and, for an index made with ``--tf similarity``, the term values.

    Use it like any other; ``tfidf``, which Pyserini has not, works too. Parameters given (``k1``,
    ``b``, ``mu``) take precedence. The first call imports Pyserini's search package, which takes
    seconds. Calling ``set_bm25`` or ``set_qld`` on the result replaces both.

    Raises
    ------
    TdvError
        As :func:`recorded_parameters`.
    """
    from .jvm.searcher import open_pyserini

    chosen = recorded_parameters(index, model, **parameters)
    return open_pyserini(index, chosen.similarity(index))
