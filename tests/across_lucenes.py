"""Steps on indexes in a process of their own, which can have another Lucene than the tests.

Usage: python tests/across_lucenes.py STEPS: a JSON list of ["write", INDEX], ["identify", INDEX]
and ["prune", INDEX, OUTPUT]. Prints a line of JSON for each; ``refused`` has why it was refused.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from lucene_indexes import write_index
from lucene_reading import check_index
from pruning_inputs import values_of
from testing_jar import dump_index
from tiny_collection import tiny_segments

from tdv_lucene import TdvError
from tdv_lucene.index.index import Index
from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index


def identify(index: str) -> dict:
    with Index.open(index, mixed=True) as opened:
        return opened.identity


def write(index: str) -> dict:
    write_index(Path(index), tiny_segments())
    return identify(index)


def prune(index: str, output: str) -> dict:
    matrix = extract_matrix(index, f"{output}-matrix")
    report = prune_index(index, values_of(matrix), output, reduction=0.3)
    check_index(output)
    return {
        "report": report,
        "codecs": sorted({segment["codec"] for segment in inspect_index(output)["segments"]}),
        "same_rest": dump_index(Path(output))["documents"] == dump_index(Path(index))["documents"],
    }


def main() -> None:
    warned: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warned.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    for step, *folders in json.loads(sys.argv[1]):
        try:
            result = {"write": write, "identify": identify, "prune": prune}[step](*folders)
        except TdvError as error:
            result = {"refused": str(error)}
        print(json.dumps({**result, "warned": warned}))
        warned.clear()


if __name__ == "__main__":
    main()
