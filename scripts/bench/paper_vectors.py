#!/usr/bin/env python3
"""Train word vectors on one collection's text, for the terms of others.

Small collections are too small to train on. fastText of 100 dimensions on plain lower-case words,
as for the vectors of the paper; ``paper reproduce --vectors FILE`` matches them to terms.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import tempfile
from pathlib import Path

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="corpus.jsonl.gz, with 'contents'")
    parser.add_argument("--output", required=True, help="write fastText's .bin here")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="read every nth document")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "words.txt"
        with gzip.open(given.corpus, "rt", encoding="utf-8") as lines, text.open("w") as words:
            for line in itertools.islice(lines, 0, None, given.every):
                words.write(" ".join(_WORD.findall(json.loads(line)["contents"].lower())) + "\n")
        model = FastText(
            corpus_file=str(text), vector_size=100, sg=1, min_count=5, epochs=given.epochs,
            bucket=500_000, seed=given.seed, workers=1,
        )  # fmt: skip
    save_facebook_model(model, given.output)


if __name__ == "__main__":
    main()
