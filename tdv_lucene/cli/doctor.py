"""``tdv-lucene doctor``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from . import _options as options


@click.command("doctor")
@options.json_option
def command(as_json: bool) -> None:
    """Say what this installation consists of, and what is wrong with it.

    Java, Lucene, Pyserini, Python packages, memory and disk. The exit code is 1 when something is
    wrong.
    """
    from ..jvm.installation import examine

    findings = examine()
    wrong = [of for of in findings if of.problem]
    if as_json:
        content = {"well": not wrong, "findings": [asdict(of) for of in findings]}
        click.echo(json.dumps(content, ensure_ascii=False))
    else:
        width = max(len(of.name) for of in findings)
        for of in findings:
            options.say(
                f"{of.name:<{width}}  {of.value or '-'}{'  <- wrong' if of.problem else ''}"
            )
        click.echo()
        for of in wrong:
            options.say(f"{of.name}: {of.problem}.")
        if not wrong:
            click.echo("Nothing is wrong.")
    if wrong:
        sys.exit(1)
