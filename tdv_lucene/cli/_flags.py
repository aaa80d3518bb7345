"""What holds for the options of all commands: their names in errors, and that none is empty."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from ..errors import TdvError, in_python

_PATHS = {"FILE", "FOLDER", "INDEX", "PATH", "QRELS", "TOPICS"}
"""Metavars of what a shell completes from the file system."""


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


class _Text(click.types.StringParamType):
    """Text with something in it: an empty path would be the current folder."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not text.strip():
            self.fail("it is empty: check that the shell variable is set", param, ctx)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Paths are completed by the shell itself."""
        if param.metavar in _PATHS:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, param, incomplete)


def refuse_empty(command: click.Command) -> None:
    """Let the options of ``command`` that take text refuse an empty one."""
    for param in command.params:
        if isinstance(param, click.Option) and type(param.type) is click.types.StringParamType:
            param.type = _Text()
