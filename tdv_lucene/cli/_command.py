"""A command whose ``--help`` shows what most users need, and ``--help-all`` everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from ..arguments import Effect, refuse_idle

SHOWN_AT_MOST = 14
"""Lines of ``--help`` that are options, its own included."""

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_ALL = "tdv_lucene.help_all"


class Option(click.Option):
    """An option with a ``group``: the heading above it in ``--help-all``; None for common ones."""

    def __init__(self, *args: Any, group: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


option = partial(click.option, cls=Option)

# Headings that several commands have.
INPUT, RESOURCES, TRAINING, VECTORS = "Input", "Resources", "Training", "Word vectors"


def _show_all(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Command(click.Command):
    """Shows few options, and refuses those that have no effect beside others.

    Parameters
    ----------
    effects
        Of the options that are not passed on to the command's function of the package.
    """

    def __init__(self, *args: Any, effects: Sequence[Effect] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.effects = effects
        self._help_all = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all
        )

    def invoke(self, ctx: click.Context) -> Any:
        given = [name for name in ctx.params if not left_out(ctx, name)]
        refuse_idle(self.effects, given, ctx.params)
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Common options; then the others in their groups, or how to see them."""
        groups = self.groups(ctx)
        common = groups.pop(None)
        _write(ctx, formatter, "Options", common)
        for heading, options in groups.items():
            if ctx.meta.get(_ALL):
                _write(ctx, formatter, str(heading), options)
        if groups and not ctx.meta.get(_ALL):
            formatter.write_paragraph()
            formatter.write_text("More options: --help-all")

    def groups(self, ctx: click.Context) -> dict[str | None, list[click.Parameter]]:
        """Heading -> its options, common ones (None) first; all are common where they are few."""
        listed = [each for each in super().get_params(ctx) if isinstance(each, click.Option)]
        if len(listed) <= SHOWN_AT_MOST:
            return {None: [*listed]}
        found: dict[str | None, list[click.Parameter]] = {None: []}
        for each in listed:
            found.setdefault(getattr(each, "group", None), []).append(each)
        return found


def _write(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    heading: str,
    options: Iterable[click.Parameter],
) -> None:
    records = [record for each in options if (record := each.get_help_record(ctx)) is not None]
    with formatter.section(heading):
        formatter.write_dl(records)


def left_out(context: click.Context, name: str) -> bool:
    """Whether an option of the command was not given."""
    return context.get_parameter_source(name) is ParameterSource.DEFAULT


# The names are set on each command: click remembers a command's help option from its first call.
command = partial(click.command, cls=Command, context_settings=HELP_NAMES)
