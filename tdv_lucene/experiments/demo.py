"""The whole job on a collection that needs no download: Python's own documentation.

The collection is made at run time from the interpreter that runs it. Its topics are known items:
a sentence is taken out of a document and becomes a topic whose one right answer is that document.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..progress import Progress, silent
from ..pruning.reduction_choice import point_within_loss
from ..store import explain_os_error, new_folder, read_manifest, refuse_existing, write_manifest
from .python_docs import read_documentation

KIND = "demonstration-collection"
TOPICS = 900
"""Default number of topics: two thirds to learn from, one third to measure with."""
_TOLERATED_LOSS = 0.01  # share of nDCG@5 on held-out queries, when the reduction is chosen
_LATENCY_SECONDS = 30.0
_SENTENCE_WORDS = range(8, 26)
_WORDS_LEFT = 25  # of a document without its topic: enough to be found by
_SENTENCE = re.compile(r"(?:^|(?<=[.!?] ))[A-Z][^.!?]*\.(?=\s|$)")
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[,;.]?")


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

    The same interpreter, ``topics`` and ``seed`` give the same files. Topics are drawn from
    documents that stay long enough without the sentence, and only sentences that no other
    document contains are drawn.

    Raises
    ------
    TdvError
        When ``output`` exists, or ``topics`` is below 3 or more than the documentation gives.
    """
    if topics < 3:
        raise TdvError(f"{argument('topics', topics)} is too few: two parts need at least 3")
    with new_folder(output, overwrite=overwrite) as folder:
        texts = {name: _paragraphs(text) for name, text in read_documentation(progress).items()}
        chosen = _choose_sentences(texts, topics, random.Random(seed))
        documents = {
            name: f"{_title(name)}\n{text.replace(chosen[name], '', 1) if name in chosen else text}"
            for name, text in texts.items()
        }
        train = topics * 2 // 3
        items = list(enumerate(chosen.items(), 1))
        files = DemoCollection.at(folder)
        _write_documents(files.documents, documents)
        _write_topics(files.train, items[:train])
        _write_topics(files.test, items[train:])
        write_manifest(
            folder,
            KIND,
            {
                "python": platform.python_version(),
                "documents": len(documents),
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

    The folder ``output`` receives ``collection``, ``index``, ``values``, ``pruned`` and
    ``report``; with ``overwrite`` these five are replaced and nothing else in it is touched.
    ``reduction`` None takes the largest share of postings whose removal cost queries held out of
    the training at most 1 % of their nDCG@5. ``announce`` is told what happens next, in words for
    a reader.

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
    from ..learning.learn import learn_from_index
    from ..pruning.prune import prune_index

    folder = Path(output)
    if not overwrite:  # with it, each stage looks after its own folder
        refuse_existing(Path(os.path.abspath(folder)), overwrite=False)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from error
    index, values, pruned = folder / "index", folder / "values", folder / "pruned"
    common = {"overwrite": overwrite, "progress": progress}

    announce(f"Reading the documentation of Python {platform.python_version()} ...")
    collection = make_collection(folder / "collection", seed=seed, **common)
    announce(_describe(collection))
    announce("index: Anserini's IndexCollection")
    build_index(index, _index_flags(collection), **common)
    announce("learn: what each term is worth, from the training topics")
    train = collection.train
    learned = learn_from_index(index, train.topics, train.qrels, values, seed=seed, **common)
    if reduction is None:
        reduction = _borne_reduction(learned.points)
    announce(f"prune: {reduction:.0%} of the postings go, the frequencies of the rest are weighted")
    prune_index(index, values, pruned, reduction=reduction, **common)
    announce("compare: the full and the pruned index on the test topics")
    test = collection.test
    return compare_indexes(
        index, pruned, test.topics, test.qrels, folder / "report", values=values, seed=seed,
        latency_budget_seconds=_LATENCY_SECONDS, **common,
    )  # fmt: skip


def _index_flags(collection: DemoCollection) -> list[str]:
    return [
        "-collection", "JsonCollection", "-input", str(collection.documents),
        "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-storePositions",
    ]  # fmt: skip


def _borne_reduction(points: Sequence[Mapping[str, Any]]) -> float:
    """The largest validated reduction within the tolerated loss, else the smallest there is."""
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
        "with: each is a sentence that was taken out of\none document, and that document is the "
        "one right answer. A small, artificial task: it shows the job,\nnot what to expect of "
        "your collection."
    )


def _title(name: str) -> str:
    """``json.decoder.JSONDecoder`` as words, which a searcher may type."""
    return re.sub(r"[._:]+", " ", name).strip()


def _paragraphs(text: str) -> str:
    """One line a paragraph, so that a sentence broken over lines is one string."""
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def _choose_sentences(texts: dict[str, str], count: int, rng: random.Random) -> dict[str, str]:
    """Draw one sentence each from ``count`` documents; the order is random, too."""
    everything = "\n".join(texts.values()).casefold()
    names = list(texts)
    rng.shuffle(names)
    chosen: dict[str, str] = {}
    for name in names:
        if len(chosen) == count:
            break
        candidates = list(_sentences(texts[name]))
        rng.shuffle(candidates)
        unique = (s for s in candidates if everything.count(s.casefold()) == 1)
        if sentence := next(unique, None):
            chosen[name] = sentence
    if len(chosen) < count:
        raise TdvError(
            f"{argument('topics', count)} is too many: the documentation of this interpreter gives "
            f"{len(chosen)}"
        )
    return chosen


def _sentences(text: str) -> Iterator[str]:
    """Sentences in plain words, of a document that can spare them."""
    total = len(text.split())
    for paragraph in text.split("\n"):
        for sentence in _SENTENCE.findall(paragraph):
            words = sentence.split()
            if (
                len(words) in _SENTENCE_WORDS
                and total - len(words) >= _WORDS_LEFT
                and all(_PLAIN_WORD.fullmatch(word) for word in words)
            ):
                yield sentence


def _write_documents(folder: Path, documents: dict[str, str]) -> None:
    folder.mkdir()
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as file:
        for name, text in documents.items():
            file.write(json.dumps({"id": name, "contents": text}) + "\n")


def _write_topics(files: JudgedTopics, items: list[tuple[int, tuple[str, str]]]) -> None:
    topics = [f"{number}\t{sentence}\n" for number, (_, sentence) in items]
    qrels = [f"{number} 0 {name} 1\n" for number, (name, _) in items]
    files.topics.write_text("".join(topics), encoding="utf-8")
    files.qrels.write_text("".join(qrels), encoding="utf-8")
