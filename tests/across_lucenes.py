"""One step on an index in a process of its own, so that each step can have another Lucene.

Usage: python tests/across_lucenes.py write INDEX | identify INDEX | prune INDEX OUTPUT
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from integration.test_prune import _values
from lucene_indexes import write_index
from lucene_reading import check_index, read_rest
from tiny_collection import tiny_segments

from tdv_lucene import TdvError
from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.jvm.index import identify
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index


def write(index: str) -> dict:
    write_index(Path(index), tiny_segments())
    return identify(index)


def prune(index: str, output: str) -> dict:
    matrix = extract_matrix(index, f"{output}-matrix")
    report = prune_index(index, _values(matrix), output, reduction=0.3)
    check_index(output)
    return {
        "report": report,
        "codecs": sorted({segment["codec"] for segment in inspect_index(output)["segments"]}),
        "same_rest": read_rest(Path(output)) == read_rest(Path(index)),
    }


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    step, *folders = sys.argv[1:]
    try:
        result = {"write": write, "identify": identify, "prune": prune}[step](*folders)
    except TdvError as error:
        sys.exit(str(error))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
