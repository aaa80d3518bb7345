"""``tdv-lucene learn``."""

from __future__ import annotations

from typing import Any

import click

from . import _options as options

_CHOSEN = "[default: {}, or what serves the training queries clearly better]"


@click.command("learn")
@options.index_option
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
    from ..learning.learn import learn_from_index

    config = options.config_of(LearnConfig, arguments)
    values = options.run(learn_from_index, config=config, **arguments)
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
    points, recommended = values.points, values.manifest["recommended_reduction"]
    rows = []
    for point in points:
        mark = " *" if point["reduction"] == recommended else ""
        measures, full = point["measures"], point["full"]
        figures = [m[name] for name in ("nDCG@5", "R@1000") for m in (measures, full)]
        rows.append(
            (
                f"{point['removed']:.0%}{mark}",
                options.megabytes(point["posting_bytes"]),
                f"{point['scale']:g}",
                *[f"{x:.4f}" for x in figures],
            )
        )
    headings = ("postings removed", "MB", "scale", "nDCG@5", "full", "R@1000", "full")
    options.show_tables([Table(title, headings, rows, texts=())])
    full_size = options.megabytes(points[0]["full_posting_bytes"])
    options.say(f"MB: estimated posting lists; those of the full index {full_size}")
    names = {"bm25": ("k1", "b"), "qld": ("mu",)}.get(values.manifest["model"], ())
    if names:
        used = ", ".join(f"{name} {values.parameters[name]:g}" for name in names)
        options.say(f"Both searched with {used}")
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
    if recommended is None:
        options.say(
            "No reduction is recommended: 'tdv-lucene prune' needs --reduction, --max-loss or "
            "--max-bytes"
        )
    else:
        options.say("* recommended: 'tdv-lucene prune' takes it without --reduction")
