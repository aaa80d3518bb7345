"""The ``tdv-lucene`` command: parse, call the stage function, print.

The module of a command is imported only when it is run: ``--help`` answers at once.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
from typing import NoReturn

import click

from ..errors import TdvError, free_space
from ..interruption import caught, check, exit_status, was_asked
from ..report.wording import shortened, visible
from ..version import __version__
from .common import LazyGroup

_PACKAGE = __name__.partition(".")[0]
_LONGEST = 300  # characters of a defect's message
_KEPT = "\n\t"  # of what would act on a terminal
_log = logging.getLogger(__name__)

_COMMANDS = {
    "index": (".indexes", "Index a collection with Anserini's IndexCollection."),
    "inspect": (".indexes", "Show what an index holds, and whether it can be pruned."),
    "extract": (".indexes", "Write a field's term-document matrix as NumPy arrays."),
    "embed": (".indexes", "Make word vectors for an index's terms."),
    "learn": (".learn", "Learn TDVs from judged queries."),
    "peers": (".learn", "Write the TDVs of a pruning method that learns nothing, to compare with."),
    "prune": (".prune", "Write a smaller index, with TDVs from learn or the built-in prior."),
    "tune": (".prune", "Copy an index so that default BM25 ranks as with tuned k1 and b."),
    "verify": (".prune", "Check a pruned index against its source, posting by posting."),
    "update": (".prune", "Make a pruned index follow its source, which has changed."),
    "search": (".search", "Search topics and write a TREC run."),
    "export": (".indexes", "Export a field as one file that other engines read."),
    "compare": (".search", "Compare indexes: effectiveness, size and latency."),
    "explain": (".search", "Show what pruning did to one query."),
    "env": (".installation", "Print the shell variables that plain Pyserini needs."),
    "paper": (
        "tdv_lucene.paper.commands",
        "Run the experiment of the paper and its neural re-rankers.",
    ),
    "doctor": (".installation", "Show what is installed, and what is wrong with it."),
    "demo": (".search", "Run the whole job on a demonstration collection."),
}


class _Commands(LazyGroup):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would end with 1
            _end_unread()
        except EOFError as error:  # click takes it for Ctrl-D
            raise RuntimeError(f"a file ended before it should ({error})") from error


@click.group(cls=_Commands, table=_COMMANDS)
@click.version_option(__version__, prog_name="tdv-lucene")
@click.option(
    "--heap", metavar="SIZE",
    help="Set the maximum Java heap, such as 4g (or $TDV_LUCENE_HEAP). Goes before the command.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Log each step. Goes before the command.")
@click.pass_context
def _group(context: click.Context, heap: str | None, verbose: bool) -> None:
    """Prune a Lucene index with learned term discrimination values (TDVs).

    Try demo first. On your own index, prune alone writes a smaller one. With judged queries, learn
    before you prune, and compare afterwards. Each command has --help.
    """
    _set_up_logging(verbose)
    _log.info("tdv-lucene %s: %s", __version__, context.invoked_subcommand)
    if heap is not None:
        from ..jvm import set_heap

        set_heap(heap)


class _Shown(logging.Formatter):
    """Log lines in which no character of the user's acts on the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record), keep=_KEPT)


def _set_up_logging(verbose: bool) -> None:
    """Log warnings to stderr; with ``-v`` also what this package does, and tracebacks."""
    to_stderr = logging.StreamHandler()
    to_stderr.setFormatter(_Shown("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[to_stderr])
    logging.getLogger(_PACKAGE).setLevel(logging.INFO if verbose else logging.NOTSET)
    if not verbose:  # read by Dask when it is imported, here and in the processes it starts
        os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")


def main() -> None:
    """Run a command and exit: 0 when well, 1 when verify or doctor find fault or on a defect, 2 on
    errors, 3 when update finds too much drift, 130 on Ctrl-C.

    SIGPIPE ends it (141) where nobody reads what is printed, as in ``tdv-lucene inspect | head``.
    """
    with caught():
        try:
            _check_standard_streams()
            _group(prog_name="tdv-lucene", standalone_mode=False)
            check()
            sys.stdout.flush()
        except (KeyboardInterrupt, click.exceptions.Abort):
            _end_interrupted()
        except Exception as error:
            if was_asked():  # some libraries make an error of their own of KeyboardInterrupt
                _end_interrupted()
            _end_with(error)
        finally:  # what comes while the interpreter is torn down changes nothing
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _end_with(error: Exception) -> NoReturn:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        sys.exit(error.exit_code)
    if isinstance(error, BrokenPipeError):
        _end_unread()
    words, status = _in_words(error)
    click.echo(f"tdv-lucene: {visible(words, keep=_KEPT)}", err=True)
    sys.exit(status)


def _in_words(error: Exception) -> tuple[str, int]:
    if isinstance(error, TdvError):
        return str(error), 2
    if isinstance(error, click.ClickException):
        return error.format_message() + _hint(error), error.exit_code
    if isinstance(error, MemoryError):
        remedy = "use a machine with more memory, or a smaller collection"
        return f"out of memory ({error}): {remedy}", 2
    if isinstance(error, OSError):
        named = "" if error.filename is None else f"{error.filename}: "
        return f"{named}{error.strerror or error}{free_space(error)}", 2
    if isinstance(error, UnicodeEncodeError):
        return _unwritable(error), 2
    _log.info("", exc_info=error)
    shown = shortened(" ".join(f"{type(error).__name__}: {error}".split()), _LONGEST)
    return f"a defect ({shown}): report it with the output of 'tdv-lucene -v'", 1


def _hint(error: click.ClickException) -> str:
    """Return where the refused option belongs, or where to read what the command takes."""
    context: click.Context | None = getattr(error, "ctx", None)
    if context is None:
        return ""
    root, path = context.find_root(), context.command_path
    name = error.option_name if isinstance(error, click.NoSuchOption) else ""
    if any(name in param.opts for param in root.command.params):
        program, words = root.command_path, path.removeprefix(root.command_path)
        return f"\n{name} stands before the command: '{program} {name} ...{words}'"
    return f"\nTry '{path} --help' for help."


def _unwritable(error: UnicodeEncodeError) -> str:
    if error.encoding.lower() in ("utf-8", "utf8"):
        return f"{error.object!a} is not UTF-8: Java needs names and queries in UTF-8"
    return (
        f"{error.object[error.start]!a} cannot be printed in {error.encoding}, the encoding of "
        "standard output: set PYTHONIOENCODING=utf-8, or use a UTF-8 locale"
    )


def _check_standard_streams() -> None:
    """Refuse a closed standard output, and open closed streams on /dev/null: the JVM writes to
    their numbers, whatever file has them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the smallest number that is free
    if sys.stdout is None:
        raise TdvError("standard output is closed: redirect it to a file, or to /dev/null")


def _end_unread() -> NoReturn:
    logging.shutdown()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # where it is blocked


def _end_interrupted() -> NoReturn:
    """Exit without tearing down JAX and the JVM, whose threads may be at work and would crash."""
    from ..output import finished

    whole = [str(path) for path in finished if path.exists()]
    left = f"{', '.join(whole)} is complete" if whole else "nothing was written"
    click.echo(f"tdv-lucene: interrupted; {left}", err=True)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_status())
