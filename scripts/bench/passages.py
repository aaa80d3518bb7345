#!/usr/bin/env python3
"""Make a collection of passages of a collection of articles, for what is to be measured at size.

    scripts/bench/passages.py --collection DIR --output DIR --words 48

Each article becomes passages of so many words, none of which overlap, with the article's first
line, its title, in front of each: `ARTICLE.0`, `ARTICLE.1` and so on. 48 words make a million
passages of wiki165k. Query sets are copied. A passage is judged as its article is, so a query has
as many relevant passages as its articles have; a few of them do not answer it. The qrels of
articles are kept as `articles.SET.txt`, for who counts an article as found with its first passage.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path


def passages_of(contents: str, words: int) -> Iterator[str]:
    """Yield passages of at most ``words`` words, each with the title of ``contents`` in front."""
    title, _, text = contents.partition("\n")
    of_text = text.split()
    for start in range(0, max(1, len(of_text)), words):
        yield f"{title}\n{' '.join(of_text[start : start + words])}"


def split(collection: Path, output: Path, words: int) -> int:
    """Write the passages of ``collection`` with its queries and qrels; return their number."""
    output.mkdir(parents=True)
    parts = {}
    with (
        gzip.open(collection / "corpus.jsonl.gz", "rt", encoding="utf-8") as articles,
        gzip.open(output / "corpus.jsonl.gz", "wt", 1, encoding="utf-8") as passages,
    ):
        for article in map(json.loads, articles):
            found = list(passages_of(article["contents"], words))
            parts[article["id"]] = len(found)
            for number, contents in enumerate(found):
                passage = {"id": f"{article['id']}.{number}", "contents": contents}
                passages.write(json.dumps(passage, ensure_ascii=False) + "\n")
    for topics in collection.glob("queries.*.tsv"):
        shutil.copyfile(topics, output / topics.name)
    for qrels in collection.glob("qrels.*.txt"):
        shutil.copyfile(qrels, output / qrels.name.replace("qrels", "articles", 1))
        with open(output / qrels.name, "w") as judged:
            for query, _, article, grade in map(str.split, qrels.read_text().splitlines()):
                for number in range(parts[article]):
                    judged.write(f"{query} 0 {article}.{number} {grade}\n")
    return sum(parts.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--collection", type=Path, required=True, help="folder of articles")
    parser.add_argument("--output", type=Path, required=True, help="folder that is made")
    parser.add_argument("--words", type=int, default=48, help="words of a passage")
    given = parser.parse_args()
    print(f"{split(given.collection, given.output, given.words):,} passages")


if __name__ == "__main__":
    main()
