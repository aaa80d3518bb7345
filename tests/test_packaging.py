"""What is shipped: the jar its sources make, and every file the package needs."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
JAR = ROOT / "tdv_lucene" / "resources" / "tdv-lucene-hooks.jar"


def test_jar_was_built_from_these_sources() -> None:
    check = [sys.executable, str(ROOT / "java_hooks" / "build"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_jar_holds_only_our_classes_for_java_11() -> None:
    with zipfile.ZipFile(JAR) as jar:
        classes = [name for name in jar.namelist() if name.endswith(".class")]
        assert set(jar.namelist()) - set(classes) == {"META-INF/MANIFEST.MF"}
        assert all(name.startswith("tdvlucene/") for name in classes)
        majors = {int.from_bytes(jar.read(name)[6:8], "big") for name in classes}
    assert majors == {55}


def test_package_data_names_every_file_that_is_not_python() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    patterns = config["options.package_data"]["tdv_lucene"].split(",")
    package = ROOT / "tdv_lucene"
    shipped = {path for pattern in patterns for path in package.glob(pattern.strip())}
    others = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert {path for path in others if path.parent.name != "__pycache__"} == shipped
