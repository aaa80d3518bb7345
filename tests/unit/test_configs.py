"""Configs define options: functions, commands, help, checks and errors are made of them."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from commands import COMMANDS

from tdv_lucene import (
    CompareConfig,
    LearnConfig,
    PruneConfig,
    TdvError,
    learn_from_index,
    prune_index,
)
from tdv_lucene.options import PYTHON_ONLY
from tdv_lucene.searching.config import SearchConfig

INPUTS = {
    "index", "indexes", "pruned", "values", "topics", "qrels", "output", "documents", "query",
    "name", "ranker", "run", "collection", "scheduler", "tune_topics", "tune_qrels",
}  # fmt: skip
"""What a command works on and where it writes: parameters of its function, or in one."""
OTHERS = {"as_json", "form", "rm3", "rocchio", "watch"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_one_of_its_config(name: str) -> None:
    command = COMMANDS[name]
    typed = {param.name for param in command.params if isinstance(param, click.Option)}
    assert typed - command.config.OPTIONS.keys() <= INPUTS | OTHERS
    known = {n for n, each in command.config.OPTIONS.items() if each.flag != PYTHON_ONLY}
    assert known <= typed, "the command hides some"


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (LearnConfig, {"seed": -1}),
        (LearnConfig, {"b": 1.5}),
        (LearnConfig, {"mu": 0.0}),
        (PruneConfig, {"reduction": 1.0}),
        (PruneConfig, {"max_bytes": "large"}),
        (PruneConfig, {"reduction": 0.1, "max_loss": 0.1}),
        (PruneConfig, {"scale": 0}),
        (PruneConfig, {"scale": "big"}),
        (PruneConfig, {"scale": float("nan")}),
        (PruneConfig, {"reduction": float("nan")}),
        (SearchConfig, {"hits": 2**40}),
        (SearchConfig, {"model": "bm26"}),
        (PruneConfig, {"threads": 0}),
        (CompareConfig, {"names": ("a", "a")}),
        (CompareConfig, {"measures": "goodness@5"}),
    ],
)
def test_what_is_out_of_range_is_refused(config: type, options: dict) -> None:
    said = {"names": "named 'a'", "measures": "measure: 'goodness@5'"}
    for name in options:
        with pytest.raises(TdvError, match=said.get(name, name)):
            config(**options)


def test_how_functions_take_options(tmp_path: Path) -> None:
    for said, call in (
        ("seed is given beside config", lambda: learn_from_index(
            "I", "T", "Q", tmp_path / "V", config=LearnConfig(), seed=3)),
        ("scale is given beside config", lambda: prune_index(
            "I", "V", tmp_path / "P", PruneConfig(reduction=0.3), scale=2)),
        ("no option 'reducton': did you mean 'reduction'", lambda: prune_index(
            "I", "V", "P", reducton=0.3)),
        ("no option 'zzz': choose from", lambda: prune_index("I", "V", "P", zzz=1)),
        ("config must be a PruneConfig, got 0.45", lambda: prune_index("I", "V", "P", 0.45)),
        # Programs pass on what they were not given: None and False ask for nothing.
        ("pass the queries to learn from", lambda: learn_from_index(
            "I", None, None, tmp_path / "V", vectors=None, no_judgements=False)),
        ("topics has no effect with no_judgements", lambda: learn_from_index(
            ".", "T", None, tmp_path / "V", LearnConfig(no_judgements=True))),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=said):
            call()
    assert list(tmp_path.iterdir()) == []


def test_choices_are_those_of_the_stages() -> None:
    """Configs are read by every --help, and do without the modules that know."""
    from tdv_lucene.evaluation.topic_formats import TOPIC_FIELDS

    assert LearnConfig.OPTIONS["topic_field"].choices == tuple(TOPIC_FIELDS)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("search --hits 0", "hits"),
        ("search --field ''", "--field"),
        ("compare --tune-qrels ' '", "--tune-qrels"),
        ("prune --max-loss .1 --reduction .2 --output new", "max_loss"),
        ("learn --output new", "qrels"),
        ("--heap much search", "heap"),
        ("embed --output here", "here exists"),
        ("prune --output '' --overwrite", "--output"),
    ],
)
def test_the_command_line_names_what_is_wrong(arguments, said, tmp_path, monkeypatch, capsys):
    from tdv_lucene.cli import main

    monkeypatch.chdir(tmp_path)
    for folder in ("here", "i"):
        (tmp_path / folder).mkdir()
    (tmp_path / "t.tsv").write_text("q1\ttext\n")
    needed = {
        "search": "--topics t.tsv --output new",
        "compare": "--pruned p --topics t.tsv --qrels q.txt --output new",
    }
    words = shlex.split(arguments)
    more = next((more for name, more in needed.items() if name in words), "")
    monkeypatch.setattr("sys.argv", ["tdv-lucene", *words, *more.split(), "--index", "i"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"here", "i", "t.tsv"}
