"""Commands that write an index: prune, tune, update, verify; and advice on searching it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from ..errors import TdvError
from ..pruning.config import PruneConfig, UpdateConfig, VerifyConfig
from ..ranking import DEFAULT_MODEL, MODELS, NAMED_DEFAULTS, RankingFunction, ranking_function
from ..searching.config import TuneConfig
from . import common as options
from .common import percent

_AS_ASKED = 0.01  # thresholds are those of whole per cents
_FACTS = (
    "field", "model", "learned_from", "tf", "unit", "scale", "reduction", "postings_before",
    "postings", "terms_before", "terms", "documents_without_terms",
)  # fmt: skip


@options.command("prune", config=PruneConfig)
@options.shards_option
@options.option(
    "--tdv", "values", multiple=True, metavar="[FIELD=]FOLDER",
    help="Use TDVs from 'learn' or 'peers'. Repeat to prune several fields; 'search' uses the "
    "first, unless --field names another.  [default: TDVs from the built-in prior]",
)  # fmt: skip
@options.output_option("the pruned index to this folder")
@options.scheduler_option
def prune(as_json: bool, values: tuple[str, ...], **arguments: Any) -> None:
    """Write a smaller index. Never changes the source.

    Drops the least useful postings (a posting records one term's occurrence in one document), and
    weights the frequencies of the others by TDVs from 'learn'. Without --tdv, uses the built-in
    prior, learned on other judged collections; a query log (--queries) can then choose how much to
    drop. The prior works best on an index with positions. Of shards, writes one folder each.
    """
    from ..pruning.prune import prune_index

    first, *others = map(_folder_of_field, values or [None])
    report = options.run(prune_index, values=first, others=others, **arguments)
    options.show(report if as_json else _shown(report), as_json)
    if as_json:
        return
    for field in report["fields"].values():
        options.show(_of_field(field), as_json)
    options.show_network(report)
    chosen = report["chosen"]
    if arguments.get("tiers"):
        click.echo(said_of_tiers(report["tiers"]))
    elif chosen is None and arguments.get("reduction") is None:
        used = (
            "recommended reduction" if report["model"] in MODELS else "default reduction of peers"
        )
        share = percent(report["requested_reduction"])
        click.echo(f"\nUsed the {used}: {share} (pass --reduction for another)")
    if chosen is not None and "log" in chosen:
        click.echo(f"\n{said_of_log(chosen)}")
    elif chosen is not None and "loss" in chosen:
        click.echo(_validated(chosen))
    elif report["learned_from"].endswith("no judgements") and not arguments.get("tiers"):
        click.echo(
            "\nWhether ranking improves depends on what your users ask, which no index shows.\n"
            "To find out, pass a query log (--queries), or run 'learn' with judged queries."
        )
    if arguments.get("tiers"):
        click.echo(
            "\n'tdv-lucene search' and tdv_lucene.open_searcher use both tiers. Other programs "
            "search the whole field."
        )
    click.echo(how_to_search(report))
    if report["tf"] == "scaled":
        click.echo("It has no positions: phrase queries find nothing (--tf original keeps them).")
    if report["other_fields"]:
        click.echo()
        options.say(
            f"Queries over {' and '.join([report['field'], *report['other_fields']])} need the "
            "weights of the fields to be chosen again."
        )


def _folder_of_field(given: str | None) -> str | None:
    """Return the folder of FIELD=FOLDER after checking its field, or of FOLDER."""
    from ..values.term_values import TermValues

    field, separator, folder = (given or "").partition("=")
    if given is None or not separator or Path(given).exists():
        return given
    found = TermValues.load(folder).vocabulary.field
    if found != field:
        raise TdvError(
            f"--tdv {given}: {folder} holds TDVs of '{found}', not of '{field}': pass "
            f"{found}={folder}, or TDVs learned with --field {field}"
        )
    return folder


def _shown(report: dict[str, Any]) -> dict[str, Any]:
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


def _of_field(field: dict[str, Any]) -> dict[str, Any]:
    facts = {name: field[name] for name in _FACTS
             if field["terms"] is not None or not name.startswith("terms")}  # fmt: skip
    dropped, asked = field["reduction"], field["requested_reduction"]
    facts["reduction"] = percent(dropped)
    # It differs where the index has changed since learning, or --min-doc-freq drops more.
    if abs(dropped - asked) >= _AS_ASKED:
        facts["reduction"] += f" ({percent(asked)} asked for)"
    return facts


def _validated(chosen: Mapping[str, Any]) -> str:
    figures = ", ".join(
        f"{name} {value:.4f} (full-tuned {chosen['full'][name]:.4f})"
        for name, value in chosen["measures"].items()
        if name in chosen["full"]
    )
    loss, measure = chosen["loss"], chosen["measure"]
    found = f"loses {percent(loss)} of {measure}"
    if loss <= 0:
        found = f"loses no {measure} (+{percent(-loss)})"
    return (
        f"\nReduction {percent(chosen['reduction'])} is the largest within "
        f"{percent(chosen['max_loss'])}. It {found}, at most "
        f"{percent(max(0, chosen['loss_at_most']))} (95 % interval). "
        f"Cross-validated: {figures}"
    )


@options.command("tune", config=TuneConfig)
@options.shards_option
@options.option("--topics", metavar="TOPICS", help=options.TOPICS_HELP)
@options.option("--qrels", metavar="QRELS", help=options.QRELS_HELP)
@options.output_option("the index to this folder")
@options.scheduler_option
def tune(as_json: bool, **arguments: Any) -> None:
    """Copy an index so that default BM25 ranks as with tuned k1 and b. Drops nothing.

    Only norms change. Frequencies, positions and stored fields stay as they are. Tunes on --topics
    and --qrels. Without them, uses the parameters of the built-in prior, learned on other judged
    collections.
    """
    from ..searching.tune import tune_index

    report = options.run(tune_index, **arguments)
    if as_json:
        options.show(report, as_json)
        return
    shown = {
        "output": report["output"],
        "field": report["field"],
        "learned_from": report["learned_from"],
        "documents_with_terms": report["documents_with_terms"],
        "bytes_before": report["bytes_before"],
        "bytes": report["bytes"],
    }
    tuned = report["baked"] or {}
    options.show({**shown, **{f"tuned {name}": value for name, value in tuned.items()}}, as_json)
    if tuned and all(report["search"][name] == value for name, value in tuned.items()):
        click.echo("These are what searchers take by default: the copy ranks as its source.")
    options.show_network(report)
    click.echo(how_to_search(report))


@options.command("verify", config=VerifyConfig)
@options.shards_option
@options.scheduler_option
@options.pruned_option("Check this index, which 'prune' wrote from --index.")
def verify(as_json: bool, **arguments: Any) -> None:
    """Check a pruned index against its source, posting by posting.

    The pruned index holds the plan by which it was pruned. If they differ, prints the first
    difference and exits with status 1.
    """
    from ..pruning.verify import verify_pruned

    found = options.run(verify_pruned, **arguments)
    if as_json:
        options.show(found, as_json)
    elif found["equal"]:
        options.say(
            f"{arguments['pruned']} equals {arguments['index']}, pruned as recorded: "
            f"{found['postings']:,} postings in {found['documents']:,} documents were compared."
        )
    else:  # how far it came says nothing
        options.say(f"{arguments['pruned']} differs from {arguments['index']}, pruned as recorded:")
        options.show(found["difference"], as_json)
    if not found["equal"]:
        sys.exit(1)


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
def update(as_json: bool, watch: bool, **arguments: Any) -> None:
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
    if as_json:
        options.show(report, as_json)
    elif "refused" in report:
        options.show({"updated": f"no: {report['refused']}"}, as_json)
    else:
        why = "the drift is too much" if report["exceeded"] else "the source has no new commit"
        shown = {"updated": report["updated"] or f"no, {why}"}
        if report["updated"]:
            dropped = percent(report["reduction"])
            asked = percent(report["requested_reduction"] or 0)
            shown |= {name: report[name] for name in _COUNTS}
            if report["segments_foreign"]:
                shown["segments_foreign"] = f"{report['segments_foreign']:,} of those dropped"
            if report["segments_dropped"]:  # what was deleted there is just not written again
                shown["deletions"] = f"{report['deletions']:,} in segments that stayed"
            shown |= {"dropped": f"{dropped} of the postings ({asked} asked for)"}
        drift = report["drift"]
        shown |= {
            "documents": f"{drift['documents']:,} ({drift['documents_learned']:,} at learning)",
            "mean_length": f"{drift['mean_length']:.1f} ({drift['mean_length_learned']:.1f})",
            "moved": f"{percent(drift['moved'])} of the postings, to other terms",
            "unseen_terms": f"{drift['unseen_terms']:,}, with "
            f"{percent(drift['unseen_postings'])} of the postings",
        }
        options.show(shown, as_json)
        if drift["is_due"]:
            click.echo("\nThe index has changed much since learning: learn and prune again.")
    sys.stdout.flush()


def how_to_search(report: dict[str, Any]) -> str:
    """Return how other programs must search it: with the model that was validated."""
    model, search = report["model"], report["search"]
    if report["norm_kind"] == "accurate":
        told = (
            "\nIts norms are exact lengths (-bm25.accurate), which most searchers misread as "
            "bytes. Search it with 'tdv-lucene search' or tdv_lucene.open_searcher(...)"
        )
        if model in MODELS and model != DEFAULT_MODEL:
            return f"{told}."
        k1, b = search["k1"], search["b"]
        return f"{told},\nor with Anserini's -bm25.accurate -bm25.k1 {k1:g} -bm25.b {b:g}."
    if model not in MODELS:  # any will do
        functions = map(ranking_function, MODELS)
        return _to_be_told([each for each in functions if not each.of_weights], search)
    function = ranking_function(model)
    if function.flags(search) is None:
        return (
            "\nSearch it with 'tdv-lucene search', which reads this from the index, or with "
            "tdv_lucene.open_searcher(...)."
        )
    told = ", ".join(f"{name} {search[name]:g}" for name in function.parameters)
    for searcher, defaults in NAMED_DEFAULTS.items():
        if all(search[name] == defaults[name] for name in function.parameters):
            return (
                f"\nSearch it like any other index: {function.title} with {searcher.title()}'s "
                f"default parameters ({told}) ranks as learned.{_beyond(report)}"
            )
    if report["baked"] is not None:
        return f"\nSearch it with {function.title}, {told}.{_beyond(report)}"
    return _to_be_told([function], search)


def said_of_log(chosen: Mapping[str, Any]) -> str:
    """Tell what a log's queries return after the reduction that was chosen by it."""
    log, kept, most = chosen["log"], chosen["kept"], chosen["loss_at_most"]
    dropped = "Drops nothing, but rounds frequencies: no larger reduction is within"
    if chosen["reduction"] > 0:
        dropped = f"Drops {percent(chosen['reduction'])} of the postings: the most within"
    elif most > chosen["max_loss"]:
        dropped = "Drops nothing, but rounds frequencies: not even that is within"
    return (
        f"{dropped} {percent(chosen['max_loss'])}.\n"
        f"By {log['queries']:,} queries of the log that have answers, against the same weights "
        f"unrounded and nothing dropped: nDCG@5 falls by at most {percent(max(0, most))} if the "
        "first answer there is a query's only relevant document (95 % interval).\n"
        f"Of the ten best answers there {percent(kept['10'])} are among the first ten, "
        f"{percent(kept['100'])} among the first 100, {percent(kept['1000'])} among the first "
        "1,000. Only judgements tell which changes are losses."
        + ("" if chosen["reduction"] > 0 else " Two tiers (--tiers) may keep them all.")
    )


_LEAST_SAVED = 0.2
"""The share of the time that two tiers must save, by estimate, to be told without a warning."""


def said_of_tiers(tiers: Mapping[str, Any] | None) -> str:
    """Tell what two tiers return of the whole field's answers, if a log was asked."""
    if tiers is None:
        return (
            "\nHow much of the whole field's answers both tiers return was not measured: pass a "
            "query log (--queries)."
        )
    low, high = (percent(bound) for bound in tiers["fidelity_ci95"])
    slower = "Two tiers will hardly be faster than that field alone."
    if tiers["saved"] <= 0:
        slower = "Two tiers will be slower than that field alone: there is too little to save here."
    advice = "" if tiers["saved"] > _LEAST_SAVED else f" {slower}"
    asked = ""
    if tiers["query_terms"] < 1:
        asked = (
            " It is asked for the heaviest terms of a query, which hold "
            f"{percent(tiers['query_terms'])} of its weight."
        )
    return (
        f"\nThe hot field drops {percent(tiers['reduction'])} of the postings; of the documents "
        f"that it finds the whole one ranks {tiers['ranked']:.0f} a query (margin "
        f"{tiers['margin']:g}, at most {tiers['depth']}).{asked}\n"
        f"Over {tiers['queries']:,} queries both return {percent(tiers['fidelity'])} of the whole "
        f"field's ten best documents ({low} to {high}, 95 % interval), and another first answer to "
        f"{percent(tiers['first_changed'])} of them.\n"
        f"A search stops at {tiers['visits']:,.0f} postings, in the whole field alone at "
        f"{tiers['visits_whole']:,.0f}.{advice}"
    )


def _to_be_told(functions: Iterable[RankingFunction], search: Mapping[str, float]) -> str:
    """Return the flags of ranking functions for Pyserini and Anserini."""
    flags = [given for function in functions if (given := function.flags(search)) is not None]
    pyserini, anserini = ("    ".join(parts) for parts in zip(*flags))
    return (
        "\nPass these parameters at search ('tdv-lucene search' reads them from the index), and "
        f"the same to a similarity of Lucene:\n  Pyserini  {pyserini}\n  Anserini  {anserini}"
    )


def _beyond(report: dict[str, Any]) -> str:
    """Return a warning if documents are too short or too long for exact norms."""
    norms = report["norms"]
    if norms is None or not norms["beyond"]:
        return ""
    return (
        f"\n{norms['beyond']:,} documents are too short or too long for exact norms: their length "
        f"norm is off by {percent(norms['mean_off'])} on average and "
        f"{percent(norms['largest_off'])} at most. "
        + (
            "A larger --scale helps short documents, and takes more bytes."
            if report["tf"] == "scaled"
            else "For short documents pass --search-as K1,B with a smaller K1 (1 - B)."
        )
    )
