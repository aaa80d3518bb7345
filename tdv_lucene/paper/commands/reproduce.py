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


def _rankers(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    names = _NEURAL if given == "all" else tuple(given.split(","))
    for name in names:
        if name not in _NEURAL:
            raise click.BadParameter(f"no re-ranker '{name}': all, or of {', '.join(_NEURAL)}")
    return names


@options.command("reproduce")
@click.option(
    "--collection", required=True, type=click.Choice(_COLLECTIONS),
    help="Which of the paper's collections it is; nothing is published of those from wiki165k on.",
)  # fmt: skip
@options.index_option
@options.topics_option
@options.qrels_option
@options.output_option
@click.option(
    "--recipe", type=click.Choice(["paper", "default"]), default="paper", show_default=True,
    help="How TDVs are learned.",
)  # fmt: skip
@click.option(
    "--model", "models", multiple=True, help="tfidf, qld or bm25; can be repeated.  [default: all]"
)
@click.option(
    "--reduction",
    type=float,
    help="Share of postings to drop.  [default: 0.45; with the paper's recipe, the terms with a "
    "TDV of 0]",
)
@click.option(
    "--neural", callback=_rankers, metavar="NAMES",
    help="Also train and measure these re-rankers of BM25's run: drmm,duet,conv-knrm, or all.",
)  # fmt: skip
@rerank_depth_option
@click.option("--train-topics", metavar="TOPICS", help="Learn from these, and measure --topics.")
@click.option("--train-qrels", metavar="QRELS", help="Judgements of --train-topics.")
@click.option("--folds", default=5, show_default=True, help="Folds of the cross-validation.")
@options.field_option
@click.option(
    "--latency-budget", "latency_budget_seconds", default=10.0, show_default=True,
    help="Seconds for measuring latency, for each model and fold.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of the folds and of learning.")
@options.overwrite_option
@options.json_option
def command(as_json: bool, models: tuple[str, ...], **arguments: Any) -> None:
    """Run the paper's experiment and print its Tables 1 to 3 beside the published values.

    INDEX must hold the collection's documents (for TREC SGML: index --collection TrecCollection).
    Only the paper's topics are used, and only judgements of documents in the index.
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
