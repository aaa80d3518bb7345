"""Terms, ids and names of any characters: passed through whole, or refused with the remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc, write_index

from tdv_lucene.jvm import searcher

pytestmark = pytest.mark.jvm

TERMS = [b"\xff\xfe", b"new\nline", b"tab\tbed", b"nul\x00", "\U0001f98a".encode(), b"\xc3("]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory) -> tuple[Path, Path]:
    """An index with strange terms in each document, and one that has only half of them."""
    folder = tmp_path_factory.mktemp("strange")
    rng = np.random.default_rng(2)
    plain = [[f"t{t}" for t in rng.integers(0, 9, 12)] for _ in range(40)]
    full = [Doc(f"d{i}", [*tokens, *TERMS]) for i, tokens in enumerate(plain)]
    half = [Doc(f"d{i}", [*tokens, *TERMS[::2] * 3]) for i, tokens in enumerate(plain)]
    write_index(folder / "full", [full[:20], full[20:]])
    write_index(folder / "half", [half[:20], half[20:]])
    return folder / "full", folder / "half"


def test_every_term_comes_as_its_bytes(indexes) -> None:
    with searcher.every_pair(*indexes, "contents") as (found, counts):
        terms = list(found)
    assert terms == sorted(terms)
    assert {*TERMS} <= {*terms} and len(terms) == len(TERMS) + 9
    only_in_full = [term for term, row in zip(terms, counts) if row[0] and not row[2]]
    assert {*only_in_full} == {*TERMS[1::2]}


def test_counts_of_terms_with_newlines(indexes) -> None:
    asked = ["new\nline", "tab\tbed", "absent\n", ""]
    found = searcher.count_terms(indexes[0], "contents", asked)
    assert found == {"new\nline": (40, 40), "tab\tbed": (40, 40), "absent\n": (0, 0), "": (0, 0)}
