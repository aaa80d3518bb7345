"""``tdv-lucene paper``: the experiment's own commands."""

from __future__ import annotations

import click

from ...cli._groups import LazyGroup
from ...cli._options import HELP_NAMES

_COMMANDS = {
    "reproduce": "Run the paper's experiment on one of its collections.",
    "ranker": "Train a neural re-ranker, to compare with.",
    "rerank": "Re-rank a run with a neural re-ranker.",
}


@click.group("paper", cls=LazyGroup, helps=_COMMANDS, package=__name__, context_settings=HELP_NAMES)
def command() -> None:
    """Run the paper's experiment, and the neural re-rankers it compares with."""
