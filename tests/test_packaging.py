"""What is shipped: the jars their sources make, and every file the package needs."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

from tdv_lucene.jvm._start import LINES, hooks_jar

ROOT = Path(__file__).parent.parent
CLASS_FILES = 65  # of Java 21, as Anserini's own


def test_jars_were_built_from_these_sources() -> None:
    check = [sys.executable, str(ROOT / "java_hooks" / "build"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_jars_hold_the_same_classes_and_only_ours_for_their_java() -> None:
    held = []
    for line in LINES:
        with zipfile.ZipFile(hooks_jar((line, 0, 0))) as jar:
            held.append(set(jar.namelist()))
            classes = [name for name in held[-1] if name.startswith("tdvlucene/")]
            assert {int.from_bytes(jar.read(name)[6:8], "big") for name in classes} == {CLASS_FILES}
        assert held[-1] - {*classes} == {"META-INF/MANIFEST.MF"}
    assert held[0] == held[1]


def test_package_data_names_every_file_that_is_not_python() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    patterns = config["options.package_data"]["tdv_lucene"].split(",")
    package = ROOT / "tdv_lucene"
    shipped = {path for pattern in patterns for path in package.glob(pattern.strip())}
    others = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert {path for path in others if path.parent.name != "__pycache__"} == shipped
