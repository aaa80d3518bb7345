"""A rule that looks at each posting, written in Python: the rewriter must pass it the truth."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from fuzz_check import check_occurrences
from lucene_indexes import Doc
from lucene_reading import check_index
from pruning_inputs import field_plan
from python_rules import make_rule
from testing_jar import dump_index

from tdv_lucene.jvm import java_class, run_job
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.jvm.rewriter import open_table
from tdv_lucene.matrix.extract import extract_matrix

pytestmark = pytest.mark.jvm


def _decide(term: int, tf: int, first: int, length: int) -> int:
    """A new frequency that depends on everything; 0 for a third of the postings."""
    return (term * 5 + tf * 7 + first * 4 + length) % 3


@pytest.mark.parametrize("keeps_frequencies", [False, True])
def test_rule_sees_and_decides_each_posting(keeps_frequencies, make_index, tmp_path: Path) -> None:
    rng = random.Random(5)
    docs = [
        Doc(f"d{i}", rng.choices("abcdefgh", k=rng.randint(0, 12)), deleted=i % 5 == 2)
        for i in range(18)
    ]
    source = make_index([docs[:7], docs[7:]], options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp")
    matrix = extract_matrix(source, tmp_path / "matrix")
    pruned = tmp_path / "pruned"
    pruned.mkdir()

    def freq(term: int, tf: int, first: int, length: int) -> int:
        new = _decide(term, tf, first, length)
        return min(new, 1) * tf if keeps_frequencies else new

    rule = make_rule(
        lambda term: term % 4 == 3, freq, keeps_frequencies=keeps_frequencies, reads=True
    )
    with open_table(field_plan(matrix.vocabulary, 1, None)) as table:
        job = java_class("tdvlucene.prune.PruneJob")(java_index(source), str(pruned), 2)
        job.addField("contents", table, rule)
        run_job(job)

    check_index(pruned)
    found = extract_matrix(pruned, tmp_path / "found")
    assert _postings(found) == _expected(matrix, keeps_frequencies)
    before, after = dump_index(source), dump_index(pruned)
    check_occurrences("contents", before, after, keeps_frequencies)


def _postings(matrix) -> dict[tuple[bytes, int], int]:
    return _by_posting(matrix, matrix.data)


def _firsts(matrix) -> dict[tuple[bytes, int], int]:
    return _by_posting(matrix, matrix.first_positions)


def _by_posting(matrix, data: np.ndarray) -> dict[tuple[bytes, int], int]:
    rows = np.repeat(np.arange(len(matrix.vocabulary)), np.diff(matrix.indptr))
    terms = [matrix.vocabulary.terms[row] for row in rows]
    return dict(zip(zip(terms, matrix.indices.tolist()), data.tolist()))


def _expected(matrix, keeps_frequencies: bool) -> dict[tuple[bytes, int], int]:
    expected, firsts = {}, _firsts(matrix)
    for (text, doc), tf in _postings(matrix).items():
        term = int(matrix.vocabulary.find([text])[0])
        length, first = int(matrix.doc_len[doc]), firsts[text, doc]
        new = _decide(term, tf, first, length) if term % 4 != 3 else 0
        if new:
            expected[text, doc] = tf if keeps_frequencies else new
    return expected
