"""What the table is made from, each made once and kept: indexes, values, tuned parameters, cells.

Everything kept stands beside its identity, the inputs it was made from; a later run takes it only
when that is the same. A cell is one query set searched on one index with one model.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from table_rows import QueryData, Split, digest

import tdv_lucene
from tdv_lucene import (
    TermValues,
    binary_values,
    build_index,
    embed_terms,
    extract_matrix,
    learn_from_index,
    make_peer_values,
    prune_index,
    search_index,
)
from tdv_lucene.evaluate import trec_eval_values
from tdv_lucene.inspection import inspect_index
from tdv_lucene.learning.recipes import DefaultRecipe, PaperRecipe
from tdv_lucene.tune import candidates

MEASURES = ("nDCG@5", "nDCG@10", "R@1000")
_LEARNED_BY = (
    "learning", "core", "embedding", "_dropping.py", "_lead.py", "_saturation.py", "tune.py",
    "values.py", "learn.py",
)  # fmt: skip
_PAPER_BY = ("learning/paper.py", "learning/pairwise.py", "core/paper.py", "core/losses.py")
_ORDERED_BY = ("peers.py", "_dropping.py", "_saturation.py", "learning/posting.py")
_CHOOSING = ("unit", "posting_rule", "lead")
"""Of a manifest, what pruning reads."""


@dataclass(frozen=True)
class Method:
    """A way of pruning.

    Attributes
    ----------
    name : str
    recipe : DefaultRecipe, PaperRecipe or None
        None: unlearned, made by ``tdv-lucene peers --name NAME``.
    binary : bool
        The learned order, and lead if there is one, with values 1.
    unit : str or None
        Of pruning; None is what the values recommend.
    self_supervised : str or None
        Learned without the judged queries, from what the index itself gives.
    min_doc_freq : int
        Of pruning.
    values_of : str or None
        The method whose values these are; None for its own.
    tuned : bool
        Searched with k1 and b (or mu) tuned on a row's training queries; learned values have their
        own.
    """

    name: str
    recipe: DefaultRecipe | PaperRecipe | None = None
    binary: bool = False
    unit: str | None = None
    self_supervised: str | None = None
    min_doc_freq: int = 1
    values_of: str | None = None
    tuned: bool = False

    @property
    def trained(self) -> bool:
        """Whether judged queries are learned from."""
        return self.recipe is not None and self.self_supervised is None

    @property
    def positions(self) -> bool:
        """Whether it is learned on, and prunes, an index with positions."""
        return self.trained and isinstance(self.recipe, DefaultRecipe) and self.recipe.lead

    @property
    def code(self) -> str:
        """Stands for the parts of the package that decide what the values are."""
        if self.recipe is None:
            return _source(*_ORDERED_BY)
        return _source(*(_PAPER_BY if self.recipe.name == "paper" else _LEARNED_BY))

    @property
    def changes_nothing_at_zero(self) -> bool:
        """At 0 % removed such a pruning is the full index itself."""
        return self.recipe is None or (self.binary and not self.positions)


class Search(NamedTuple):
    """What is searched on an index, with parameters other than its own where some are given."""

    queries: QueryData
    model: str
    parameters: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Made:
    """Term values on disk, and what stands for their content."""

    path: Path
    sha256: str
    seconds: float


class Work:
    """The folder ``work`` of one collection."""

    def __init__(self, collections: Path, work: Path, collection: str, keep_values: bool) -> None:
        self.source, self.collection = collections / collection, collection
        self.folder, self.cells = work / collection, work / "cells"
        self.keep_values = keep_values
        self._commits: dict[Path, str] = {}
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cells.mkdir(exist_ok=True)

    @cached_property
    def index(self) -> Path:
        path = self.folder / "index"
        if not path.exists():
            timed(f"index {self.collection}", lambda: build_index(path, self._flags))
        return path

    @property
    def _flags(self) -> list[str]:
        return [
            "-collection", "JsonCollection", "-input", str(self.source), "-generator",
            "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize",
        ]  # fmt: skip

    @cached_property
    def index_with_text(self) -> Path:
        """The same collection indexed with its text, which titles are read from."""
        return self._index_with("text", "-storeRaw")

    @cached_property
    def index_with_positions(self) -> Path:
        """The same collection indexed with positions; what is pruned from it has none."""
        return self._index_with("positions", "-storePositions")

    def _index_with(self, what: str, flag: str) -> Path:
        path = self.folder / f"index-with-{what}"
        if not path.exists():
            timed(
                f"index {self.collection} with {what}",
                lambda: build_index(path, [*self._flags, flag]),
            )
        return path

    def index_of(self, method: Method) -> Path:
        """The index that a method learns on and prunes."""
        return self.index_with_positions if method.positions else self.index

    @cached_property
    def matrix(self) -> Path:
        return self._extract(self.index, "matrix")

    @cached_property
    def matrix_with_positions(self) -> Path:
        return self._extract(self.index_with_positions, "matrix-with-positions")

    def _extract(self, index: Path, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            timed(f"extract {self.collection} {name}", lambda: extract_matrix(index, path))
        return path

    @cached_property
    def vectors(self) -> Path:
        path = self.folder / "vectors"
        if not path.exists():
            timed(
                f"embed {self.collection}",
                lambda: embed_terms(self.index, path, matrix=self.matrix),
            )
        return path

    @cached_property
    def about_index(self) -> dict[str, Any]:
        return inspect_index(self.index)

    def _commit_of(self, index: Path) -> str:
        if index not in self._commits:
            self._commits[index] = inspect_index(index)["commit"]
        return self._commits[index]

    def values(
        self, method: Method, split: Split | None, model: str | None, compute: bool = True
    ) -> Made | None:
        """Learn or make the values of a method; ``split`` and ``model`` are None for unlearned."""
        method = _within(method, split)
        parts = (method.values_of or method.name, split and split.name, model)
        path = self.folder / "values" / "-".join(part for part in parts if part)
        described = {
            "commit": self._commit_of(self.index_of(method)),
            "recipe": None if method.recipe is None else asdict(method.recipe),
            "binary": method.binary,
            **({"self": method.self_supervised} if method.self_supervised else {}),
            "train": None if split is None else split.train.digest(),
            "model": model,
            "code": method.code,
        }
        identity = json.loads(json.dumps(described))  # as it is read again: lists for tuples
        beside = path.with_name(f"{path.name}.json")
        kept = _read_json(beside)
        if kept and path.exists() and (kept["identity"] == identity or self.keep_values):
            return Made(path, kept["sha256"], kept["seconds"])
        if not compute:
            return None
        path.parent.mkdir(exist_ok=True)
        label = f"values {self.collection} {path.name}"
        seconds = timed(label, lambda: self._make(method, split, model, path))
        made = Made(path, _sha256(TermValues.load(path)), seconds)
        beside.write_text(
            json.dumps({"identity": identity, "sha256": made.sha256, "seconds": seconds})
        )
        return made

    def _make(self, method: Method, split: Split | None, model: str | None, path: Path) -> None:
        if method.recipe is None:
            name = method.values_of or method.name
            make_peer_values(self.index, path, name, matrix=self.matrix, overwrite=True)
        elif method.binary:
            learned = self.values(Method("tdv", method.recipe), split, model)
            binary_values(TermValues.load(learned.path)).save(path, overwrite=True)
        elif method.self_supervised:
            titles = method.self_supervised == "titles"
            learn_from_index(
                self.index_with_text if titles else self.index, None, None, path, model=model,
                self_supervised=method.self_supervised, recipe=method.recipe,
                vectors=self.vectors, matrix=None if titles else self.matrix, overwrite=True,
            )  # fmt: skip
        else:
            topics, qrels = split.train.write(self.folder / "train", split.name)
            matrix = self.matrix_with_positions if method.positions else self.matrix
            learn_from_index(
                self.index_of(method), topics, qrels, path, model=model, recipe=method.recipe,
                vectors=self.vectors, matrix=matrix, overwrite=True,
            )  # fmt: skip

    def full(
        self, queries: QueryData, model: str, compute: bool = True, **parameters: float
    ) -> dict[str, Any] | None:
        """The cell of the full index, at its defaults or at ``parameters``."""
        identity = self._identity(queries, model, values=None, **parameters)
        cell = self._cell(identity)
        if cell is None and compute:
            return self._measure(identity, self.index, queries, model, {}, **parameters)
        return cell

    def tuned(
        self, queries: QueryData, split: Split, model: str, compute: bool = True
    ) -> dict[str, float] | None:
        """k1 and b, or mu, with the best nDCG@10 on the split's training queries.

        The grid is searched once for all ``queries`` that any split trains on.
        """
        grid = candidates(self.index, model)
        identity = self._identity(queries, model, values=None, what="grid", grid=grid)
        cell = self._cell(identity)
        if cell is None:
            if not compute:
                return None
            cell = {"identity": identity, "grid": []}
            timed(
                f"tune {self.collection} {model}, {len(queries.topics)} queries",
                lambda: cell["grid"].extend(self._grid(queries, model)),
            )
            self._keep(cell)
        means = [np.mean([of["values"][q] for q in split.train.topics]) for of in cell["grid"]]
        return cell["grid"][int(np.argmax(means))]["parameters"]

    def _grid(self, queries: QueryData, model: str) -> Iterator[dict[str, Any]]:
        """Candidates, the default first, with nDCG@10 by query."""
        for candidate in candidates(self.index, model):
            ids, values = self._search(self.index, queries, model, hits=10, **candidate)
            by_query = dict(zip(ids, np.round(values["nDCG@10"], 6).tolist()))
            yield {"parameters": candidate, "values": by_query}

    def _search(
        self, index: Path, queries: QueryData, model: str, **search: Any
    ) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
        run = self.folder / f"cell-{os.getpid()}.run"
        search_index(index, queries.topics, run, model=model, overwrite=True, **search)
        columns = {0: "query", 2: "docid", 4: "score"}
        frame = pd.read_csv(
            run, sep=" ", header=None, usecols=[*columns], quoting=3, na_filter=False,
            dtype={0: str, 2: str, 4: np.float64},
        ).rename(columns=columns)  # fmt: skip
        return trec_eval_values(frame, queries.topics, queries.qrels)

    def pruned(
        self,
        method: Method,
        made: Made,
        reduction: float,
        wanted: list[Search],
        compute: bool,
    ) -> list[dict[str, Any] | None]:
        """The cells of one pruned index, in the order of ``wanted``."""
        options: dict[str, Any] = {} if method.unit is None else {"unit": method.unit}
        if method.min_doc_freq > 1:
            options["min_doc_freq"] = method.min_doc_freq
        asked = {"unit": None, **options}
        source = self.index_of(method)
        asked["index"] = self._commit_of(source)
        identities = [
            self._identity(
                queries, model, values=made.sha256, reduction=reduction, **asked, **parameters
            )
            for queries, model, parameters in wanted
        ]
        cells = [self._cell(identity) for identity in identities]
        if all(cells) or not compute:
            return cells
        pruned = self.folder / f"pruned-{os.getpid()}"  # two runs may share the work folder
        reports: list[dict[str, Any]] = []
        seconds = timed(
            f"prune {self.collection} {made.path.name} {reduction:.0%}",
            lambda: reports.append(
                prune_index(
                    source, made.path, pruned, reduction=reduction, overwrite=True, **options
                )
            ),
        )
        about = self._about(reports[0], pruned, seconds, made)
        for at, (queries, model, parameters) in enumerate(wanted):
            if cells[at] is None:
                cells[at] = self._measure(
                    identities[at], pruned, queries, model, about, **parameters
                )
        shutil.rmtree(pruned)
        return cells

    def _about(
        self, report: dict[str, Any], pruned: Path, seconds: float, made: Made
    ) -> dict[str, Any]:
        now = inspect_index(pruned)
        return {
            "removed": report["reduction"],
            "scale": report["scale"],
            "search": report["search"],
            "unit": report.get("unit", "term"),
            "bytes": now["bytes"],
            "postings_bytes": now["bytes_by_kind"]["postings"],
            "prune_seconds": seconds,
            "values_seconds": made.seconds,
        }

    def _measure(
        self,
        identity: dict[str, Any],
        index: Path,
        queries: QueryData,
        model: str,
        about: dict[str, Any],
        **parameters: float,
    ) -> dict[str, Any]:
        started = time.perf_counter()
        ids, values = self._search(index, queries, model, **parameters)
        cell = {
            "identity": identity,
            **about,
            "parameters": parameters,
            "version": commit(),
            "queries": list(ids),
            "values": {m: np.round(values[m], 6).tolist() for m in MEASURES},
        }
        self._keep(cell)
        mean = "  ".join(f"{m} {values[m].mean():.4f}" for m in MEASURES)
        print(f"{time.perf_counter() - started:8.1f} s    {model}: {mean}", flush=True)
        return cell

    def _identity(self, queries: QueryData, model: str, **more: Any) -> dict[str, Any]:
        return {
            "index": self.about_index["commit"],
            "queries": queries.digest(),
            "model": model,
            **more,
        }

    def _cell(self, identity: dict[str, Any]) -> dict[str, Any] | None:
        return _read_json(self.cells / f"{digest(identity)}.json")

    def _keep(self, cell: dict[str, Any]) -> None:
        path = self.cells / f"{digest(cell['identity'])}.json"
        aside = path.with_suffix(".unfinished")
        aside.write_text(json.dumps(cell), encoding="utf-8")
        aside.replace(path)


def _within(method: Method, split: Split | None) -> Method:
    """The method with the split's own number of inner folds, if it has one."""
    fewer = split is not None and split.inner_folds
    if not fewer or method.recipe is None or method.recipe.folds <= fewer:
        return method
    return replace(method, recipe=replace(method.recipe, folds=fewer))


