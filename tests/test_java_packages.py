"""Java's packages are the stages: each uses ``common`` and earlier stages, and shows no more of
itself than others need."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "java_hooks" / "src" / "tdvlucene"
STAGES = ["common", "inspect", "extract", "rules", "prune", "verify", "search"]
MOST_CLASSES = 30
FILES = {path: path.read_text() for path in sorted(SOURCES.rglob("*.java"))}


def test_the_packages_are_the_stages() -> None:
    assert {path.parent.relative_to(SOURCES).as_posix() for path in FILES} == {*STAGES}


def test_no_package_is_too_large() -> None:
    sizes = Counter(path.parent.name for path in FILES)
    assert {name: size for name, size in sizes.items() if size > MOST_CLASSES} == {}


def test_no_package_uses_a_later_one() -> None:
    wrong = []
    for path, text in FILES.items():
        here = STAGES.index(path.parent.name)
        used = re.findall(r"^import (?:static )?tdvlucene\.(\w+)\.", text, re.MULTILINE)
        wrong += [f"{path.stem} uses {name}" for name in used if STAGES.index(name) > here]
    assert wrong == []


def test_public_classes_are_used_outside_their_package() -> None:
    python = "".join(
        path.read_text()
        for folder in ("tdv_lucene", "tests", "scripts")
        for path in (ROOT / folder).rglob("*.py")
    )
    unused = []
    for path, text in FILES.items():
        public = re.search(r"^public .*?(?:class|interface|enum) (\w+)", text, re.MULTILINE)
        if not public:
            continue
        name = f"tdvlucene.{path.parent.name}.{public[1]}"
        imported = any(f"import {name};" in other for other in FILES.values())
        if not (imported or re.search(rf"{name}\b|{name.replace('.', '/')}\b", python)):
            unused.append(name)
    assert unused == []
