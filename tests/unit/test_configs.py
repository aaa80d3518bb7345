"""Configs define options: functions, commands, help, checks and errors are made of them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from command_line import leaves

from tdv_lucene import (
    CompareConfig,
    LearnConfig,
    PruneConfig,
    TdvError,
    learn_from_index,
    prune_index,
)
from tdv_lucene.cli import _group
from tdv_lucene.cli.common import Command
from tdv_lucene.options import PYTHON_ONLY, Config, Effect, option
from tdv_lucene.searching.config import SearchConfig

COMMANDS = {" ".join(words): command for words, command in leaves(_group)}
# In one order in all processes: those of pytest-xdist must collect the same tests.
CONFIGS = [c for c in dict.fromkeys(each.config for each in COMMANDS.values()) if c is not Config]
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


def test_a_new_option_is_one_field() -> None:
    """It is in the command, in Python's help, is checked, and may come with its bases'."""

    @dataclass(frozen=True, kw_only=True)
    class Example(PruneConfig):
        """An example."""

        depth: int = option(3, "Set the depth.", least=1, remedy="try 3", group="Example")

    given = []
    command = Command("x", config=Example, callback=lambda as_json, **some: given.append(some))
    command.main(["--depth", "4", "--scale", "2"], standalone_mode=False)
    assert given == [{"depth": 4, "scale": "2"}]
    with pytest.raises(TdvError, match="depth must be at least 1, got 0: try 3"):
        Example(depth=0)


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (LearnConfig, {"model": "bm24"}),
        (LearnConfig, {"seed": -1}),
        (LearnConfig, {"b": 1.5}),
        (LearnConfig, {"mu": 0.0}),
        (LearnConfig, {"pool": -1}),
        (PruneConfig, {"reduction": 1.0}),
        (PruneConfig, {"max_loss": -0.1}),
        (PruneConfig, {"max_bytes": "large"}),
        (PruneConfig, {"reduction": 0.1, "max_loss": 0.1}),
        (PruneConfig, {"scale": 0}),
        (PruneConfig, {"scale": "big"}),
        (PruneConfig, {"scale": float("nan")}),
        (PruneConfig, {"tf": "squared"}),
        (PruneConfig, {"min_doc_freq": 0}),
        (PruneConfig, {"reduction": float("nan")}),
        (SearchConfig, {"hits": 2**40}),
        (SearchConfig, {"model": "bm26"}),
        (SearchConfig, {"threads": 10**9}),
        (PruneConfig, {"threads": 0}),
        (CompareConfig, {"names": ("a", "a")}),
        (CompareConfig, {"measures": "goodness@5"}),
        (CompareConfig, {"latency_budget_seconds": 0}),
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


_REQUIRED = {"index": ".", "indexes": "a=.", "topics": "T", "qrels": "Q", "output": "O"}


def _idle_cases() -> Iterator[tuple[str, Effect, str]]:
    """(command, effect, how the other is typed) for a value with which the effect is not had."""
    for name, command in COMMANDS.items():
        params = {param.name: param for param in command.params}
        for effect in (*command.config.EFFECTS, *command.effects):
            other = params[effect.beside]
            flag = max(other.opts, key=len)
            given = {"reduction": "0.3", "max_bytes": "9MB"}.get(effect.beside, "given")
            tried: dict[Any, str] = {"given": f"{flag} {given}", "-": f"{flag} -"}
            if isinstance(other.type, click.Choice):
                tried = {choice: f"{flag} {choice}" for choice in other.type.choices}
            elif other.is_flag:
                tried = {True: flag, False: next(iter(other.secondary_opts), "")}
            default = () if other.multiple else None
            if effect.beside in command.config.OPTIONS:
                default = command.config.OPTIONS[effect.beside].default
            typed = {**tried, default: ""} if not other.required else tried
            refused = [words for value, words in typed.items() if not effect.is_had(value)]
            assert refused, f"no value of {effect.beside} is refused with {effect.options}"
            yield name, effect, refused[0]


@pytest.mark.parametrize(("name", "effect", "other"), [*_idle_cases()])
def test_what_has_no_effect_is_refused(name, effect, other, tmp_path, monkeypatch) -> None:
    """Before anything is read."""
    monkeypatch.chdir(tmp_path)
    command = COMMANDS[name]
    option = next(param for param in command.params if param.name == effect.options[-1])
    flag = max(option.opts, key=len)
    value = "0.5" if option.type.name == "float" else "1"
    value = option.type.choices[0] if isinstance(option.type, click.Choice) else value
    words = [option.secondary_opts[0] if option.secondary_opts else flag]
    words += [] if option.is_flag else [value]
    needed = [
        word
        for param in command.params
        if param.required and not {max(param.opts, key=len)} & {words[0], *other.split()[:1]}
        for word in (max(param.opts, key=len), *_needed(param))
    ]
    needed += ["--index", "b=."] if name == "compare" else []
    said = CliRunner().invoke(_group, [*name.split(), *needed, *words, *other.split()])
    assert isinstance(said.exception, TdvError), (said.exception, said.output)
    assert "no effect with" in str(said.exception) and effect.reason in str(said.exception)
    assert not list(tmp_path.iterdir())


def _needed(param: click.Parameter) -> list[str]:
    if isinstance(param.type, click.Choice):
        return [param.type.choices[0]]
    return [_REQUIRED.get(param.name, "X")]


def test_choices_are_those_of_the_stages() -> None:
    """Configs are read by every --help, and do without the modules that know."""
    from tdv_lucene.evaluation.topic_formats import TOPIC_FIELDS

    assert LearnConfig.OPTIONS["topic_field"].choices == tuple(TOPIC_FIELDS)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("search --hits 0", "hits"),
        ("search --threads -3", "threads"),
        ("search --field ''", "--field"),
        ("compare --tune-qrels ' '", "--tune-qrels"),
        ("prune --max-loss .1 --reduction .2", "max_loss"),
        ("prune --min-doc-freq 0", "min_doc_freq"),
        ("learn", "qrels"),
        ("embed --dimensions 0", "dimensions"),
        ("compare --latency-budget 0", "latency_budget_seconds"),
        ("verify --threads 0", "threads"),
        ("--heap much search", "heap"),
        ("index here", "here exists"),
        ("embed here", "here exists"),
        ("search here", "here exists"),
        ("prune --output '' --overwrite", "--output"),
    ],
)
def test_the_command_line_names_what_is_wrong(arguments, said, tmp_path, monkeypatch, capsys):
    from tdv_lucene.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "i").mkdir()
    (tmp_path / "t.tsv").write_text("q1\ttext\n")
    *words, last = shlex.split(arguments)
    words, output = (words, last) if last == "here" else ([*words, last], "new")
    required = {
        "search": "--index i --topics t.tsv --output",
        "prune": "--index i --output",
        "learn": "--index i --output",
        "embed": "--index i --output",
        "compare": "--index i --pruned p --topics t.tsv --qrels q.txt --output",
        "verify": "--index i --pruned",
        "index": "-collection x --index",
    }
    command = next(word for word in words if word in required)
    more = [] if "--output" in words else [*required[command].split(), output]
    monkeypatch.setattr("sys.argv", ["tdv-lucene", *words, *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told and "\ufdd0" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"here", "i", "t.tsv"}


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    code = (
        f"import sys; sys.path.append({str(Path(__file__).parents[1])!r})\n"
        "from tdv_lucene.cli import _group; from command_line import leaves\n"
        "list(leaves(_group)); print([name for name in ('scipy', 'jax', 'pandas', 'rich') if name "
        "in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
