"""All commands of the command line, by their words."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tdv_lucene.cli import _group


def _commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")
        elif command is not None:
            yield before + name, command


COMMANDS = dict(_commands(_group, ""))
