"""The jar in the package is the one its sources make."""

from __future__ import annotations

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
