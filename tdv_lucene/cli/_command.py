"""A command whose options are those of a config; ``--help`` shows what most users need, and
``--help-all`` everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from .. import options

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
_TYPES = {"int": int, "float": float}


def _from_config(made: options.Option) -> Option:
    """An option of a config as an option of a command."""
    kinds = set(made.kind.split(" | ")) - {"None"}
    flag = f"--{made.flag or made.name.replace('_', '-')}"
    is_flag, is_pair = kinds == {"bool"}, made.kind == "tuple[str, str]"
    has_default = not (made.default is None or made.default is False or made.default == ())
    return Option(
        [f"{flag}/--no-{flag[2:]}" if made.default is True else flag, made.name],
        type=click.Choice(made.choices) if made.choices else _TYPES.get("".join(kinds)),
        **({"is_flag": True} if is_flag else {"multiple": made.multiple}),
        **({"nargs": 2} if is_pair else {}),
        default=made.default,
        show_default=has_default and "[default:" not in made.help,
        metavar=made.metavar,
        group=made.group,
        help=made.help,
    )


_JSON = Option(["--json", "as_json"], is_flag=True, help="Print JSON.")


def _show_all(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Command(click.Command):
    """Shows few options, and refuses those that have no effect beside others.

    Parameters
    ----------
    config
        Whose options it has, beside those of its own. Its function is called with those that were
        typed.
    effects
        Of the options that are not passed on to the command's function of the package.
    json
        Whether it has ``--json``.
    """

    def __init__(
        self,
        *args: Any,
        config: type[options.Config] = options.Config,
        effects: Sequence[options.Effect] = (),
        json: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.config, self.effects = config, effects
        made = [each for each in config.OPTIONS.values() if each.flag != options.PYTHON_ONLY]
        self.params += [*map(_from_config, made), *([_JSON] if json else [])]
        self._help_all = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all
        )

    def invoke(self, ctx: click.Context) -> Any:
        given = [name for name in ctx.params if not left_out(ctx, name)]
        options.refuse_idle(self.effects, given, ctx.params)
        for name in self.config.OPTIONS.keys() - {*given}:
            ctx.params.pop(name, None)
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Common options; then the others in their groups, or how to see them."""
        groups = self.groups(ctx)
        common = groups.pop(None)
        _write(ctx, formatter, "Options", common)
        for heading, listed in groups.items():
            if ctx.meta.get(_ALL):
                _write(ctx, formatter, str(heading), listed)
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
    listed: Iterable[click.Parameter],
) -> None:
    records = [record for each in listed if (record := each.get_help_record(ctx)) is not None]
    with formatter.section(heading):
        formatter.write_dl(records)


def left_out(context: click.Context, name: str) -> bool:
    """Whether an option of the command was not given."""
    return context.get_parameter_source(name) is ParameterSource.DEFAULT


# The names are set on each command: click remembers a command's help option from its first call.
command = partial(click.command, cls=Command, context_settings=HELP_NAMES)
