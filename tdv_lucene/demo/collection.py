"""The demonstration's collection: Wikipedia articles with queries by people, as package data."""

from __future__ import annotations

import json
import lzma
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..output import Output
from ..progress import Progress, silent

KIND = "demonstration-collection"
_WIKIPEDIA = Path(__file__).with_name("wikipedia")


class JudgedTopics(NamedTuple):
    """A topics file (TSV) and its qrels (TREC)."""

    topics: Path
    qrels: Path


@dataclass(frozen=True)
class DemoCollection:
    """Files of a demonstration collection."""

    documents: Path  # a folder for JsonCollection; a document's first line is its title
    train: JudgedTopics
    test: JudgedTopics
    prior: Path  # made without these documents

    @classmethod
    def at(cls, folder: Path) -> DemoCollection:
        """Return the paths of such a collection in ``folder``."""
        train, test = (
            JudgedTopics(folder / f"topics-{part}.tsv", folder / f"qrels-{part}.txt")
            for part in ("train", "test")
        )
        return cls(folder / "documents", train, test, folder / "prior.json")

    def write_catalogue(self, documents: Path) -> JudgedTopics:
        """Write titles with one sentence into the folder ``documents``, as shops list goods, and
        beside it all queries of keywords."""
        files = JudgedTopics(documents.with_name("topics.tsv"), documents.with_name("qrels.txt"))
        documents.mkdir(parents=True)
        with (
            open(self.documents / "documents.jsonl", encoding="utf-8") as lines,
            open(documents / "documents.jsonl", "w", encoding="utf-8") as written,
        ):
            for document in map(json.loads, lines):
                title, sentence, *_ = document["contents"].split("\n")
                short = {"id": document["id"], "contents": f"{title}\n{sentence}"}
                written.write(json.dumps(short, ensure_ascii=False) + "\n")
        for target, sources in (
            (files.topics, (self.train.topics, self.test.topics)),
            (files.qrels, (self.train.qrels, self.test.qrels)),
        ):
            lines_of = (source.read_text(encoding="utf-8").splitlines(True) for source in sources)
            kept = [line for some in lines_of for line in some if line.startswith("keywords-")]
            target.write_text("".join(kept), encoding="utf-8")
        return files

    def titles(self) -> dict[str, str]:
        """Return document id -> title."""
        with open(self.documents / "documents.jsonl", encoding="utf-8") as lines:
            documents = map(json.loads, lines)
            return {each["id"]: each["contents"].partition("\n")[0] for each in documents}


def unpack_wikipedia(output: str | os.PathLike[str], progress: Progress = silent) -> DemoCollection:
    """Write the package's sample of Wikipedia, its queries and their qrels.

    Raises :class:`TdvError` when ``output`` exists.
    """
    place = Output(output, KIND, inputs=())
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
