"""The whole job on a collection that needs no download: Python's own documentation.

The collection is made at run time from the interpreter that runs it; :mod:`.topics` makes its
queries.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import checked_seed
from ..errors import TdvError, argument
from ..output import Output
from ..progress import Progress, silent
from ..pruning.reduction_choice import point_within_loss
from ..store import read_manifest
from .python_docs import read_documentation
from .topics import Documentation, Query, choose_queries

if TYPE_CHECKING:
    from ..values.term_values import TermValues

KIND = "demonstration-collection"
DEMONSTRATION = "demonstration"
TOPICS = 900
"""Default number of topics: two thirds to learn from, one third to measure with."""
_MEASURE = "nDCG@5"
_SHOWN_REDUCTION = 0.45
_TOLERATED_LOSS = 0.01  # share of it on held-out queries, when the reduction is chosen
_LATENCY_SECONDS = 20.0


def _say_nothing(text: str) -> None:
    """The default announcer."""


@dataclass(frozen=True)
class JudgedTopics:
    """A topics file (TSV) and its qrels (TREC)."""

    topics: Path
    qrels: Path


@dataclass(frozen=True)
class DemoCollection:
    """Files of a demonstration collection; ``documents`` is a folder for JsonCollection."""

    documents: Path
    train: JudgedTopics
    test: JudgedTopics

    @classmethod
    def at(cls, folder: Path) -> DemoCollection:
        """The paths such a collection has in ``folder``."""
        train, test = (
            JudgedTopics(folder / f"topics-{part}.tsv", folder / f"qrels-{part}.txt")
            for part in ("train", "test")
        )
        return cls(folder / "documents", train, test)


def make_collection(
    output: str | os.PathLike,
    *,
    topics: int = TOPICS,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = silent,
) -> DemoCollection:
    """Write documents, topics and qrels made from the running interpreter's documentation.

    The same interpreter, ``topics`` and ``seed`` give the same files. Training and test topics
    share no relevant document.

    Raises
    ------
    TdvError
        When ``output`` exists, ``topics`` is below 3, or the documentation is too small for them.
    """
    if topics < 3:
        raise TdvError(f"{argument('topics', topics)} is too few: two parts need at least 3")
    checked_seed(seed)
    place = Output.folder(output, KIND, inputs=(), overwrite=overwrite)
    with place as folder:
        documentation = Documentation.of(read_documentation(progress))
        queries = choose_queries(documentation, topics, random.Random(seed))
        train = topics * 2 // 3
        numbered = [(f"{query.kind}-{number}", query) for number, query in enumerate(queries, 1)]
        texts = documentation.without(queries)
        files = DemoCollection.at(folder)
        _write_documents(files.documents, texts)
        _write_topics(files.train, numbered[:train])
        _write_topics(files.test, numbered[train:])
        place.write_manifest(
            {
                "python": platform.python_version(),
                "documents": len(texts),
                "train_topics": train,
                "test_topics": topics - train,
                "seed": seed,
            },
        )
    return DemoCollection.at(Path(output))


def run_demo(
    output: str | os.PathLike,
    *,
    reduction: float | None = None,
    seed: int = 0,
    overwrite: bool = False,
    announce: Callable[[str], None] = _say_nothing,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run the whole job on the demonstration collection: index, learn, prune, compare.

    The folder ``output`` receives ``collection``, ``index``, ``values``, ``pruned``, ``smaller``
    and ``report``, and a manifest of them all; ``overwrite`` replaces an earlier demonstration, if
    nothing else was put there.
    ``reduction`` None prunes by :func:`careful_reduction` and, if learning recommends more, a
    second time by that, as ``smaller``: the two ends of the choice. The full index is also searched
    with k1 and b tuned on the training topics, because learning may choose them too. ``announce``
    is told what happens next, in words for a reader.

    Returns
    -------
    dict
        What :func:`compare_indexes` returns, for the topics that learning has not seen.

    Raises
    ------
    TdvError
        When ``output`` exists, and whatever the stages raise.
    """
    from ..comparison.compare import compare_indexes
    from ..indexes.build import build_index
    from ..jvm import start
    from ..learning.from_index import learn_from_index
    from ..pruning.prune import prune_index

    checked_seed(seed)
    place = Output.folder(output, DEMONSTRATION, inputs=(), overwrite=overwrite)
    start()
    with place.in_place() as folder:
        index, values = folder / "index", folder / "values"
        announce(f"Reading the documentation of Python {platform.python_version()} ...")
        collection = make_collection(folder / "collection", seed=seed, progress=progress)
        announce(_describe(collection))
        announce("index: Anserini's IndexCollection")
        build_index(index, _index_flags(collection), progress=progress)
        announce("learn: what each term is worth, from the training topics")
        train = collection.train
        learned = learn_from_index(
            index, train.topics, train.qrels, values, seed=seed, progress=progress
        )
        announce(_describe_points(learned.points))
        reductions = _reductions(learned, reduction)
        for name, share in reductions.items():
            announce(f"prune: {share:.0%} of the postings are dropped, the rest weighted by TDVs")
            prune_index(index, values, folder / name, reduction=share, progress=progress)
        announce("compare: the full index, the same tuned, and the pruned, on the test topics")
        test = collection.test
        report = compare_indexes(
            index, folder / "pruned", test.topics, test.qrels, folder / "report",
            further_indexes={name: folder / name for name in reductions if name != "pruned"},
            tune=(train.topics, train.qrels), values=dict.fromkeys(reductions, values), seed=seed,
            latency_budget_seconds=_LATENCY_SECONDS, progress=progress,
        )  # fmt: skip
        place.write_manifest({"reductions": reductions, "seed": seed})
    return report


