"""A command whose options are those of a config.

``--help`` shows what most users need, ``--help-all`` everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from .. import options

SHOWN_AT_MOST = 14
"""Options in ``--help``, its own included."""

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_ALL = "tdv_lucene.help_all"
_COMMON = "Options"
_PATHS = {"FILE", "FOLDER", "INDEX", "PATH", "QRELS", "TOPICS"}
"""Metavars of what a shell completes from the file system."""


class _Text(click.types.StringParamType):
    """Text that is not empty: an empty path would be the current folder."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not text.strip():
            self.fail("it is empty: check that the shell variable is set", param, ctx)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave paths to the shell."""
        if param.metavar in _PATHS:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, param, incomplete)


class Option(click.Option):
    """An option with a ``group``: its heading in ``--help-all``; None for common ones."""

    def __init__(self, *args: Any, group: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group
        if type(self.type) is click.types.StringParamType:
            self.type = _Text()


option = partial(click.option, cls=Option)


def _from_config(made: options.Option) -> Option:
    """Make an option of a command of an option of a config."""
    kinds = set(made.kind.split(" | ")) - {"None"}
    flag = f"--{made.flag or made.name.replace('_', '-')}"
    has_default = not (made.default is None or made.default is False or made.default == ())
    number = {"int": int, "float": float}.get("".join(kinds))
    return Option(
        [f"{flag}/--no-{flag[2:]}" if made.default is True else flag, made.name],
        type=click.Choice(made.choices) if made.choices else number,
        **({"is_flag": True} if kinds == {"bool"} else {"multiple": made.multiple}),
        default=made.default,
        show_default=has_default and "[default:" not in made.help,
        metavar=made.metavar,
        group=made.group,
        help=made.help,
    )


def _show_all(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Command(click.Command):
    """A command that shows few options, and refuses those that have no effect.

    Parameters
    ----------
    config
        Its options beside its own. The function is given those that were typed.
    effects
        Effects of options that are not passed on to a function of the package.
    """

    def __init__(
        self,
        *args: Any,
        config: type[options.Config] = options.Config,
        effects: Sequence[options.Effect] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.config, self.effects = config, effects
        made = [each for each in config.OPTIONS.values() if each.flag != options.PYTHON_ONLY]
        self.params += map(_from_config, made)
        self.params.append(Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
        self._help_all = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all
        )

    def invoke(self, ctx: click.Context) -> Any:
        unset = ParameterSource.DEFAULT
        given = [name for name in ctx.params if ctx.get_parameter_source(name) is not unset]
        options.refuse_idle(self.effects, given, ctx.params)
        for name in self.config.OPTIONS.keys() - {*given}:
            ctx.params.pop(name, None)
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List common options; then the others by group, or how to see them."""
        listed = [each for each in super().get_params(ctx) if isinstance(each, click.Option)]
        are_few = len(listed) <= SHOWN_AT_MOST  # then all are common
        groups: dict[str, list[tuple[str, str]]] = {_COMMON: []}
        for each in listed:
            heading = None if are_few else getattr(each, "group", None)
            if record := each.get_help_record(ctx):
                groups.setdefault(heading or _COMMON, []).append(record)
        shown = groups if ctx.meta.get(_ALL) else {_COMMON: groups[_COMMON]}
        for heading, records in shown.items():
            with formatter.section(heading):
                formatter.write_dl(records)
        if len(shown) < len(groups):
            formatter.write_paragraph()
            formatter.write_text("More options: --help-all")


# The names are set on each command: click remembers a command's help option from its first call.
command = partial(click.command, cls=Command, context_settings=HELP_NAMES)
