"""What is shipped: the jars their sources make, and every file the package needs."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tdv_lucene.jvm._start import LINES, hooks_jar

ROOT = Path(__file__).parent.parent
CLASS_FILES = 65  # of Java 21, as Anserini's own


def test_jars_were_built_from_these_sources() -> None:
    check = [sys.executable, str(ROOT / "java_hooks" / "build"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", LINES)
def test_jar_holds_only_our_classes_for_its_java(line: int) -> None:
    with zipfile.ZipFile(hooks_jar((line, 0, 0))) as jar:
        classes = [name for name in jar.namelist() if name.endswith(".class")]
        assert set(jar.namelist()) - set(classes) == {"META-INF/MANIFEST.MF"}
        assert all(name.startswith("tdvlucene/") for name in classes)
        majors = {int.from_bytes(jar.read(name)[6:8], "big") for name in classes}
    assert majors == {CLASS_FILES}


def test_both_lines_have_the_same_classes() -> None:
    names = [set(zipfile.ZipFile(hooks_jar((line, 0, 0))).namelist()) for line in LINES]
    assert names[0] == names[1]


def test_package_data_names_every_file_that_is_not_python() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    patterns = config["options.package_data"]["tdv_lucene"].split(",")
    package = ROOT / "tdv_lucene"
    shipped = {path for pattern in patterns for path in package.glob(pattern.strip())}
    others = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert {path for path in others if path.parent.name != "__pycache__"} == shipped