def _reductions(learned: TermValues, asked: float | None) -> dict[str, float]:
    """Return the reduction of each index, by its name."""
    if asked is not None:
        return {"pruned": asked}
    careful = careful_reduction(learned.points)
    recommended = learned.manifest["recommended_reduction"]
    if recommended is None:  # so few topics make nothing sure, and something is to be shown
        recommended = _SHOWN_REDUCTION
    more = {"smaller": recommended} if recommended > careful else {}
    return {"pruned": careful, **more}


def _index_flags(collection: DemoCollection) -> list[str]:
    return [
        "-collection", "JsonCollection", "-input", str(collection.documents),
        "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-storePositions",
    ]  # fmt: skip


def careful_reduction(points: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest validated reduction within the tolerated loss, else the smallest.

    Small collections differ in how much can be dropped, so no fixed number would do.
    """
    try:
        return point_within_loss(points, _TOLERATED_LOSS)["reduction"]
    except TdvError:
        return points[0]["reduction"]


def _describe(collection: DemoCollection) -> str:
    counts = read_manifest(collection.documents.parent, KIND, "tdv-lucene demo")
    return (
        f"{counts['documents']:,} documents: docstrings of the standard library and the help "
        f"topics, as this interpreter has them.\n"
        f"{counts['train_topics']} topics to learn from and {counts['test_topics']} to measure "
        "with: what somebody may type who looks for one of them\n(summary lines, headings, names "
        "of parameters, sentences). They are made by rule, without people, so they show\nthe job, "
        "not what to expect of your collection."
    )


def _describe_points(points: Sequence[Mapping[str, Any]]) -> str:
    """Describe the choice of reductions, measured on topics held out of training."""
    found = ", ".join(f"{p['reduction']:.0%} {p['measures'][_MEASURE]:.3f}" for p in points)
    full = points[0]["full"][_MEASURE]
    return f"held-out {_MEASURE}, by postings dropped: {found}; full index {full:.3f}"


def _title(name: str) -> str:
    """``json.decoder.JSONDecoder`` as words, which a searcher may type."""
    return re.sub(r"[._:]+", " ", name).strip()


def _write_documents(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir()
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as file:
        for name, text in texts.items():
            file.write(json.dumps({"id": name, "contents": f"{_title(name)}\n{text}"}) + "\n")


def _write_topics(files: JudgedTopics, queries: Sequence[tuple[str, Query]]) -> None:
    topics = [f"{number}\t{query.text}\n" for number, query in queries]
    qrels = [f"{number} 0 {name} 1\n" for number, query in queries for name in query.answers]
    files.topics.write_text("".join(topics), encoding="utf-8")
    files.qrels.write_text("".join(qrels), encoding="utf-8")