def timed(label: str, step: Callable[[], Any]) -> float:
    """Do a step, print it, and return its wall seconds."""
    started = time.perf_counter()
    step()
    seconds = time.perf_counter() - started
    print(f"{seconds:8.1f} s  {label}", flush=True)
    return seconds


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        print(f"{path} is unreadable and made again", file=sys.stderr)
        return None


def _sha256(values: TermValues) -> str:
    """Stands for all that pruning reads of term values."""
    found = hashlib.sha256(values.vocabulary.sha256.encode())
    for name, array in sorted(vars(values).items()):
        if isinstance(array, np.ndarray):
            found.update(name.encode() + np.ascontiguousarray(array).tobytes())
    chosen = [(p["reduction"], p["scale"]) for p in values.points]
    rest = {k: v for k, v in values.manifest.items() if k in _CHOOSING}
    found.update(json.dumps([chosen, rest, values.parameters]).encode())
    return found.hexdigest()[:16]


@cache
def _source(*parts: str) -> str:
    package = Path(tdv_lucene.__file__).parent
    found = hashlib.sha256()
    for part in parts:
        path = package / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


@cache
def commit() -> str:
    """The commit of the checkout, with a plus where something is not committed."""
    import subprocess

    def git(*words: str) -> str:
        root = Path(__file__).resolve().parent
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True).stdout

    return git("rev-parse", "--short", "HEAD").strip() + ("+" if git("status", "--short") else "")
