"""``tdv-lucene doctor``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from . import _options as options


@options.command("doctor")
def command(as_json: bool) -> None:
    """Show what is installed, and what is wrong with it.

    Checks Java, Lucene, Pyserini, Python packages, memory and disk. Exits with status 1 if
    something is wrong.
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
