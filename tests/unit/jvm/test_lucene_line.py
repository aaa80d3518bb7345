"""Which Lucene a jar holds and which hooks it gets; starts no JVM."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path
from urllib.error import URLError

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm import named
from tdv_lucene.jvm._start import LINES, hooks_jar, lucene_version
from tdv_lucene.jvm.named import importing_pyserini

VERSION_CLASS = "org/apache/lucene/util/Version.class"


def _jar(path: Path, *constants: str) -> Path:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr(VERSION_CLASS, b"\xca\xfe\xba\xbe\x00".join(map(str.encode, constants)))
    return path


@pytest.mark.parametrize(
    ("constants", "version"),
    [
        (["LUCENE_8_11_2", "LUCENE_9_9_1", "LUCENE_9_9_0", "LATEST"], (9, 9, 1)),
        (["LUCENE_9_12_3", "LUCENE_10_0_0", "LUCENE_10_4_0"], (10, 4, 0)),
    ],
)
def test_the_newest_constant_is_the_version(constants, version, tmp_path: Path) -> None:
    assert lucene_version(_jar(tmp_path / "x.jar", *constants)) == version


def test_jar_without_lucene(tmp_path: Path) -> None:
    (tmp_path / "text.jar").write_text("no jar")
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as jar:
        jar.writestr("x", "y")
    (tmp_path / "empty.jar").touch()
    _jar(tmp_path / "unnamed.jar", "LATEST")
    for name in ("text.jar", "other.jar", "missing.jar", "empty.jar", "unnamed.jar"):
        with pytest.raises(TdvError, match=f"{name} is not a jar with Lucene.*reinstall pyserini"):
            lucene_version(tmp_path / name)


def test_each_line_has_its_hooks_and_a_newer_one_the_last(caplog) -> None:
    for line in LINES:
        assert hooks_jar((line, 1, 0)).name == f"tdv-lucene-hooks-lucene{line}.jar"
        assert hooks_jar((line, 1, 0)).exists()
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        assert hooks_jar((11, 2, 0)) == hooks_jar((LINES[-1], 0, 0))
    assert "11.2.0" in caplog.text and "pip install 'pyserini>=1.6,<3'" in caplog.text
    with pytest.raises(TdvError, match="8.11.2"):
        hooks_jar((8, 11, 2))


def test_import_that_needs_the_network_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdv_lucene.jvm.named.start", lambda: None)
    with pytest.raises(TdvError, match=r"Pyserini \S+ fetches .* \(no route\): connect, or"):
        with importing_pyserini():
            raise URLError("no route")


def _raising(error: Exception):
    def get_topics(name: str) -> dict:
        raise error

    return get_topics


def test_topics_by_name_as_pyserini_2_gives_them() -> None:
    found = named._read_pyserini_2("x", lambda name: {7: {"title": name}, "q": {"title": "b"}})
    assert found == {"7": {"title": "x"}, "q": {"title": "b"}}
    with pytest.raises(TdvError, match="no such topics: 'x' is neither a file nor a name"):
        named._read_pyserini_2("x", _raising(ValueError("Topic x Not Found")))
    with pytest.raises(TdvError, match="'x' are not stored on this machine .*connect to the netw"):
        named._read_pyserini_2("x", _raising(URLError("no route")))
