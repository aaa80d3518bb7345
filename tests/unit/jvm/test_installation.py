"""What ``doctor`` tells of an installation, whole or not."""

from __future__ import annotations

import json
from importlib import metadata

import pytest
from command_line import run_apart

from tdv_lucene.jvm import installation

PARTS = ["tdv-lucene", "python", "java", "pyserini", "lucene", "hooks jar", "heap", "java starts",
         "numpy", "Pyserini's searcher"]  # fmt: skip


def doctor(*words, **environment):
    done = run_apart("-m", "tdv_lucene", "doctor", *words, **environment)
    return done.returncode, done.stdout


@pytest.mark.jvm
def test_nothing_is_wrong_where_the_tests_run():
    code, shown = doctor("--json")
    told = json.loads(shown)
    problems = {
        finding["name"]: finding["problem"] for finding in told["findings"] if finding["problem"]
    }
    assert (code, told["well"], problems) == (0, True, {})
    values = {finding["name"]: finding["value"] for finding in told["findings"]}
    assert set(PARTS) <= values.keys()
    assert values["numpy"] == metadata.version("numpy")
    assert f"Lucene {values['lucene']}" in values["java starts"]


@pytest.mark.jvm
def test_what_is_wrong_is_told_with_the_remedy(tmp_path):
    code, shown = doctor(ANSERINI_CLASSPATH=str(tmp_path), TDV_LUCENE_HEAP="much")
    assert code == 1
    lines = shown.splitlines()
    for name in ("pyserini", "lucene", "hooks jar", "heap", "java starts"):
        assert any(line.startswith(f"{name} ") and line.endswith("<- wrong") for line in lines)
    assert "reinstall pyserini, or mend ANSERINI_CLASSPATH" in shown
    assert "heap: TDV_LUCENE_HEAP=much is not a size" in shown
    assert "Nothing is wrong" not in shown


@pytest.mark.jvm
def test_a_java_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    code, shown = doctor()
    assert code == 1 and "java starts: Java did not start" in shown


def found(name):
    (finding,) = [finding for finding in installation.examine() if finding.name == name]
    return finding


@pytest.fixture
def no_jvm(monkeypatch):
    monkeypatch.setattr(installation, "_started", lambda: "started")


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize(
    "requires, name, problem",
    [
        (["no-such-package>=2"], "no-such-package", "pip install 'no-such-package>=2'"),
        (["numpy<1"], "numpy", "is not what is needed: pip install 'numpy<1'"),
        (["pyserini>99"], "pyserini", "pip install 'pyserini>99'"),
    ],
)
def test_packages(monkeypatch, requires, name, problem):
    monkeypatch.setattr(metadata, "requires", lambda one: requires)
    (finding,) = [one for one in installation.examine() if one.name == name and one.problem]
    assert problem in finding.problem


def _absent(name: str) -> list[str]:
    raise metadata.PackageNotFoundError(name)


REQUIRED = ["no-such>1; extra == 'test'", "numpy"]


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize(
    ("place", "attribute", "told", "name", "problem"),
    [
        (metadata, "requires", _absent, "packages", "pip install it"),
        (metadata, "requires", lambda one: REQUIRED, "numpy", None),
    ],
)  # fmt: skip
def test_each_problem_has_its_remedy(monkeypatch, place, attribute, told, name, problem):
    monkeypatch.setattr(place, attribute, told)
    given = found(name).problem
    assert problem in given if problem else not given
