"""Groups of commands that answer ``--help`` at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click

from ._command import HELP_NAMES


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them.

    Parameters
    ----------
    helps
        Name of a command -> its help.
    package
        Where their modules are, each with its command's name.
    elsewhere
        Name of a command -> its module, where that is not in the package.
    """

    def __init__(
        self,
        *arguments: Any,
        helps: Mapping[str, str],
        package: str,
        elsewhere: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **{"context_settings": HELP_NAMES, **options})
        self._helps, self._package, self._elsewhere = helps, package, elsewhere or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._helps:
            return None
        module = self._elsewhere.get(cmd_name, f"{self._package}.{cmd_name}")
        command: click.Command = import_module(module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._helps.items()))


def leaves(group: click.Group, *before: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words of each command within ``group`` that is no group, and the command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, *before, name)
        elif command is not None:
            yield (*before, name), command
