"""Values, tuned parameters and cells, each made once and kept.

Everything kept stands beside its identity, the inputs it was made from; a later run takes it only
when that is the same. A cell is one query set searched on one index with one model.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prior_settings import prior_without
from table_methods import Method, Search, values_digest
from table_rows import QueryData, Split, digest
from table_sources import Sources, timed

from tdv_lucene import (
    TermValues,
    binary_values,
    learn_from_index,
    learn_term_values,
    load_matrix,
    make_peer_values,
    prune_index,
    search_index,
)
from tdv_lucene.embedding.embed import load_term_vectors
from tdv_lucene.evaluation.evaluate import trec_eval_values
from tdv_lucene.evaluation.tuning import OBJECTIVE, Choice, Tuning, parameters_to_try, tune
from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.indexes.search_parameters import recorded_parameters
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.paper.learn import learn_by_paper
from tdv_lucene.paper.pairwise import PaperRecipe

MEASURES = ("nDCG@5", "nDCG@10", "R@1000")


@dataclass(frozen=True)
class Made:
    """Term values on disk, and what stands for their content."""

    path: Path
    sha256: str


class Work:
    """The folder ``work`` of one collection."""

    def __init__(self, collections: Path, work: Path, collection: str, keep_values: bool) -> None:
        self.collection, self.folder, self.cells = collection, work / collection, work / "cells"
        self.keep_values = keep_values
        self.sources = Sources(collections / collection, self.folder)
        self.cells.mkdir(exist_ok=True)

    def values(
        self, method: Method, split: Split | None, model: str | None, compute: bool = True
    ) -> Made | None:
        """Learn or make the values of a method; ``split`` and ``model`` are None for unlearned."""
        method = method.within(split)
        parts = (method.values_of or method.name, split and split.name, model)
        path = self.folder / "values" / "-".join(part for part in parts if part)
        described = {
            "commit": self.sources.about(self.sources.index_of(method))["commit"],
            "recipe": None if method.recipe is None else asdict(method.recipe),
            "binary": method.binary,
            "train": None if split is None else split.train.digest(),
            "model": model,
            "code": method.code,
        }
        identity = json.loads(json.dumps(described))  # as it is read again: lists for tuples
        beside = path.with_name(f"{path.name}.json")
        kept = _read_json(beside)
        if kept and path.exists() and (kept["identity"] == identity or self.keep_values):
            return Made(path, kept["sha256"])
        if not compute:
            return None
        path.parent.mkdir(exist_ok=True)
        label = f"values {self.collection} {path.name}"
        timed(label, lambda: self._make(method, split, model, path))
        made = Made(path, values_digest(TermValues.load(path)))
        beside.write_text(json.dumps({"identity": identity, "sha256": made.sha256}))
        return made

    def _make(self, method: Method, split: Split | None, model: str | None, path: Path) -> None:
        sources = self.sources
        if method.recipe is None:
            name = method.values_of or method.name
            make_peer_values(sources.index, path, name, matrix=sources.matrix, overwrite=True)
        elif method.binary:
            learned = self.values(Method("tdv", method.recipe), split, model)
            binary_values(TermValues.load(learned.path)).save(path, overwrite=True)
        elif isinstance(method.recipe, PaperRecipe):
            self._learn_by_paper(method, split, model, path)
        elif method.recipe.prior:
            self._learn_from_prior(method, split, model, path)
        else:
            topics, qrels = split.train.write(self.folder / "train", split.name)
            learn_from_index(
                sources.index_of(method), topics, qrels, path, model=model, recipe=method.recipe,
                vectors=sources.vectors, matrix=sources.matrix_of(method), overwrite=True,
            )  # fmt: skip

    def _learn_by_paper(self, method: Method, split: Split, model: str, path: Path) -> None:
        counts = load_matrix(self.sources.matrix)
        learn_by_paper(
            counts, analyze_topics(split.train.topics), split.train.qrels, model=model,
            recipe=method.recipe, vectors=load_term_vectors(self.sources.vectors, counts),
        ).save(path, overwrite=True)  # fmt: skip

    def _learn_from_prior(self, method: Method, split: Split, model: str, path: Path) -> None:
        """Learn from the prior that was made without this collection."""
        counts = load_matrix(self.sources.matrix_of(method))
        learn_term_values(
            counts, analyze_topics(split.train.topics), split.train.qrels, model=model,
            recipe=method.recipe, prior=prior_without(self.collection),
            vectors=load_term_vectors(self.sources.vectors, counts),
        ).save(path, overwrite=True)  # fmt: skip

    def full(
        self, queries: QueryData, model: str, compute: bool = True, **parameters: float
    ) -> dict[str, Any] | None:
        """The cell of the full index, at its defaults or at ``parameters``."""
        identity = self._identity(queries, model, values=None, **parameters)
        cell = self._cell(identity)
        if cell is None and compute:
            return self._measure(identity, self.sources.index, queries, model, {}, **parameters)
        return cell

    def tuned(
        self, queries: QueryData, split: Split, model: str, compute: bool = True
    ) -> dict[str, float] | None:
        """k1 and b, or mu, that serve the split's training queries best (see ``tuning.OBJECTIVE``).

        The grid is searched once for all ``queries`` that any split trains on.
        """
        given = recorded_parameters(self.sources.index, model).values()
        grid = parameters_to_try(model, given)
        asked = {"what": "grid", "objective": OBJECTIVE, "grid": grid}
        identity = self._identity(queries, model, values=None, **asked)
        cell = self._cell(identity)
        if cell is None:
            if not compute:
                return None
            cell = {"identity": identity}
            timed(
                f"tune {self.collection} {model}, {len(queries.topics)} queries",
                lambda: cell.update(self._grid(queries, model, given)),
            )
            self._keep(cell)
        places = [cell["queries"].index(query) for query in split.train.topics]
        return Tuning(grid, np.array(cell["served"])).best(places)

    def _grid(
        self, queries: QueryData, model: str, given: dict[str, float]
    ) -> dict[str, list[Any]]:
        """The queries, and how all parameters serve each of them."""
        asked: list[str] = []

        def measure(choice: Choice) -> np.ndarray:
            ids, values = self._search(self.sources.index, queries, model, hits=10, **choice)
            asked[:] = ids
            return np.round(values[OBJECTIVE], 6)

        served = tune(model, given, measure).served.tolist()
        return {"queries": asked, "served": served}

    def _search(
        self, index: Path, queries: QueryData, model: str, **search: Any
    ) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
        columns = {0: "query", 2: "docid", 4: "score"}
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            run = Path(scratch) / "run"
            search_index(index, queries.topics, run, model=model, **search)
            frame = pd.read_csv(  # evaluate.read_run checks every line, and takes its time
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
        options = {"min_doc_freq": method.min_doc_freq} if method.min_doc_freq > 1 else {}
        source = self.sources.index_of(method)
        asked = {
            "values": made.sha256,
            "reduction": reduction,
            "index": self.sources.about(source)["commit"],
            **options,
        }
        identities = [
            self._identity(queries, model, **asked, **parameters)
            for queries, model, parameters in wanted
        ]
        cells = [self._cell(identity) for identity in identities]
        if all(cells) or not compute:
            return cells
        pruned = self.folder / f"pruned-{os.getpid()}"  # two runs may share the work folder
        reports: list[dict[str, Any]] = []
        timed(
            f"prune {self.collection} {made.path.name} {reduction:.0%}",
            lambda: reports.append(
                prune_index(
                    source, made.path, pruned, reduction=reduction, overwrite=True, **options
                )
            ),
        )
        about = self._about(reports[0], pruned)
        for at, (queries, model, parameters) in enumerate(wanted):
            if cells[at] is None:
                cells[at] = self._measure(
                    identities[at], pruned, queries, model, about, **parameters
                )
        shutil.rmtree(pruned)
        return cells

    def _about(self, report: dict[str, Any], pruned: Path) -> dict[str, Any]:
        now = inspect_index(pruned)
        return {
            "removed": report["reduction"],
            "scale": report["scale"],
            "search": report["search"],
            "unit": report.get("unit", "term"),
            "bytes": now["bytes"],
            "postings_bytes": now["bytes_by_kind"]["postings"],
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
            "index": self.sources.about(self.sources.index)["commit"],
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


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        print(f"{path} is unreadable and made again", file=sys.stderr)
        return None


@cache
def commit() -> str:
    """The commit of the checkout, with a plus where something is not committed."""
    import subprocess

    def git(*words: str) -> str:
        root = Path(__file__).resolve().parent
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True).stdout

    return git("rev-parse", "--short", "HEAD").strip() + ("+" if git("status", "--short") else "")
