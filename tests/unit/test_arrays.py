"""Arrays of ours that are damaged."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.arrays import load_array
from tdv_lucene.embedding.term_vectors import TermVectors, latent_semantic_vectors
from tdv_lucene.errors import TdvError
from tdv_lucene.peers.peers import unlearned_values
from tdv_lucene.values.term_values import TermValues


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each kind, and what reads it."""
    matrix = make_collection()[0]
    folder = tmp_path_factory.mktemp("whole")
    unlearned_values(matrix, "ridf").save(folder / "values")
    latent_semantic_vectors(matrix, dimensions=4).save(folder / "vectors")
    return {folder / "values": TermValues.load, folder / "vectors": TermVectors.load}


@pytest.mark.parametrize("kept", [0, 5, 60, 200, -1])
def test_a_truncated_array_is_damage_and_no_interruption(folders, kept, tmp_path):
    """An empty one made click think of Ctrl-D: 'interrupted; nothing was written'."""
    tried = 0
    for folder, load in folders.items():
        for path in sorted(folder.glob("*.npy")):
            copy = tmp_path / f"{folder.name}-{path.stem}"
            shutil.copytree(folder, copy)
            (copy / path.name).write_bytes(path.read_bytes()[:kept])
            with pytest.raises(TdvError, match="damaged|truncated"):
                load(copy)
            tried += 1
    assert tried > 7


def test_whole_arrays_are_mapped(tmp_path):
    for array in (np.arange(7), np.zeros((0, 3), np.float32), np.ones((2, 3), order="F")):
        np.save(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(load_array(tmp_path / "a.npy"), array)
    assert isinstance(load_array(tmp_path / "a.npy"), np.memmap)
    with pytest.raises(TdvError, match="cannot read .*absent"):
        load_array(tmp_path / "absent.npy")
