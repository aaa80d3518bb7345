"""Groups of commands that answer ``--help`` at once, and all their options' names in errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import click

from ..errors import TdvError, in_python


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them.

    Parameters
    ----------
    helps
        Name of a command -> its help.
    package
        Where their modules are, each of its command's name.
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
        super().__init__(*arguments, **options)
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
    """The words of each command within ``group`` that is no group itself, and the command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, *before, name)
        elif command is not None:
            yield (*before, name), command


def name_flags(error: TdvError, commands: Iterable[click.Command]) -> None:
    """Let ``error`` name the options of these commands, the first that has one, where one has."""
    options = {
        param.name: param
        for command in reversed([*commands])
        for param in command.params
        if isinstance(param, click.Option)
    }

    def write(name: str, value: str | None) -> str:
        option = options.get(name)
        if option is None:
            return in_python(name, value)
        if option.is_flag or option.is_bool_flag:
            off = value == "False" and option.secondary_opts
            return max(option.secondary_opts if off else option.opts, key=len)
        flag = max(option.opts, key=len)
        return flag if value is None else f"{flag} {value}"

    error.write_argument = write
