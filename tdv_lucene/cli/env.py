"""``tdv-lucene env``."""

from __future__ import annotations

import importlib.util
import shlex

import click

from . import _options as options


@options.command("env")
def command(as_json: bool) -> None:
    """Print the shell variables that plain Pyserini needs. Set them with:

    \b
    eval "$(tdv-lucene env)"
    """
    from ..jvm.installation import plain_pyserini

    variables = plain_pyserini()
    if as_json:
        options.show(variables, as_json)
        return
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")
    if importlib.util.find_spec("torch") is None:
        options.say("Pyserini's searcher also needs PyTorch: pip install pyserini", err=True)
