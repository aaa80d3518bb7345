"""``tdv-lucene prune``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options
from ._advice import how_to_search

_SHOWN = (
    "output", "field", "model", "learned_from", "tf", "unit", "scale", "reduction",
    "postings_before", "postings", "terms_before", "terms", "documents_without_terms",
    "deleted_left_out", "bytes_before", "bytes",
)  # fmt: skip
_DROPPED, _WRITTEN = "What is dropped", "What is written"


@options.command("prune")
@options.shards_option
@options.values_or_prior_option
@options.output_option
@options.option(
    "--reduction",
    type=float,
    metavar="SHARE",
    help="Drop this share of the field's postings, such as 0.45.  [default: the recommended one]",
)
@options.option(
    "--max-loss",
    type=float,
    metavar="SHARE",
    help="Take the largest validated reduction that loses at most this share of nDCG@5 on held-out "
    "queries, such as 0.01. Judged by the worse end of the 95 % interval. Excludes --reduction.",
)
@options.option(
    "--max-bytes",
    metavar="SIZE",
    help="Take the smallest reduction whose index, with its manifest, fits into SIZE, such as "
    "25MB. Excludes --reduction.",
)
@options.option(
    "--scale",
    default="auto",
    show_default=True,
    metavar="auto|NUMBER",
    group=_WRITTEN,
    help="Multiply frequencies by this before rounding: round(scale * tf * boost * TDV), at least "
    "1.",
)
@options.option(
    "--tf",
    type=click.Choice(["scaled", "original"]),
    default="scaled",
    show_default=True,
    help="scaled: store frequencies weighted by TDVs.  original: only drop postings; keep "
    "frequencies and positions.",
)
@options.option(
    "--unit",
    type=click.Choice(["term", "posting"]),
    group=_DROPPED,
    help="term: drop whole terms only.  posting: also drop the postings that add least to a "
    "score.  [default: the recommended one]",
)
@options.option(
    "--min-doc-freq",
    type=int,
    default=1,
    show_default=True,
    metavar="DOCUMENTS",
    group=_DROPPED,
    help="Also drop terms that are in fewer documents. 2 makes the dictionary much smaller, but "
    "documents matched only by such terms are no longer found.",
)
@options.option(
    "--field",
    default="contents",
    show_default=True,
    help="Prune this field. With --tdv, the TDVs name it.",
)
@options.option(
    "--save-values",
    metavar="FOLDER",
    group=_WRITTEN,
    help="Save the prior's TDVs for 'explain' and 'compare'. Excludes --tdv.",
)
@options.option(
    "--optimize",
    is_flag=True,
    group=_WRITTEN,
    help="Merge into one segment.  [default: as many as the source]",
)
@options.search_as_option
@options.scheduler_option
@options.threads_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, values: tuple[str, ...], **arguments: Any) -> None:
    """Write a smaller index; the source is only read.

    Uses the TDVs from 'learn'. Without --tdv, uses the built-in prior, learned on other judged
    collections.
    """
    from ..pruning.prune import prune_index

    folders = options.folders_of_fields(values)
    report = options.run(prune_index, **folders, **arguments)
    if as_json:
        options.show(report, as_json)
        return
    for field in (report, *report.get("fields", {}).values()):
        shown = {name: field[name] for name in _SHOWN if name in field}
        if not shown.get("deleted_left_out"):
            shown.pop("deleted_left_out", None)
        options.show({**shown, "reduction": options.percent(field["reduction"])}, as_json)
    if "chosen" not in report and arguments["reduction"] is None:
        share = options.percent(report["requested_reduction"])
        click.echo(f"\nUsed the recommended reduction: {share} (pass --reduction for another)")
    if "loss" in report.get("chosen", {}):
        click.echo(_validated(report["chosen"]))
    if report["fidelity"]:
        click.echo(_fidelity(report["fidelity"]))
    click.echo(how_to_search(report))


def _validated(chosen: dict[str, Any]) -> str:
    figures = ", ".join(
        f"{name} {value:.4f} (full {chosen['full'][name]:.4f})"
        for name, value in chosen["measures"].items()
        if name in chosen["full"]
    )
    loss = chosen["loss"]
    found = f"loses {options.percent(loss)} of nDCG@5"
    if loss <= 0:
        found = f"loses no nDCG@5 (+{options.percent(-loss)})"
    found += f", at most {options.percent(max(0, chosen['loss_at_most']))} (95 % interval)"
    return (
        f"\nReduction {options.percent(chosen['reduction'])} is the largest within "
        f"{options.percent(chosen['max_loss'])}. "
        f"It {found}. On held-out queries: {figures}"
    )


def _fidelity(measured: dict[str, float]) -> str:
    return (
        "\nRounded against unrounded frequencies, as learned: top-10 overlap "
        f"{measured['overlap_at_10']:.3f}, RBO {measured['rbo_at_10']:.3f}. Posting lists: about "
        f"{options.megabytes(measured['posting_bytes'])} MB"
    )
