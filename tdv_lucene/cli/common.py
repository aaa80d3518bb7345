"""Tools of all commands: options made of a config's, lazy groups, and printing of results.

Names follow Pyserini's. ``--help`` shows what most users need, ``--help-all`` everything.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from .. import options
from ..interruption import check
from ..options import RESOURCES
from ..progress import ProgressBar
from ..report.table import Table, print_table
from ..report.wording import visible

SHOWN_AT_MOST = 14  # options in ``--help``, its own included

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_ALL = "tdv_lucene.help_all"
_COMMON = "Options"
_PATHS = {"FILE", "FOLDER", "INDEX", "PATH", "QRELS", "TOPICS"}  # completed by the shell


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


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them.

    ``table`` is name -> (module, help); a module, absolute or of this folder, has the command under
    its name.
    """

    def __init__(
        self, *arguments: Any, table: Mapping[str, tuple[str, str]], **options: Any
    ) -> None:
        super().__init__(*arguments, **{"context_settings": HELP_NAMES, **options})
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module, _ = self._table[cmd_name]
        command: click.Command = getattr(import_module(module, __package__), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in self._table.items()])


TOPICS_HELP = (
    "Read queries from a TSV, TREC or JSON-lines file, '-' (standard input), a name Pyserini "
    "knows, or irds:NAME."
)
QRELS_HELP = "Read judgements from a TREC qrels file, a name Pyserini knows, or irds:NAME."
INDEX_HELP = "Read this Lucene index: a folder, or the name of a Pyserini prebuilt index."

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_SCHEDULER = "tdv_lucene.scheduler"


def one_index(context: click.Context, parameter: Any, given: str) -> str:
    """Return the folder of an index, which may be given by the name of a prebuilt one."""
    from ..jvm.named import find_index

    return find_index(given)


def index_or_shards(context: click.Context, parameter: Any, given: Sequence[str]) -> Any:
    """Return the folder of one index, or a source of shards."""
    from ..source import find_shards, means_shards

    scheduler = context.meta.get(_SCHEDULER)
    if means_shards(given):
        return find_shards(given, scheduler=scheduler)
    if scheduler is not None:
        raise click.UsageError(
            "--scheduler is for shards: pass several, such as --index 'SHARDS/*'"
        )
    return one_index(context, parameter, given[0])


def folder_or_shards(context: click.Context, parameter: Any, given: str | None) -> Any:
    """Return an index that this package made: a folder, or a source of shards."""
    from ..source import means_shards

    is_sharded = given is not None and means_shards([given])
    return index_or_shards(context, parameter, [given]) if is_sharded and given else given


def _keep_scheduler(context: click.Context, parameter: Any, given: str | None) -> None:
    context.meta[_SCHEDULER] = given


shards_option = option(
    "--index", required=True, multiple=True, metavar="INDEX", callback=index_or_shards,
    help=f"{INDEX_HELP} For shards, pass 'SHARDS/*' (quoted) or @FILE with one folder per line, or "
    "repeat --index.",
)  # fmt: skip
scheduler_option = option(
    "--scheduler", metavar="ADDRESS", is_eager=True, expose_value=False, callback=_keep_scheduler,
    group=RESOURCES,
    help="Process shards on this Dask cluster. If only some workers see a shard's folder, "
    "name the shard RESOURCE=/FOLDER, by the Dask resource of those workers.  "
    "[default: this machine]",
)  # fmt: skip
index_option = option(
    "--index", required=True, metavar="INDEX", callback=one_index, help=INDEX_HELP
)


def output_option(what: str) -> Callable[[Any], Any]:
    return option("--output", required=True, metavar="PATH", help=f"Write {what}.")


def pruned_option(what: str) -> Callable[[Any], Any]:
    """Return the option of a pruned index, which may be in shards."""
    return option(
        "--pruned", required=True, metavar="FOLDER", callback=folder_or_shards,
        help=f"{what} For shards, pass 'OUT/*' (quoted).",
    )  # fmt: skip


topics_option = option("--topics", required=True, metavar="TOPICS", help=TOPICS_HELP)
qrels_option = option("--qrels", required=True, metavar="QRELS", help=QRELS_HELP)


def run(stage: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
    """Call a stage function with a progress bar on stderr."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    _log.info("%s %s", stage.__name__, dict([*enumerate(args), *given.items()]))
    check()  # importing the stage may have taken seconds
    with ProgressBar() as progress:
        return stage(*args, progress=progress, **kwargs)


def show(result: Mapping[str, Any], as_json: bool, err: bool = False) -> None:
    """Print a flat result as JSON, or as one ``name  value`` line for each entry."""
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False), err=err)
        return
    width = max(map(len, result), default=0)
    for name, value in result.items():
        say(f"{name:<{width}}  {_written(value)}", err=err)


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_written(each)}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) else value


def percent(share: float) -> str:
    """Return a share as ``45.5 %``."""
    return f"{100 * share:z.1f} %"


def say(line: str, err: bool = False) -> None:
    """Print a line in which no character acts on the terminal."""
    click.echo(visible(line), err=err)


def show_tables(*tables: Table) -> None:
    """Print tables as wide as the terminal, each after a blank line."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would end with 1

    console = Screen(markup=False, highlight=False, emoji=False)
    for table in tables:
        console.print()
        print_table(console, table)


def show_network(result: Mapping[str, Any]) -> None:
    """Print how many bytes travelled to and from the workers, if there were some."""
    if network := result.get("network"):
        sent, received = (megabytes(network[way]) for way in ("sent", "received"))
        say(f"Through Dask: {sent} MB to the workers, {received} MB back.")


def megabytes(size: float) -> str:
    """Return bytes as megabytes, with three digits for small indexes."""
    millions = size / 1e6
    return f"{millions:,.1f}" if millions >= 100 else f"{millions:.3g}"
