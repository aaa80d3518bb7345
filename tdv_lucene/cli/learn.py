"""``tdv-lucene learn``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from . import _options as options

_UNMOVED = 1e-4  # of TDVs in the mean: rounding
_CHOSEN = "[default: {}, or what serves the training queries clearly better]"


@options.command("learn")
@options.shards_option
@options.scheduler_option
@click.option("--topics", metavar="TOPICS", help=options.TOPICS_HELP)
@click.option("--qrels", metavar="QRELS", help=options.QRELS_HELP)
@options.topic_field_option
@click.option(
    "--self-supervised",
    type=click.Choice(["auto", "titles", "pairs"]),
    is_flag=False,
    flag_value="auto",
    help="Without --topics and --qrels: make topics from the index, of titles where it stores "
    "text, else of pairs of terms. Worth less than judged queries, and may lose against no "
    "learning at all: compare before use.",
)
@click.option(
    "--no-judgements",
    is_flag=True,
    help="Without --topics and --qrels: write what judged collections say of this one, as 'prune' "
    "takes it without --tdv.",
)
@options.output_option
@options.model_option
@click.option(
    "--recipe",
    type=click.Choice(["default", "paper"]),
    default="default",
    show_default=True,
    help="How to learn.",
)
@click.option(
    "--vectors",
    metavar="PATH",
    help="A file of fastText, word2vec or NumPy (see 'embed --help'), or a folder from 'embed'.  "
    "[default: LSA]",
)
@options.trust_pickle_option
@options.matrix_option
@click.option(
    "--prior/--no-prior",
    default=True,
    show_default=True,
    help="Start from what other judged collections say of this one.",
)
@click.option(
    "--lead/--no-lead",
    default=True,
    show_default=True,
    help="Let terms count for more where they stand early in a document, if the index has "
    "positions.",
)
@click.option(
    "--values/--no-values",
    "term_values",
    default=True,
    show_default=True,
    help="Learn what terms are worth. Without, all are worth the same, and only places, postings "
    "and the search's parameters are left: for queries of other kinds than those at hand.",
)
@options.seed_option
@click.option("--k1", type=float, help=f"BM25's k1 at search.  {_CHOSEN.format(0.9)}")
@click.option("--b", type=float, help=f"BM25's b at search.  {_CHOSEN.format(0.4)}")
@click.option("--mu", type=float, help=f"QLD's mu at search.  {_CHOSEN.format(1000)}")
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the measures over what is removed, as FILE.svg or FILE.png.",
)
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: Any) -> None:
    """Learn discrimination values of an index's terms from judged queries.

    Prints, for each share of the postings that may be removed, what that costs or gains on
    queries held out of the training.
    """
    from ..learning.config import LearnConfig
    from ..learning.from_index import learn_from_index

    config = options.config_of(LearnConfig, arguments)
    values = options.run(learn_from_index, config=config, **arguments)
    if config.no_judgements and not as_json:
        options.show({"output": arguments["output"], **values.parameters}, as_json)
        return
    if as_json:
        options.show({"output": arguments["output"], **values.summary()}, as_json=True)
        return
    print_points(values)


def print_points(values: object) -> None:
    """Print the table of operating points, and what the search needs to know."""
    from ..report.table import Table

    if made := values.manifest.get("self_supervised"):
        what = f"{made['topics']:,} {made['method']} of the index itself"
        title = f"SELF-SUPERVISED: on {what}, which say little of real queries"
    else:
        title = "On held-out queries, as the pruned index would answer them"
    points, full = values.points, values.manifest["full"]
    recommended = values.manifest["recommended_reduction"]
    rows = [("full", _size(full), f"{full['visited']:,.0f}", "", *_measured(points[0]["full"]))]
    for point in points:
        mark = " *" if point["reduction"] == recommended else ""
        rows.append(
            (
                f"{point['removed']:.0%}{mark}",
                _size(point),
                f"{point['visited']:,.0f}",
                f"{point['scale']:g}",
                *_measured(point["measures"], point["difference"]),
            )
        )
    measured = ("nDCG@5", "- full", "R@1000", "- full")
    headings = ("postings removed", "MB", "visited", "scale", *measured)
    options.show_tables([Table(title, headings, rows, texts=())])
    whole = "the index, foreseen" if "index_bytes" in full else "posting lists, estimated"
    options.say(f"MB: {whole}; visited: postings in the lists of a query's terms, on average")
    options.say(
        "- full: difference from the full index with its own best parameters, 95 % interval"
    )
    names = {"bm25": ("k1", "b"), "qld": ("mu",)}.get(values.manifest["model"], ())
    if names:
        pruned, tuned = (
            ", ".join(f"{name} {of[name]:g}" for name in names)
            for of in (values.parameters, full["parameters"])
        )
        options.say(f"Searched with {pruned}; the full index with {tuned}")
    if values.position_boost is not None:
        first = 1 + values.position_boost.boost
        options.say(
            f"Terms count x{first:g} at a document's beginning, a quarter of the surplus from "
            f"position {values.position_boost.span:g}"
        )
    elif values.manifest["recipe"].get("lead") and not values.manifest.get("positions"):
        options.say(
            "Learned without positions: from an index made with -storePositions, terms count for "
            "more where they stand early, which helps rankings"
        )
    if prior := values.manifest.get("prior"):
        options.say(_moved(prior, values))
    if recommended is None:
        options.say(
            "No reduction is recommended, for none surely loses nothing: 'tdv-lucene prune' needs "
            "--reduction, --max-loss or --max-bytes; more judged queries tell more"
        )
    else:
        options.say(
            "* recommended: the smallest that surely loses no nDCG@5, and not surely R@1000; "
            "'tdv-lucene prune' takes it without --reduction"
        )


def _size(of: Mapping[str, Any]) -> str:
    return options.megabytes(of.get("index_bytes", of["posting_bytes"]))


def _measured(
    measures: Mapping[str, float], differences: Mapping[str, Any] | None = None
) -> list[str]:
    """The cells of the two measures and, where there are any, their differences."""
    cells = []
    for name in ("nDCG@5", "R@1000"):
        cells.append(f"{measures[name]:.4f}")
        if differences is not None:
            of, (low, high) = differences[name], differences[name]["ci95"]
            cells.append(f"{of['mean']:+.3f} ({low:+.3f} {high:+.3f})")
        else:
            cells.append("")
    return cells


def _moved(prior: dict[str, Any], values: Any) -> str:
    """How far learning left the prior, and what that was worth."""
    names = {"bm25": ("k1", "b"), "qld": ("mu",)}.get(values.manifest["model"], ())
    changes = [
        f"{name} {prior['parameters'][name]:g} -> {values.parameters[name]:g}"
        for name in names
        if prior["parameters"][name] != values.parameters[name]
    ]
    if prior["lead"] != values.manifest["lead"]:
        changes.append("the surplus of first positions")
    if prior["values"] > _UNMOVED:
        changes.append(f"TDVs by {prior['values']:.2f} in the mean")
    if not changes:
        name = prior["name"]
        return f"Nothing serves these queries clearly better than the prior {name}: it stays"
    gain, interval = prior["gain"]["mean"], prior["gain"]["interval"]
    between = (
        "" if interval is None else f" (95 % interval {interval[0]:+.4f} to {interval[1]:+.4f})"
    )
    return (
        f"From the prior {prior['name']}: {', '.join(changes)}; over it, held-out queries gain "
        f"{gain:+.4f} of {prior['gain']['measure']}{between}"
    )
