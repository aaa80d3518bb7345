"""Commands on the installation: doctor, env."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from dataclasses import asdict

import click

from . import common as options


@options.command("doctor")
def doctor(as_json: bool) -> None:
    """Show what is installed, and what is wrong with it.

    Checks Java, Lucene, Pyserini and Python packages. Exits with status 1 if something is wrong.
    """
    from ..jvm.installation import examine

    findings = examine()
    wrong = [finding for finding in findings if finding.problem]
    if as_json:
        content = {"well": not wrong, "findings": [asdict(finding) for finding in findings]}
        options.show(content, as_json)
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            mark = "  <- wrong" if finding.problem else ""
            options.say(f"{finding.name:<{width}}  {finding.value or '-'}{mark}")
        click.echo()
        for finding in wrong:
            options.say(f"{finding.name}: {finding.problem}.")
        if not wrong:
            click.echo("Nothing is wrong.")
    if wrong:
        sys.exit(1)


@options.command("env")
def env(as_json: bool) -> None:
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
