"""The configs: their options are those of the functions and the commands, and are checked."""

from __future__ import annotations

import dataclasses
import inspect
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

STAGES = [
    (LearnConfig, learn_from_index, "learn"),
    (PruneConfig, prune_index, "prune"),
    (CompareConfig, compare_indexes, "compare"),
]


@pytest.mark.parametrize(("config", "function"), [stage[:2] for stage in STAGES])
def test_the_function_names_every_option_and_its_default(config: type, function: object) -> None:
    parameters = inspect.signature(function).parameters
    for field in dataclasses.fields(config):
        assert parameters[field.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[field.name].default == field.default, field.name


@pytest.mark.parametrize(("config", "command"), [(stage[0], stage[2]) for stage in STAGES])
def test_the_command_has_every_option_and_its_default(config: type, command: str) -> None:
    options = {p.name: p for p in _group.get_command(click.Context(_group), command).params}
    for field in dataclasses.fields(config):
        assert field.name in options, f"'{command}' cannot set {field.name}"
        option = options[field.name]
        default = option.get_default(click.Context(_group))
        if isinstance(default, (str, float, int, tuple)):  # click marks what has none
            assert default == field.default, field.name
        else:
            assert field.default in ((), None, False), field.name


@pytest.mark.parametrize("config", [stage[0] for stage in STAGES])
def test_a_config_does_not_change(config: type) -> None:
    made = config()
    assert made == config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(config)[0].name, None)


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        (LearnConfig, {"model": "bm24"}, "no model 'bm24': choose one of bm25, qld, tfidf"),
        (LearnConfig, {"seed": -1}, "seed must be at least 0, got -1"),
        (LearnConfig, {"topic_field": "text"}, "no topic field 'text'"),
        (LearnConfig, {"b": 1.5}, "b=1.5 is out of range"),
        (LearnConfig, {"mu": 0.0}, "mu=0.0 is out of range"),
        (LearnConfig, {"pool": -1}, "pool must be at least 0, got -1"),
        (
            LearnConfig,
            {"memory": "much"},
            "memory must be a size such as 25MB",
        ),
        (PruneConfig, {"reduction": 1.0}, r"reduction must lie within \[0, 1\), got 1.0"),
        (PruneConfig, {"max_loss": -0.1}, r"max_loss must lie within \[0, 1\), got -0.1"),
        (PruneConfig, {"max_bytes": "large"}, "max_bytes must be a size such as 25MB"),
        (PruneConfig, {"reduction": 0.1, "max_loss": 0.1}, "reduction and max_loss exclude each"),
        (PruneConfig, {"scale": 0}, "scale must be 'auto' or a number above 0, got '0'"),
        (PruneConfig, {"tf": "raw"}, "tf must be 'scaled' or 'original', got 'raw'"),
        (PruneConfig, {"unit": "list"}, "no unit 'list': choose one of term, posting"),
        (PruneConfig, {"min_doc_freq": 0}, "min_doc_freq must be at least 1, got 0"),
        (PruneConfig, {"threads": 0}, "threads must be at least 1, got 0"),
        (CompareConfig, {"model": "lm"}, "no such model: 'lm'"),
        (CompareConfig, {"names": ("a", "a")}, "two indexes are named 'a'"),
        (CompareConfig, {"measures": "goodness@5"}, "no such measure: 'goodness@5'"),
        (CompareConfig, {"throughput_threads": 0}, "throughput_threads must be at least 1, got 0"),
        (CompareConfig, {"latency_budget_seconds": 0}, "above 0 seconds are needed"),
    ],
)
def test_what_is_out_of_range_is_refused(config: type, options: dict, message: str) -> None:
    with pytest.raises(TdvError, match=message):
        config(**options)


def test_an_option_beside_a_config_is_refused(tmp_path: Path) -> None:
    """Which of the two were meant?"""
    for call in (
        lambda: learn_from_index("I", "T", "Q", tmp_path / "V", config=LearnConfig(), seed=3),
        lambda: prune_index("I", "V", tmp_path / "P", config=PruneConfig(reduction=0.3), scale=2),
        lambda: compare_indexes("I", "P", "T", "Q", tmp_path / "R", config=CompareConfig(), seed=3),
    ):
        with pytest.raises(TdvError, match=r"(seed|scale) is given beside config: put it into the"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_configs_are_public() -> None:
    assert {"LearnConfig", "PruneConfig", "CompareConfig"} <= {*tdv_lucene.__all__}
