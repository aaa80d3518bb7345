"""The demonstration's collections: Wikipedia articles, and Python's documentation.

The first is package data, with queries of people. The second is made at run time from the
interpreter that runs it; :mod:`.topics` makes its queries by rule.
"""

from __future__ import annotations

import json
import lzma
import os
import platform
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..arguments import checked_seed
from ..errors import TdvError, argument
from ..output import Output
from ..progress import Progress, silent
from .python_docs import read_documentation
from .topics import Documentation, Query, choose_queries

KIND = "demonstration-collection"
PYTHON_TOPICS = 900
"""Of the documentation: two thirds to learn from, one third to measure with."""
_WIKIPEDIA = Path(__file__).with_name("wikipedia")


@dataclass(frozen=True)
class JudgedTopics:
    """A topics file (TSV) and its qrels (TREC)."""

    topics: Path
    qrels: Path


@dataclass(frozen=True)
class DemoCollection:
    """Files of a demonstration collection.

    Attributes
    ----------
    documents : a folder for JsonCollection; a document's first line is its title
    train, test : JudgedTopics
    prior : of a prior that was made without these documents; None for the one of the package
    """

    documents: Path
    train: JudgedTopics
    test: JudgedTopics
    prior: Path | None = None

    @classmethod
    def at(cls, folder: Path) -> DemoCollection:
        """The paths such a collection has in ``folder``."""
        train, test = (
            JudgedTopics(folder / f"topics-{part}.tsv", folder / f"qrels-{part}.txt")
            for part in ("train", "test")
        )
        prior = folder / "prior.json"
        return cls(folder / "documents", train, test, prior if prior.exists() else None)

    def titles(self) -> dict[str, str]:
        """Document id -> title."""
        with open(self.documents / "documents.jsonl", encoding="utf-8") as lines:
            documents = map(json.loads, lines)
            return {each["id"]: each["contents"].partition("\n")[0] for each in documents}


def unpack_wikipedia(
    output: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress = silent
) -> DemoCollection:
    """Write the package's sample of Wikipedia, its queries and their qrels.

    Raises
    ------
    TdvError
        When ``output`` exists.
    """
    place = Output.folder(output, KIND, inputs=(), overwrite=overwrite)
    with place as folder:
        progress("unpack articles", 0, 0)
        files = DemoCollection.at(folder)
        files.documents.mkdir()
        with (
            lzma.open(_WIKIPEDIA / "documents.jsonl.xz") as packed,
            open(files.documents / "documents.jsonl", "wb") as file,
        ):
            shutil.copyfileobj(packed, file)
        for path in _WIKIPEDIA.iterdir():
            if path.suffix != ".xz":
                shutil.copyfile(path, folder / path.name)
        place.write_manifest({"documents": "Wikipedia"})
    return DemoCollection.at(Path(output))


def document_python(
    output: str | os.PathLike[str],
    *,
    topics: int = PYTHON_TOPICS,
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
