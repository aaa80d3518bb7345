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
from tdv_lucene.ranking import MODELS

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


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        (
            LearnConfig,
            {"model": "bm24"},
            f"model must be one of {', '.join(MODELS)}, got 'bm24'",
        ),
        (LearnConfig, {"seed": -1}, "seed must be from 0 to 4,294,967,295, got -1"),
        (
            LearnConfig,
            {"topic_field": "text"},
            "topic_field must be one of title, desc, narr, got 'text'",
        ),
        (LearnConfig, {"measure": "fun"}, "measure must be one of .*, got 'fun'"),
        (LearnConfig, {"b": 1.5}, "b must be a finite number .*, got 1.5"),
        (LearnConfig, {"mu": 0.0}, "mu must be a finite number .*, got 0"),
        (LearnConfig, {"pool": -1}, "pool must be at least 0, got -1: 0 learns from all"),
        (
            LearnConfig,
            {"memory": "much"},
            "memory must be a size above 0, such as 25MB",
        ),
        (
            PruneConfig,
            {"reduction": 1.0},
            "reduction must be a share of at least 0 and below 1, got 1: ",
        ),
        (
            PruneConfig,
            {"max_loss": -0.1},
            "max_loss must be a share of at least 0 and below 1, got -0.1",
        ),
        (PruneConfig, {"max_bytes": "large"}, "max_bytes must be a size above 0, such as 25MB"),
        (PruneConfig, {"reduction": 0.1, "max_loss": 0.1}, "reduction and max_loss exclude each"),
        (PruneConfig, {"scale": 0}, "scale must be 'auto' or a number above 0, got '0'"),
        (PruneConfig, {"tf": "raw"}, "tf must be one of scaled, original, got 'raw'"),
        (PruneConfig, {"min_doc_freq": 0}, "min_doc_freq must be at least 1, got 0: 1 keeps all"),
        (PruneConfig, {"threads": 0}, "threads must be from 1 to 1,024, got 0"),
        (CompareConfig, {"model": "lm"}, "model must be one of bm25, .*, got 'lm'"),
        (CompareConfig, {"names": ("a", "a")}, "two indexes are named 'a'"),
        (CompareConfig, {"measures": "goodness@5"}, "no such measure: 'goodness@5'"),
        (CompareConfig, {"latency_budget_seconds": 0}, "must be above 0 seconds"),
    ],
)
def test_what_is_out_of_range_is_refused(config: type, options: dict, message: str) -> None:
    with pytest.raises(TdvError, match=message):
        config(**options)


def test_an_option_beside_a_config_is_refused(tmp_path: Path) -> None:
    """Which of the two were meant?"""
    for call in (
        lambda: learn_from_index("I", "T", "Q", tmp_path / "V", config=LearnConfig(), seed=3),
        lambda: prune_index("I", "V", tmp_path / "P", PruneConfig(reduction=0.3), scale=2),
        lambda: compare_indexes("I", "P", "T", "Q", tmp_path / "R", config=CompareConfig(), seed=3),
    ):
        with pytest.raises(TdvError, match=r"(seed|scale) is given beside config: put it into the"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_there_is_not_is_refused_with_a_remedy() -> None:
    with pytest.raises(TdvError, match="no option 'reducton': did you mean 'reduction'"):
        prune_index("I", "V", "P", reducton=0.3)
    with pytest.raises(TdvError, match="no option 'zzz': choose from measures, "):
        compare_indexes("I", "P", "T", "Q", "R", zzz=1)
    with pytest.raises(TdvError, match="config must be a PruneConfig, got 0.45"):
        prune_index("I", "V", "P", 0.45)


def test_configs_are_public() -> None:
    assert {"LearnConfig", "PruneConfig", "CompareConfig"} <= {*tdv_lucene.__all__}


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
    from tdv_lucene.evaluation.topics import TOPIC_FIELDS

    assert LearnConfig.OPTIONS["topic_field"].choices == tuple(TOPIC_FIELDS)
