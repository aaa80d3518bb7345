"""The share of a folder that is in the page cache."""

from __future__ import annotations

import os

import pytest

from tdv_lucene.timing.page_cache import resident_share


def test_what_was_read_is_resident_until_evicted(tmp_path):
    (tmp_path / "empty").touch()
    assert resident_share(tmp_path) is None, "nothing to be resident"
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())
        assert resident_share(tmp_path) == 1.0
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    evicted = resident_share(tmp_path)
    if evicted == 1.0:
        pytest.skip("this file system keeps what it is told to evict")
    assert evicted < 0.1
    (tmp_path / "file").read_bytes()
    assert resident_share(tmp_path) == 1.0


def test_files_of_others_are_not_asked_for(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr("tdv_lucene.timing.page_cache._may_ask", lambda file: False)
    assert resident_share(tmp_path) is None
