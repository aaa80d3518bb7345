#!/usr/bin/env python3
"""Makes many collections of one: the first as it is, of the others half of the words drawn anew.

    scripts/bench/more_passages.py --collection FOLDER --output DIR --number 10

FOLDER has ``corpus.jsonl.gz`` whose ``contents`` are a title, a line end and a text. DIR/0, DIR/1
and so on are written, each a JsonCollection. A word drawn anew is any of the collection's, as often
as it occurs there; titles change places. An id of DIR/3 ends in ``#3``.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

DRAWN = 0.5
"""The share of the words that is drawn anew."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--number", type=int, default=10)
    args = parser.parse_args()
    names, titles, texts = [], [], []
    numbers: dict[str, int] = {}
    with gzip.open(args.collection / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            title, _, text = record["contents"].partition("\n")
            names.append(record["id"])
            titles.append(title)
            texts.append([numbers.setdefault(word, len(numbers)) for word in text.split()])
    words, ends = np.array(list(numbers), object), np.cumsum([len(text) for text in texts])
    first = np.concatenate([np.array(text, np.int32) for text in texts])
    for number in range(args.number):
        rng, drawn, order = np.random.default_rng(number), first.copy(), np.arange(len(names))
        if number:
            anew = rng.random(len(drawn)) < DRAWN
            drawn[anew] = first[rng.integers(0, len(first), int(anew.sum()))]
            order = rng.permutation(order)
        folder, end = args.output / f"{number}", f"#{number}" if number else ""
        folder.mkdir(parents=True)
        with open(folder / "documents.jsonl", "w", encoding="utf-8") as out:
            for at, text in enumerate(np.split(words[drawn], ends[:-1])):
                contents = f"{titles[order[at]]}\n{' '.join(text)}"
                record = {"id": names[at] + end, "contents": contents}
                out.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
