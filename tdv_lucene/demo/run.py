"""Run the whole job on the demonstration collection: index, learn, prune, compare."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..comparison.compare import compare_indexes
from ..evaluation.topics import read_qrels, read_topics
from ..index.build import build_index
from ..jvm import start
from ..jvm.analysis import analyze_topics
from ..learning.learn import learn_term_values
from ..learning.prior import Prior, prior_values
from ..matrix.extract import open_matrix
from ..output import Output
from ..progress import Progress, silent
from ..pruning.prune import prune_index
from . import DemoConfig
from .collection import DemoCollection, unpack_wikipedia

VALUES = {"unjudged": "prior-values", "learned": "values", "tiers": "values"}
"""Pruned index -> the TDVs it is made with."""
CATALOGUE = "catalogue"
"""The folder of the short documents: their index, two prunings of it and a report."""
_MEASURE = "nDCG@5"
_LATENCY_SECONDS = 5.0


def run_demo(
    output: str | os.PathLike[str],
    config: DemoConfig | None = None,
    *,
    announce: Callable[[str], None],
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Run the whole job on the demonstration collection.

    The folder ``output`` receives ``collection``, ``index``, TDVs made without judgements
    (``prior-values``) and learned from the training topics (``values``), the indexes pruned with
    them (``unjudged``, ``learned``, and ``tiers`` in two tiers), ``report``, and a manifest of them
    all; ``overwrite`` replaces an earlier demonstration, if nothing else was put there. The full
    index is also searched with k1 and b tuned on the training topics. The prior was made without
    the collection. ``catalogue`` has the same of titles with one sentence, which bear no pruning:
    pruned as ``prune`` chooses, and as much as the others.

    Raises :class:`TdvError` when ``output`` exists, and whatever the stages raise.

    Parameters
    ----------
    config, options
        A :class:`DemoConfig`, or its options by name, as ``reduction=0.3``.
    announce
        Called with what happens next, in words for a reader.

    Returns
    -------
    dict
        What :func:`compare_indexes` returns, for the topics that learning has not seen.
    """
    config = DemoConfig.of(config, options)
    reduction, seed = config.reduction, config.seed
    place = Output(output, "demonstration", inputs=(), overwrite=config.overwrite)
    start()
    with place.in_place() as folder:
        index = folder / "index"
        announce(
            "4,000 Wikipedia articles, 300 queries to learn from and 300 to measure with:\n"
            "questions, yes-no questions and keywords of people, with articles that people judged."
        )
        collection = unpack_wikipedia(folder / "collection", progress)
        announce("index: Anserini's IndexCollection")
        _build(collection.documents, index, progress)
        announce("learn: what each term is worth, from other collections and the training queries")
        prior = Prior.load(collection.prior)
        topics = analyze_topics(read_topics(collection.train.topics), "contents")
        qrels = read_qrels(collection.train.qrels)
        with open_matrix(index, field="contents", positions=True, progress=progress) as matrix:
            prior_values(matrix, prior=prior).save(folder / VALUES["unjudged"])
            learned = learn_term_values(
                matrix, topics, qrels, prior=prior, seed=seed, progress=progress
            )
            learned.save(folder / VALUES["learned"])
        points = learned.points
        found = ", ".join(f"{p['reduction']:.0%} {p['measures'][_MEASURE]:.3f}" for p in points)
        announce(
            f"held-out {_MEASURE}, by postings dropped: {found}; full index, tuned "
            f"{points[0]['full'][_MEASURE]:.3f}"
        )
        announce(
            f"prune: {reduction:.0%} of the postings drop, without judgements, as learned, and as "
            "learned in two tiers"
        )
        for name, values in VALUES.items():
            prune_index(
                index, folder / values, folder / name, reduction=reduction,
                tiers=name == "tiers", progress=progress,
            )  # fmt: skip
        announce("compare, on the test queries: full, full with k1 and b tuned, and all pruned")
        report = compare_indexes(
            index, folder / "unjudged", *collection.test, folder / "report",
            names=("full", "unjudged"),
            further_indexes={name: folder / name for name in ("learned", "tiers")},
            tune=tuple(collection.train), seed=seed,
            latency_budget_seconds=_LATENCY_SECONDS, progress=progress,
        )  # fmt: skip
        announce("the same with a catalogue: short titles, which the prior leaves as they are")
        _compare_catalogue(collection, folder / CATALOGUE, config, progress)
        place.write_manifest({"reduction": reduction, "seed": seed})
    return report


def _build(documents: Path, index: Path, progress: Progress) -> None:
    flags = [
        "-collection", "JsonCollection", "-input", str(documents),
        "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-storePositions",
    ]  # fmt: skip
    build_index(index, flags, progress=progress)


def _compare_catalogue(
    collection: DemoCollection, folder: Path, config: DemoConfig, progress: Progress
) -> None:
    """Prune short documents as ``prune`` chooses and as much as the others, and compare."""
    files, index = collection.write_catalogue(folder / "documents"), folder / "index"
    _build(folder / "documents", index, progress)
    for name, reduction in (("default", None), ("forced", config.reduction)):
        prune_index(index, None, folder / name, reduction=reduction, progress=progress)
    compare_indexes(
        index, folder / "default", files.topics, files.qrels, folder / "report",
        names=("full", "default"), further_indexes={"forced": folder / "forced"},
        seed=config.seed, latency_budget_seconds=1.0, progress=progress,
    )  # fmt: skip
