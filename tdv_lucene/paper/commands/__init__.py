"""``tdv-lucene paper``: the experiment's own commands."""

from __future__ import annotations

import click

from ...cli._groups import LazyGroup

_COMMANDS = {
    "reproduce": "Run the experiment on one of the paper's collections.",
    "ranker": "Train a neural re-ranker to compare with.",
    "rerank": "Re-rank a run with a neural re-ranker.",
}


@click.group("paper", cls=LazyGroup, helps=_COMMANDS, package=__name__)
def command() -> None:
    """Run the experiment of the paper and the neural re-rankers it compares with."""
