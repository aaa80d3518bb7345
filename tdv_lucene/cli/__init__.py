"""The ``tdv-lucene`` command: parse, call the stage function, print.

A sub-command lives in the module of its name and is imported only when it is run, so that
``--help`` answers at once.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module

import click

from .. import __version__
from ..errors import TdvError
from ..visible import visible
from ._flags import name_flags, refuse_empty

_COMMANDS = {
    "index": "Index a collection with Anserini's IndexCollection.",
    "inspect": "Say what an index holds and whether it can be pruned.",
    "extract": "Write a field's term-document matrix as NumPy arrays.",
    "embed": "Make word vectors for an index's terms.",
    "learn": "Learn term discrimination values from judged queries.",
    "peers": "Make the values of an unlearned pruning, to compare with.",
    "prune": "Write a smaller index with the learned values.",
    "verify": "Prove a pruned index right against its source.",
    "search": "Run topics against an index and write a TREC run.",
    "export": "Write a field as one file that other engines read.",
    "compare": "Compare the full index with a pruned one.",
    "explain": "Show what pruning did to one query.",
    "serve": "Show rankings side by side on a local page.",
    "reproduce": "Do the paper's experiment on one of its collections.",
    "doctor": "Say what is installed, and what is wrong with it.",
    "demo": "Run the whole job on the Python documentation.",
}


class _LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f".{cmd_name}", __name__).command
        refuse_empty(command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except TdvError as error:
            # The command's own options come first; a remedy may lie in another command.
            names = [name for name in (ctx.invoked_subcommand, *_COMMANDS) if name in _COMMANDS]
            name_flags(error, [self, *(self.get_command(ctx, name) for name in names)])
            raise
        except EOFError as error:  # click takes it for Ctrl-D
            raise RuntimeError(f"a file ended before it should ({error})") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tdv-lucene")
@click.option("--heap", metavar="SIZE", help="Largest Java heap, such as 4g (or $TDV_LUCENE_HEAP).")
@click.option("-v", "--verbose", is_flag=True, help="Log what is done.")
def _group(heap: str | None, verbose: bool) -> None:
    """Prune a Lucene index with learned term discrimination values (TDVs).

    The stages, in order: index, inspect, extract, embed, learn, prune, verify, search, compare.
    """
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s")
    if heap:
        from ..jvm import set_heap

        set_heap(heap)


def main() -> None:
    """Entry point: 0 when well, 1 when verify or doctor find fault, 2 on errors, 130 on Ctrl-C."""
    try:
        _group(prog_name="tdv-lucene", standalone_mode=False)
    except TdvError as error:
        told = visible(str(error), keep="\n")
        click.echo(f"tdv-lucene: {told}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("tdv-lucene: interrupted; nothing was written", err=True)
        sys.exit(130)
