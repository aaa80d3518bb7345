"""Vectors files run nothing, and a damaged one ends with a message."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model

from tdv_lucene.errors import TdvError
from tdv_lucene.matrix.vector_files import read_word_vectors

SENTENCES = [["pruning", "prunes", "index"], ["indexes", "pruning", "terms"]] * 20
WORDS = ["index", "term", "naïve"]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


class Trap:
    """What a pickle may hold: a command that is run when it is read."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self):
        return os.mkdir, (str(self.sign),)


@pytest.mark.parametrize("name", ["v.kv", "v", "v.bin", "v.vec", "v.npy", "v.npz"])
def test_a_pickle_is_not_run(name, tmp_path):
    sign = tmp_path / "ran"
    (tmp_path / name).write_bytes(pickle.dumps(Trap(sign)))
    with pytest.raises(TdvError):
        read_word_vectors(tmp_path / name)
    assert not sign.exists()


@pytest.mark.parametrize("part", ["words", "vectors"])
def test_no_pickle_hides_in_arrays(part, tmp_path):
    sign = tmp_path / "ran"
    arrays = {"words": np.array(WORDS), "vectors": VECTORS}
    arrays[part] = np.array([Trap(sign)], object)
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(TdvError, match="v.npz is not a whole vectors file"):
        read_word_vectors(tmp_path / "v.npz")
    assert not sign.exists()


def test_numpy_files_may_be_compressed_and_of_double_precision(tmp_path):
    np.savez_compressed(tmp_path / "c.npz", words=np.array(WORDS), vectors=VECTORS)
    np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=VECTORS.astype(np.float64))
    for name in ("c.npz", "v.npz"):
        found = read_word_vectors(tmp_path / name)
        assert list(found.words) == WORDS and found.vectors.dtype == np.float32
        np.testing.assert_array_equal(found.vectors, VECTORS)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"words": WORDS[:2], "vectors": VECTORS}, "2 words"),
        ({"words": WORDS, "vectors": VECTORS[0]}, r"float32\[2\]"),
        ({"words": WORDS, "vectors": VECTORS.astype(int)}, "floating"),
        ({"words": [1, 2, 3], "vectors": VECTORS}, "str"),
        ({"words": WORDS}, "holds words"),
        ({"words": WORDS, "vectors": VECTORS + np.inf}, "'index'"),
    ],
)
def test_numpy_files_of_another_layout_are_refused(arrays, message, tmp_path):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(TdvError, match=message):
        read_word_vectors(tmp_path / "v.npz")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A good file of each format."""
    folder = tmp_path_factory.mktemp("whole")
    model = FastText(
        SENTENCES, vector_size=6, min_count=1, epochs=1, seed=1, workers=1, bucket=20
    )  # fmt: skip
    save_facebook_model(model, str(folder / "fasttext.bin"))
    model.wv.save_word2vec_format(str(folder / "word2vec.bin"), binary=True)
    model.wv.save_word2vec_format(str(folder / "text.vec"))
    for name in ("word2vec.bin", "text.vec"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    words = np.array(model.wv.index_to_key)
    np.savez(folder / "v.npz", words=words, vectors=model.wv.vectors)
    return folder


FORMATS = ["fasttext.bin", "word2vec.bin", "text.vec", "word2vec.bin.gz", "text.vec.gz", "v.npz"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_each_format_is_read_and_a_truncated_one_refused(name, whole, tmp_path):
    """At every length, or at some hundred of a long file: refused, and never for ever."""
    content = (whole / name).read_bytes()
    read, expected = (read_word_vectors(whole / each) for each in (name, "v.npz"))
    assert list(read.words) == list(expected.words)
    assert (read.of_unseen is None) == (name != "fasttext.bin")
    np.testing.assert_allclose(read.vectors, expected.vectors, atol=1e-5)
    last = len(content.rstrip(b"\n 0123456789.e-"))  # within its last number, text is still text
    end = last if name == "text.vec" else len(content)
    if name == "fasttext.bin":  # nothing reads its last matrix, of a row a word
        end -= struct.calcsize("<?2q") + 6 * 4 * len(read_word_vectors(whole / name).words)
    for length in range(0, end, max(1, end // 150)):
        (tmp_path / name).write_bytes(content[:length])
        with pytest.raises(TdvError, match=f"{name} is not a whole vectors file"):
            read_word_vectors(tmp_path / name)


@pytest.mark.parametrize("count", [-1, 0, 2**31 - 1])
@pytest.mark.parametrize("place", ["entries", "words", "pruned", "rows", "columns"])
def test_fasttext_counts_that_cannot_be_are_not_believed(place, count, whole, tmp_path):
    content = bytearray((whole / "fasttext.bin").read_bytes())
    begin = struct.calcsize("<2i12id")
    words = struct.unpack_from("<i", content, begin)[0]
    at = begin + struct.calcsize("<3i2q")
    for _ in range(words):
        at = content.index(b"\0", at) + 10
    form, where = {
        "entries": ("<i", begin), "words": ("<i", begin + 4), "pruned": ("<q", begin + 20),
        "rows": ("<q", at + 1), "columns": ("<q", at + 9),
    }[place]  # fmt: skip
    struct.pack_into(form, content, where, count)
    (tmp_path / "v.bin").write_bytes(content)
    if place == "pruned" and count <= 0:  # says that nothing is pruned
        assert read_word_vectors(tmp_path / "v.bin").words
        return
    with pytest.raises(TdvError, match="is not a whole vectors file"):
        read_word_vectors(tmp_path / "v.bin")


@pytest.mark.parametrize("name", ["v.bin", "v.vec", "v.vec.gz"])
@pytest.mark.parametrize("first", ["99999999999 300", "3 99999999999", "-1 300", "3 0"])
def test_word2vec_counts_that_cannot_be_are_not_believed(name, first, tmp_path):
    content = f"{first}\nindex 1 2\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(TdvError, match="is not a whole vectors file"):
        read_word_vectors(tmp_path / name)


def test_an_array_larger_than_its_file_is_not_believed(tmp_path):
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        for name in ("words", "vectors"):
            with archive.open(f"{name}.npy", "w") as file:
                header = {"descr": "<f4", "fortran_order": False, "shape": (10**12, 300)}
                np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(TdvError, match="is not a whole vectors file"):
        read_word_vectors(tmp_path / "v.npz")


def test_what_is_no_vectors_file_is_refused(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    for name in ("a.vec", "a.bin"):
        (tmp_path / name).write_text("{not vectors}\n")
    for name, said in (
        ("a.vec", "is not a whole vectors file"),
        ("a.bin", "is not a whole vectors file"),
        ("absent.vec", "no such vectors file"), ("v.npy", "in none of the formats"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=said):
            read_word_vectors(tmp_path / name)
