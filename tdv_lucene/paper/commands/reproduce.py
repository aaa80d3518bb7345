"""``tdv-lucene paper reproduce``."""

from __future__ import annotations

import json
from typing import Any

import click

from ...cli import _options as options
from ._options import rerank_depth_option

_COLLECTIONS = (
    "ap88-89", "la", "ft91-94", "wiki165k", "cranfield", "vaswani", "cisi", "other",
)  # fmt: skip
_NEURAL = ("drmm", "duet", "conv-knrm")
_TRAINING = "Training and test"


def _rankers(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    names = _NEURAL if given == "all" else tuple(given.split(","))
    for name in names:
        if name not in _NEURAL:
            raise click.BadParameter(
                f"no re-ranker '{name}': pass all, or any of {', '.join(_NEURAL)}"
            )
    return names


@options.command("reproduce")
@options.option(
    "--collection", required=True, type=click.Choice(_COLLECTIONS),
    help="Name the collection. The paper has results for the first three only.",
)  # fmt: skip
@options.index_option
@options.topics_option
@options.qrels_option
@options.output_option
@options.option(
    "--recipe", type=click.Choice(["paper", "default"]), default="paper", show_default=True,
    help="Choose how TDVs are learned.",
)  # fmt: skip
@options.option(
    "--model",
    "models",
    multiple=True,
    help="Ranking function: tfidf, qld or bm25. Repeat for several.  [default: all]",
)
@options.option(
    "--reduction",
    type=float,
    metavar="SHARE",
    help="Drop this share of postings.  [default: the terms with a TDV of 0; 0.45 with --recipe "
    "default]",
)
@options.option(
    "--neural", callback=_rankers, metavar="NAMES",
    help="Also train these re-rankers and measure them on BM25's run: drmm,duet,conv-knrm, or all.",
)  # fmt: skip
@rerank_depth_option
@options.option(
    "--train-topics", metavar="TOPICS", group=_TRAINING,
    help="Learn from these topics and measure on --topics, without cross-validation.",
)  # fmt: skip
@options.option(
    "--train-qrels", metavar="QRELS", group=_TRAINING, help="Judgements of --train-topics."
)
@options.option(
    "--folds", default=5, show_default=True, group=_TRAINING, help="Cross-validate in folds."
)
@options.field_option
@options.option(
    "--latency-budget", "latency_budget_seconds", default=10.0, show_default=True,
    metavar="SECONDS", group="Timing",
    help="Limit the time for measuring latency, per model and fold.",
)  # fmt: skip
@options.option(
    "--seed", default=0, show_default=True, group=_TRAINING,
    help="Set the random seed of the folds and of learning.",
)  # fmt: skip
@options.overwrite_option
@options.json_option
def command(as_json: bool, models: tuple[str, ...], **arguments: Any) -> None:
    """Run the experiment and print Tables 1 to 3 of the paper beside the published values.

    The index must hold the collection's documents (for TREC SGML, made by 'index --collection
    TrecCollection'). Uses only the paper's topics, and only judgements of documents in the index.
    --neural needs positions or stored text in the index, and the extra 'neural'.
    """
    from ..reproduce import reproduce_paper

    if models:
        arguments["models"] = models
    report = options.run(reproduce_paper, **arguments)
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False))
        return
    from ..tables import paper_tables

    options.show_tables(paper_tables(report))
