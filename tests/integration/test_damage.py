"""Wrong bytes in an index, and codecs nobody knows: told with their place, never a Java stack."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm import rewriter
from tdv_lucene.jvm.index import identify
from tdv_lucene.matrix.extract import extract_matrix

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lucene_indexes import write_index

    words = [f"word{i:03d}" for i in range(40)]
    docs = [Doc(f"d{i}", [words[(i * j) % 40] for j in range(1, 9)]) for i in range(300)]
    return write_index(tmp_path_factory.mktemp("damage") / "index", [docs])


def _flip(source: Path, to: Path, suffix: str, place: float) -> Path:
    """A copy with a byte inverted in the file of ``suffix``, at this share of its length."""
    shutil.copytree(source, to)
    path = next(to.glob(f"*{suffix}"))
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 0xFF
    path.write_bytes(content)
    return to


@pytest.mark.parametrize("suffix", [".doc", ".tim"])
def test_wrong_byte_is_told_with_its_place(suffix: str, source: Path, tmp_path: Path) -> None:
    vocabulary = extract_matrix(source, tmp_path / "matrix").vocabulary
    ones = rewriter.FieldValues(vocabulary, np.ones(len(vocabulary), np.float32), 1.0)
    named = 0
    for step in range(16):
        damaged = _flip(source, tmp_path / f"damaged-{step}", suffix, 0.02 + step * 0.06)
        output = tmp_path / f"pruned-{step}"
        output.mkdir()
        with pytest.raises(TdvError) as told:
            rewriter.rewrite_index(damaged, output, [ones], threads=1, user_data={})
        message = str(told.value)
        # a term misread is first a term without a value
        assert ("damaged" in message and suffix in message) or "another vocabulary" in message
        named += "segment _0, field 'contents', near the term 'word" in message
        try:
            extract_matrix(damaged, tmp_path / f"matrix-{step}")
        except TdvError as error:
            assert "damaged" in str(error)
    # what is wrong with the dictionary itself shows between terms, and is told by its file
    assert named or suffix == ".tim", "no error named the segment, the field and the term"


def test_unknown_codec_is_named(source: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(source, tmp_path / "copy")
    segments = next(copy.glob("segments_*"))
    content = segments.read_bytes()
    codec = next(name for name in (b"Lucene104", b"Lucene99") if name in content)
    content = content.replace(codec, b"Private" + codec[-(len(codec) - 7) :])[:-8]
    segments.write_bytes(content + zlib.crc32(content).to_bytes(8, "big"))
    with pytest.raises(TdvError, match=r"cannot be read by Lucene.*'Private\d*'"):
        identify(copy)
