"""Topics made from the index itself: what they ask for, and that they do not find themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from small_problem import make_collection, make_matrix

from tdv_lucene.cli.learn import command
from tdv_lucene.errors import TdvError
from tdv_lucene.learning.from_index import _of_whole_matrix, learn_from_index
from tdv_lucene.learning.learn import learn_term_values
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.learning.self_supervised import topics_of_pairs, topics_of_titles


def dense_of(matrix) -> np.ndarray:
    dense = np.zeros(matrix.shape, int)
    for term in range(matrix.shape[0]):
        span = slice(*matrix.indptr[term : term + 2])
        dense[term, matrix.indices[span]] = matrix.data[span]
    return dense


def check_counts(matrix) -> None:
    dense = dense_of(matrix)
    np.testing.assert_array_equal(matrix.doc_freq, (dense > 0).sum(axis=1))
    np.testing.assert_array_equal(matrix.total_term_freq, dense.sum(axis=1))
    np.testing.assert_array_equal(matrix.doc_len, dense.sum(axis=0))
    assert (matrix.doc_freq > 0).all() and (matrix.data > 0).all()


def test_a_title_is_taken_out_of_its_own_document_only():
    before = np.array([[3, 1, 1], [2, 0, 1], [0, 2, 2]])
    made = topics_of_titles(
        make_matrix(before), [["t000", "t001"], [], ["t002", "t002", "unknown"]], number=9, seed=0
    )
    assert made.topics == {"title-d0": ["t000", "t001"]}  # of the other's title nothing is left
    assert made.qrels == {"title-d0": {"d0": 1}}
    np.testing.assert_array_equal(dense_of(made.matrix), [[2, 1, 1], [1, 0, 1], [0, 2, 2]])
    check_counts(made.matrix)


def test_postings_that_the_title_alone_made_go_but_never_a_term():
    before = np.array([[1, 1], [2, 0], [1, 0]])
    titles = [["t000", "t001", "t002"], []]
    made = topics_of_titles(make_matrix(before), titles, number=9, seed=0)
    np.testing.assert_array_equal(dense_of(made.matrix), [[0, 1], [1, 0], [1, 0]])
    check_counts(made.matrix)


def test_titles_must_be_of_all_documents():
    with pytest.raises(TdvError, match="stores 1 texts and has 2 documents"):
        topics_of_titles(make_matrix(np.ones((2, 2), int)), [["t000"]], number=9, seed=0)


@pytest.fixture(scope="module")
def paired():
    """Terms 0 and 1 always come together and often twice; 2 is everywhere; 3 is by itself."""
    rng = np.random.default_rng(0)
    dense = np.zeros((4, 400), int)
    dense[0, :12] = dense[1, :12] = rng.integers(1, 4, 12)
    dense[0, 12:15] = 2
    dense[2] = 2
    dense[3, 200:210] = 2
    return make_matrix(dense)


def test_pairs_ask_for_the_documents_that_repeat_both(paired):
    made = topics_of_pairs(paired, number=50, seed=0)
    assert list(made.topics.values()) == [["t000", "t001"]]
    before, after = dense_of(paired), dense_of(made.matrix)
    relevant = [int(doc[1:]) for doc in made.qrels["pair-0-1"]]
    assert relevant == np.flatnonzero((before[0] >= 2) & (before[1] >= 2)).tolist()
    assert (after[:2, relevant] <= before[:2, relevant]).all()
    assert (after[2:] == before[2:]).all()
    check_counts(made.matrix)


def test_the_matrix_is_read_and_written_in_blocks(paired, monkeypatch):
    """Not held: its arrays are files, whatever the size of a block."""
    matrix, _, _ = make_collection()
    titles = [[f"t{term:03d}" for term in range(60)]] * matrix.shape[1]

    def make():
        return (
            topics_of_titles(matrix, titles, number=30, seed=0),
            topics_of_pairs(paired, number=50, seed=0),
        )

    at_once = make()
    monkeypatch.setattr("tdv_lucene.matrix.blocks._BLOCK", 7)
    for whole, made in zip(at_once, make()):
        assert made.topics == whole.topics and made.qrels == whole.qrels and made.topics
        for name in ("indptr", "indices", "data", "doc_freq", "total_term_freq", "doc_len"):
            np.testing.assert_array_equal(getattr(made.matrix, name), getattr(whole.matrix, name))
        assert isinstance(made.matrix.data, np.memmap) and isinstance(
            made.matrix.indices, np.memmap
        )
        check_counts(made.matrix)


def test_the_same_seed_makes_the_same_topics(paired):
    first, second = (topics_of_pairs(paired, number=50, seed=3) for _ in range(2))
    assert first.topics == second.topics and first.qrels == second.qrels


def test_values_have_the_counts_of_the_whole_index_and_say_how_they_were_made():
    matrix, _, _ = make_collection()
    titles = [[] for _ in range(matrix.shape[1])]
    for doc in range(40):
        held = [t for t in range(60) if doc in matrix.indices[slice(*matrix.indptr[t : t + 2])]]
        titles[doc] = [f"t{t:03d}" for t in held[:3]]
    made = topics_of_titles(matrix, titles, number=30, seed=0)
    recipe = DefaultRecipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.3))
    learned = learn_term_values(made.matrix, made.topics, made.qrels, recipe=recipe)
    values = _of_whole_matrix(learned, matrix, made.describe())
    np.testing.assert_array_equal(values.doc_freq, matrix.doc_freq)
    assert values.doc_freq.sum() > learned.doc_freq.sum()
    assert values.manifest["self_supervised"] == {"method": "titles", "topics": len(made.topics)}
    assert replace(values).summary()["self_supervised"]["method"] == "titles"


def test_judgements_or_self_supervision(tmp_path):
    with pytest.raises(TdvError, match="leave out topics"):
        learn_from_index("I", "T", "Q", tmp_path / "V", self_supervised="auto")
    for topics, qrels in ((None, None), ("T", None)):
        with pytest.raises(TdvError, match="needs topics and qrels"):
            learn_from_index("I", topics, qrels, tmp_path / "V")


def test_the_flag_needs_no_value(tmp_path):
    done = CliRunner().invoke(
        command, ["--index", str(tmp_path), "--output", "V", "--self-supervised", "--topics", "T"]
    )
    assert isinstance(done.exception, TdvError) and "leave out" in str(done.exception)
