"""Options that can have no effect beside others are refused, by the functions and the commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tdv_lucene import (
    LearnConfig,
    TdvError,
    compare_indexes,
    embed_terms,
    learn_from_index,
    make_peer_values,
    prune_index,
    search_index,
    tune_index,
)
from tdv_lucene.cli import _group
from tdv_lucene.cli._groups import leaves
from tdv_lucene.options import Effect
from tdv_lucene.paper.neural.rerank import rerank_run, train_ranker
from tdv_lucene.paper.reproduce import reproduce_paper

COMMANDS = {" ".join(words): command for words, command in leaves(_group)}
STAGES = {
    "embed": embed_terms, "learn": learn_from_index, "peers": make_peer_values,
    "prune": prune_index, "search": search_index, "tune": tune_index, "compare": compare_indexes,
    "paper ranker": train_ranker, "paper rerank": rerank_run, "paper reproduce": reproduce_paper,
}  # fmt: skip
"""The functions of the commands that have such options, or whose command has."""

NEEDED: dict[str, dict[str, Any]] = {
    "learn": {"index": ".", "topics": "T", "qrels": "Q", "output": "O"},
    "prune": {"index": ".", "values": None, "output": "O"},
    "embed": {"index": ".", "output": "O"},
    "peers": {"index": ".", "name": "df", "output": "O"},
    "tune": {"index": ".", "output": "O"},
    "search": {"index": ".", "topics": "T", "output": "O"},
    "compare": {"indexes": ".", "pruned": "P", "topics": "T", "qrels": "Q", "output": "O"},
    "paper ranker": {"index": ".", "topics": "T", "qrels": "Q", "output": "O"},
    "paper rerank": {"index": ".", "ranker": "R", "topics": "T", "run": "R", "output": "O"},
    "paper reproduce": {
        "collection": "other", "index": ".", "topics": "T", "qrels": "Q", "output": "O",
    },
}  # fmt: skip
WITHOUT = {"no_judgements": ("topics", "qrels"), "pruned": ("indexes",)}
"""What the other option excludes itself: it would be told first."""
OTHERS = {
    "vectors": ("f.vec", "lsa", "train", None), "values": ("V", None), "topics": ("T", None),
    "output": ("-", "O"), "pruned": ("P", None), "neural": ("drmm", ()),
    "train_topics": ("T", None), "reduction": (0.3, None), "max_bytes": ("9MB", None),
    "qrels": ("Q", None), "queries": ("L", None),
}  # fmt: skip
"""What an option may be that is neither a flag nor a choice."""
SAMPLES = {
    "names": ("a", "b"), "memory": "4GB", "max_loss": 0.01, "scale": 2, "plot": "p.svg",
    "language": "de", "stemmer": "krovetz", "stopwords": "none",
}  # fmt: skip


def _tables() -> Iterator[tuple[str, Effect]]:
    for name in STAGES:
        for effect in (*COMMANDS[name].config.EFFECTS, *COMMANDS[name].effects):
            yield name, effect


def _idle_cases() -> Iterator[tuple[str, Effect, str, Any]]:
    """(command, effect, option, value of the other) of everything that the tables refuse."""
    for name, effect in _tables():
        params = {param.name: param for param in COMMANDS[name].params}
        other = params[effect.beside]
        if isinstance(other.type, click.Choice):
            values = tuple(other.type.choices)
        else:
            values = (True, False) if other.is_flag else OTHERS[effect.beside]
        has_default = isinstance(other.get_default(click.Context(COMMANDS[name])), str)
        values = [value for value in values if value is not None or not has_default]
        refused = [value for value in values if not effect.is_had(value)]
        assert refused, f"no value of {effect.beside} is refused beside {effect.options}"
        for value in refused:
            for option in effect.options:
                yield name, effect, option, value


CASES = list(_idle_cases())


def _sample(name: str, option: str) -> Any:
    """A value of the option: its default where it has one, for that is given as well."""
    param = next(param for param in COMMANDS[name].params if param.name == option)
    if param.is_flag:
        return False if param.default is True else True
    if option in SAMPLES:
        return SAMPLES[option]
    default = param.get_default(click.Context(COMMANDS[name]))
    if isinstance(default, (str, int, float)):
        return default
    if isinstance(param.type, click.Choice):
        return param.type.choices[0]
    return {"integer": 3, "float": 0.5}.get(param.type.name, "X")


def _words(name: str, options: dict[str, Any]) -> list[str]:
    """The options as typed."""
    words = []
    for param in COMMANDS[name].params:
        value = options.get(param.name)
        if value in (None, ()):
            continue
        flag = max(param.opts, key=len)
        if param.is_flag:
            words += [flag] if value else [*param.secondary_opts[:1]]
        else:
            words += [flag, *map(str, value if isinstance(value, tuple) else (value,))]
    return words


def _options(name: str, option: str, other: str, value: Any) -> dict[str, Any]:
    needed = {o: v for o, v in NEEDED[name].items() if o not in WITHOUT.get(other, ())}
    if other == "pruned":
        needed["indexes"] = "a=."
    return {**needed, option: _sample(name, option), other: value}


@pytest.mark.parametrize(("name", "effect", "option", "value"), CASES)
def test_what_has_no_effect_is_refused(name, effect, option, value, tmp_path, monkeypatch):
    """By the command, and with the same reason by its function, before anything is read."""
    monkeypatch.chdir(tmp_path)
    options = _options(name, option, effect.beside, value)
    said = CliRunner().invoke(_group, [*name.split(), *_words(name, options)])
    assert isinstance(said.exception, TdvError), (said.exception, said.output)
    told = str(said.exception)
    assert "no effect with" in told and told.startswith("--")
    taken = inspect.signature(STAGES[name]).parameters
    if effect in COMMANDS[name].config.EFFECTS:
        positional = [n for n, param in taken.items() if param.kind is not param.VAR_KEYWORD]
        needed = {n: None for n in positional if taken[n].default is taken[n].empty}
        with pytest.raises(TdvError) as refused:
            STAGES[name](**{**needed, **options})
        assert str(refused.value).partition(": ")[2] == told.partition(": ")[2]
    assert not list(tmp_path.iterdir())


def test_the_reason_is_told_in_the_words_of_the_command_line():
    words = "learn --index . --output O --k1 0.9 --b 0.4 --model qld --topics T --qrels Q"
    told = str(CliRunner().invoke(_group, words.split()).exception)
    assert told.startswith("--k1 and --b have no effect with --model qld: ")


def test_what_is_in_a_config_is_given():
    with pytest.raises(TdvError, match="plot .* no_judgements=True"):
        LearnConfig(no_judgements=True, plot="p.svg")
    with pytest.raises(TdvError, match="topics .* no_judgements=True"):
        learn_from_index(".", "T", None, "O", LearnConfig(no_judgements=True))


def test_none_and_false_ask_for_nothing():
    """Programs pass on what they were not given."""
    with pytest.raises(TdvError, match="pass the queries to learn from"):
        learn_from_index("I", None, None, "O", vectors=None, no_judgements=False, plot=None)


def test_an_effect_beside_anything_or_nothing():
    some = Effect(("a",), "b", "because", unless=(None,))
    none = Effect(("a",), "b", "because", only=(None,))
    assert some.is_had("x") and not some.is_had(None)
    assert none.is_had(None) and not none.is_had("x")
