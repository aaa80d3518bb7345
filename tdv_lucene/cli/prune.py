"""``tdv-lucene prune``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ..pruning.config import PruneConfig
from ..pruning.reports import FieldReport, PruneReport
from ..ranking import MODELS, ranking_function
from ..values.posting_rule import constants_of
from . import _options as options
from ._advice import UNKNOWN, how_to_search, said_of_log, said_of_tiers

_AS_ASKED = 0.01  # thresholds are those of whole per cents
_FACTS = (
    "field", "model", "learned_from", "tf", "unit", "scale", "reduction", "postings_before",
    "postings", "terms_before", "terms", "documents_without_terms",
)  # fmt: skip


@options.command("prune", config=PruneConfig)
@options.shards_option
@options.values_or_prior_option(
    "Use TDVs from 'learn' or 'peers'. Repeat to prune several fields; 'search' uses the first, "
    "unless --field names another.  [default: TDVs from the built-in prior]"
)
@options.output_option("the pruned index to this folder")
@options.scheduler_option
def command(as_json: bool, values: tuple[str, ...], **arguments: Any) -> None:
    """Write a smaller index. Never changes the source.

    Drops the least useful postings (a posting records one term's occurrence in one document), and
    weights the frequencies of the others by TDVs from 'learn'. Without --tdv, uses the built-in
    prior, learned on other judged collections; a query log (--queries) can then choose how much to
    drop. The prior works best on an index with positions. Of shards, writes one folder each.
    """
    from ..pruning.prune import prune_index

    report = options.run(prune_index, **options.folders_of_fields(values), **arguments)
    options.show(report if as_json else _shown(report), as_json)
    if as_json:
        return
    for field in report["fields"].values():
        options.show(_of_field(field), as_json)
    chosen = report["chosen"]
    if arguments.get("tiers"):
        click.echo(said_of_tiers(report["tiers"]))
    elif chosen is None and arguments.get("reduction") is None:
        used = (
            "recommended reduction" if report["model"] in MODELS else "default reduction of peers"
        )
        share = options.percent(report["requested_reduction"])
        click.echo(f"\nUsed the {used}: {share} (pass --reduction for another)")
    if chosen is not None and "log" in chosen:
        click.echo(f"\n{said_of_log(chosen)}")
    elif chosen is not None and "loss" in chosen:
        click.echo(_validated(chosen))
    elif report["learned_from"].endswith("no judgements") and not arguments.get("tiers"):
        click.echo(UNKNOWN)
    if report["fidelity"]:
        click.echo(_fidelity(report["model"], report["fidelity"]))
    click.echo(how_to_search(report))


def _shown(report: PruneReport) -> dict[str, Any]:
    """Return the facts of the index and of its first field."""
    deleted = report["deleted_left_out"]
    return {
        "output": report["output"],
        "analysis": report["analysis"],
        **({"defaults": report["defaults"]} if report["defaults"] else {}),
        **_of_field(report),
        **({"deleted_left_out": deleted} if deleted else {}),
        "bytes_before": report["bytes_before"],
        "bytes": report["bytes"],
    }


def _of_field(field: FieldReport) -> dict[str, Any]:
    facts = dict(field)
    names = [*_FACTS]
    if field["terms"] is None:
        names = [name for name in names if not name.startswith("terms")]
    return {**{name: facts[name] for name in names}, "reduction": _reduction(field)}


def _reduction(field: FieldReport) -> str:
    """Return what was dropped, and the share asked for where that differs: the index has changed
    since learning, has few postings, or was pruned with --min-doc-freq."""
    dropped, asked = field["reduction"], field["requested_reduction"]
    told = options.percent(dropped)
    if abs(dropped - asked) < _AS_ASKED:
        return told
    return f"{told} ({options.percent(asked)} asked for)"


def _validated(chosen: Mapping[str, Any]) -> str:
    figures = ", ".join(
        f"{name} {value:.4f} (full-tuned {chosen['full'][name]:.4f})"
        for name, value in chosen["measures"].items()
        if name in chosen["full"]
    )
    loss, measure = chosen["loss"], chosen["measure"]
    found = f"loses {options.percent(loss)} of {measure}"
    if loss <= 0:
        found = f"loses no {measure} (+{options.percent(-loss)})"
    return (
        f"\nReduction {options.percent(chosen['reduction'])} is the largest within "
        f"{options.percent(chosen['max_loss'])}. It {found}, at most "
        f"{options.percent(max(0, chosen['loss_at_most']))} (95 % interval). "
        f"Cross-validated: {figures}"
    )


def _fidelity(model: str, measured: dict[str, float]) -> str:
    """Return how rankings with rounded frequencies agree with unrounded ones, and the size."""
    agreement = f"top-10 overlap {measured['overlap_at_10']:.3f}, RBO {measured['rbo_at_10']:.3f}"
    lists = f"Posting lists: about {options.megabytes(measured['posting_bytes'])} MB"
    if model in MODELS and constants_of(model).scale_ranks:
        return (
            f"\nFor {ranking_function(model).title} the scale is chosen by how well it ranks, not "
            f"to agree with unrounded frequencies ({agreement}). What 'learn' printed was measured "
            f"with this rounding. {lists}"
        )
    return f"\nRounded against unrounded frequencies, as learned: {agreement}. {lists}"
