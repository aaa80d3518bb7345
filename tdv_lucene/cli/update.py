"""``tdv-lucene update``."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..pruning.config import UpdateConfig
from . import _options as options

_COUNTS = ("segments", "segments_added", "segments_dropped", "deletions")
_DRIFTED = 3


@options.command("update", config=UpdateConfig)
@options.pruned_option("Update this index, which 'prune' wrote.")
@options.scheduler_option
@options.option(
    "--index",
    metavar="INDEX",
    callback=options.folder_or_shards,
    help="Name the source index, if it was moved.  [default: the path that 'prune' recorded]",
)
@options.option(
    "--watch", is_flag=True, help="Keep running, and update after each commit to the source."
)
def command(as_json: bool, watch: bool, **arguments: Any) -> None:
    """Make a pruned index follow its source, which has changed.

    Updates the index in place, in one commit: prunes segments added to the source, drops segments
    it no longer has, and applies deletions. Programs that have the index open keep the old state
    until they refresh. Says when to learn again. --watch goes on after a commit that it refuses;
    stop it with Ctrl-C.
    """
    from ..interruption import obey
    from ..pruning.update import update_index, watch_index

    if not watch:
        report = options.run(update_index, **arguments)
        _say(report, as_json)
        if report["exceeded"]:
            sys.exit(_DRIFTED)
        return
    options.run(watch_index, on_update=lambda report: _say(report, as_json), **arguments)
    obey()  # Ctrl-C is how to stop it, and no error
    if not as_json:
        click.echo("Stopped.")


def _say(report: dict[str, Any], as_json: bool) -> None:
    """Print at once what was done."""
    if as_json:
        options.show(report, as_json)
    elif "refused" in report:
        options.show({"updated": f"no: {report['refused']}"}, as_json)
    else:
        why = "the drift is too much" if report["exceeded"] else "the source has no new commit"
        shown = {"updated": report["updated"] or f"no, {why}"}
        if report["updated"]:
            dropped = options.percent(report["reduction"])
            asked = options.percent(report["requested_reduction"] or 0)
            shown |= {name: report[name] for name in _COUNTS}
            if report["segments_foreign"]:
                shown["segments_foreign"] = f"{report['segments_foreign']:,} of those dropped"
            if report["segments_dropped"]:  # what was deleted there is just not written again
                shown["deletions"] = f"{report['deletions']:,} in segments that stayed"
            shown |= {"dropped": f"{dropped} of the postings ({asked} asked for)"}
        options.show(shown | _drift(report["drift"]), as_json)
        if report["drift"]["is_due"]:
            click.echo("\nThe index has changed much since learning: learn and prune again.")
    sys.stdout.flush()


def _drift(drift: dict[str, Any]) -> dict[str, Any]:
    return {
        "documents": f"{drift['documents']:,} ({drift['documents_learned']:,} at learning)",
        "mean_length": f"{drift['mean_length']:.1f} ({drift['mean_length_learned']:.1f})",
        "moved": f"{options.percent(drift['moved'])} of the postings, to other terms",
        "unseen_terms": f"{drift['unseen_terms']:,}, with "
        f"{options.percent(drift['unseen_postings'])} of the postings",
    }
