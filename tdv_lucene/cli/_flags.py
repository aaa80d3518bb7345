"""Errors name arguments as Python does; here they get the names of the command's options."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..errors import TdvError, in_python


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
