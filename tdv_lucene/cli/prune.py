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
from ._advice import UNKNOWN, how_to_search, said_of_log

_AS_ASKED = 0.01  # thresholds are those of whole per cents


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

    folders = options.folders_of_fields(values)
    report = options.run(prune_index, **folders, **arguments)
    if as_json:
        options.show(report, as_json)
        return
    options.show(_shown(report), as_json)
    for field in report["fields"].values():
        options.show(_of_field(field), as_json)
    chosen = report["chosen"]
    if chosen is None and arguments.get("reduction") is None:
        share = options.percent(report["requested_reduction"])
        is_peers = report["model"] not in MODELS
        used = "default reduction of peers" if is_peers else "recommended reduction"
        click.echo(f"\nUsed the {used}: {share} (pass --reduction for another)")
    if chosen is not None and "log" in chosen:
        click.echo(f"\n{said_of_log(chosen)}")
    elif chosen is not None and "loss" in chosen:
        click.echo(_validated(chosen))
    elif report["learned_from"].endswith("no judgements"):
        click.echo(UNKNOWN)
    if report["fidelity"]:
        click.echo(_fidelity(report["model"], report["fidelity"]))
    click.echo(how_to_search(report))


def _shown(report: PruneReport) -> dict[str, Any]:
    """The index, and its first field."""
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
    terms = {"terms_before": field["terms_before"], "terms": field["terms"]}
    return {
        "field": field["field"],
        "model": field["model"],
        "learned_from": field["learned_from"],
        "tf": field["tf"],
        "unit": field["unit"],
        "scale": field["scale"],
        "reduction": _reduction(field),
        "postings_before": field["postings_before"],
        "postings": field["postings"],
        **(terms if field["terms"] is not None else {}),
        "documents_without_terms": field["documents_without_terms"],
    }


def _reduction(field: FieldReport) -> str:
    """What was dropped, and where that is another share than was asked for: of an index that has
    changed since learning, of few postings, and by --min-doc-freq."""
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
    found += f", at most {options.percent(max(0, chosen['loss_at_most']))} (95 % interval)"
    return (
        f"\nReduction {options.percent(chosen['reduction'])} is the largest within "
        f"{options.percent(chosen['max_loss'])}. "
        f"It {found}. Cross-validated: {figures}"
    )


def _fidelity(model: str, measured: dict[str, float]) -> str:
    """What rounding does. Where the scale is chosen by how it ranks, no agreement is wanted."""
    agreement = f"top-10 overlap {measured['overlap_at_10']:.3f}, RBO {measured['rbo_at_10']:.3f}"
    lists = f"Posting lists: about {options.megabytes(measured['posting_bytes'])} MB"
    if model in MODELS and constants_of(model).scale_ranks:
        return (
            f"\nFor {ranking_function(model).title} the scale is chosen by how well it ranks, not "
            f"to agree with unrounded frequencies ({agreement}). What 'learn' printed was measured "
            f"with this rounding. {lists}"
        )
    return f"\nRounded against unrounded frequencies, as learned: {agreement}. {lists}"
