"""The configs are where options are defined: functions, commands and help are made of them."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tdv_lucene
from tdv_lucene import (
    CompareConfig,
    LearnConfig,
    PruneConfig,
    TdvError,
    compare_indexes,
    learn_from_index,
    prune_index,
)
from tdv_lucene.cli import _group
from tdv_lucene.cli._groups import leaves
from tdv_lucene.options import PYTHON_ONLY, Config, option
from tdv_lucene.paper.neural.rerank import rerank_run, train_ranker
from tdv_lucene.paper.reproduce import reproduce_paper

MOST_PARAMETERS = 8
COMMANDS = {" ".join(words): command for words, command in leaves(_group)}
# In one order in all processes: those of pytest-xdist must collect the same tests.
CONFIGS = [c for c in dict.fromkeys(each.config for each in COMMANDS.values()) if c is not Config]
FUNCTIONS = [
    *(getattr(tdv_lucene, name) for name in tdv_lucene.__all__ if name != "__version__"),
    train_ranker, rerank_run, reproduce_paper,
]  # fmt: skip
INPUTS = {
    "index", "indexes", "pruned", "values", "topics", "qrels", "output", "documents", "query",
    "name", "ranker", "run", "collection", "scheduler", "tune_topics", "tune_qrels",
}  # fmt: skip
"""What a command works on and where it writes: parameters of its function, or in one."""
PRINTED = {"as_json", "form"}
FEEDBACK = {"rm3", "rocchio"}
"""Two flags of the one option ``feedback``."""
OF_COMMAND = {"search": FEEDBACK, "update": {"watch"}}
"""What a command takes besides; ``--watch`` chooses the function."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_one_of_its_config(name: str) -> None:
    command = COMMANDS[name]
    typed = {param.name for param in command.params if isinstance(param, click.Option)}
    others = typed - command.config.OPTIONS.keys()
    assert others <= INPUTS | PRINTED | OF_COMMAND.get(name, set())
    known = {n for n, each in command.config.OPTIONS.items() if each.flag != PYTHON_ONLY}
    assert known <= typed, "the command hides some"


def test_a_public_function_has_few_parameters() -> None:
    named = {each.__name__: len(inspect.signature(each).parameters)
             for each in FUNCTIONS if inspect.isfunction(each)}  # fmt: skip
    assert {name: n for name, n in named.items() if n > MOST_PARAMETERS} == {}


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_python_s_help_tells_every_option(config: type[Config]) -> None:
    for name, each in config.OPTIONS.items():
        assert f"\n{name} : {each.kind}, default {each.default!r}\n    " in config.__doc__
        assert each.help[0].isupper() or ":" in each.help or name in ("k1", "b"), name


def test_a_new_option_is_one_field() -> None:
    """It is in the command, in Python's help, is checked, and may come with its bases'."""

    class Example(PruneConfig):
        """An example."""

        depth: int = option(3, "Set the depth.", least=1, remedy="try 3", group="Example")

    from tdv_lucene.cli._command import Command

    given = []
    command = Command("x", config=Example, callback=lambda as_json, **some: given.append(some))
    command.main(["--depth", "4", "--scale", "2"], standalone_mode=False)
    assert given == [{"depth": 4, "scale": "2"}]
    assert "depth : int, default 3\n    Set the depth." in Example.__doc__
    with pytest.raises(TdvError, match="depth must be at least 1, got 0: try 3"):
        Example(depth=0)
    with pytest.raises(KeyError, match="option"):

        class WithoutHelp(Config):
            depth: int = 3


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_a_config_does_not_change(config: type[Config]) -> None:
    made = config()
    assert made == config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, next(iter(config.OPTIONS)), None)


OUT_OF_RANGE = {
    LearnConfig: {"model": "bm24", "seed": -1, "topic_field": "text", "measure": "fun", "b": 1.5,
                  "mu": 0.0, "pool": -1, "memory": "much"},
    PruneConfig: {"reduction": 1.0, "max_loss": -0.1, "max_bytes": "large", "scale": 0,
                  "tf": "raw", "min_doc_freq": 0, "threads": 0},
    CompareConfig: {"model": "lm", "latency_budget_seconds": 0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "name", "value"),
    [(config, *each) for config, given in OUT_OF_RANGE.items() for each in given.items()],
)
def test_what_is_out_of_range_is_refused_by_name(config: type, name: str, value: object) -> None:
    with pytest.raises(TdvError, match=f"{name}\\b.* must be ") as refused:
        config(**{name: value})
    said = str(refused.value)
    assert f"{value:g}" in said if isinstance(value, float) else f"{value}" in said


@pytest.mark.parametrize(
    ("config", "options", "named"),
    [
        (PruneConfig, {"reduction": 0.1, "max_loss": 0.1}, "reduction and max_loss"),
        (CompareConfig, {"names": ("a", "a")}, "'a'"),
        (CompareConfig, {"measures": "goodness@5"}, "'goodness@5'"),
    ],
)
def test_what_does_not_go_together_is_named(config: type, options: dict, named: str) -> None:
    with pytest.raises(TdvError, match=named):
        config(**options)


def test_an_option_beside_a_config_is_refused(tmp_path: Path) -> None:
    """Which of the two were meant?"""
    for call in (
        lambda: learn_from_index("I", "T", "Q", tmp_path / "V", config=LearnConfig(), seed=3),
        lambda: prune_index("I", "V", tmp_path / "P", PruneConfig(reduction=0.3), scale=2),
        lambda: compare_indexes("I", "P", "T", "Q", tmp_path / "R", config=CompareConfig(), seed=3),
    ):
        with pytest.raises(TdvError, match="^(seed|scale) .*config"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_there_is_not_is_refused_with_a_remedy() -> None:
    with pytest.raises(TdvError, match="'reducton': did you mean 'reduction'"):
        prune_index("I", "V", "P", reducton=0.3)
    with pytest.raises(TdvError, match="'zzz': choose from measures, "):
        compare_indexes("I", "P", "T", "Q", "R", zzz=1)
    with pytest.raises(TdvError, match="config .*PruneConfig, got 0.45"):
        prune_index("I", "V", "P", 0.45)


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    """An error asks all commands for the names of their options."""
    code = (
        "import sys; from tdv_lucene.cli import _group; from tdv_lucene.cli._groups import leaves\n"
        "list(leaves(_group)); print([name for name in ('scipy', 'jax', 'pandas', 'rich') if name "
        "in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_choices_are_those_of_the_stages() -> None:
    """Configs are read by every --help, and do without the modules that know."""
    from tdv_lucene.evaluation.topic_formats import TOPIC_FIELDS

    assert LearnConfig.OPTIONS["topic_field"].choices == tuple(TOPIC_FIELDS)
