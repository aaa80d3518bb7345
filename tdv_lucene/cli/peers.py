"""``tdv-lucene peers``."""

from __future__ import annotations

import click

from . import _options as options

_NAMES = (
    "df", "ridf", "random", "stopwords", "carmel-uniform", "carmel-delta", "carmel-epsilon",
)  # fmt: skip


@options.command("peers")
@options.index_option
@click.option("--name", type=click.Choice(_NAMES), required=True, help="Which peer.")
@options.output_option
@options.matrix_option
@options.seed_option
@options.field_option
@options.overwrite_option
@options.json_option
def command(as_json: bool, **arguments: object) -> None:
    """Make the TDVs of a peer: an unlearned pruning, to compare a learned one with.

    df drops the terms of most documents first, ridf those of the lowest residual idf, random any
    terms, stopwords a longer and longer stop list. carmel-* drop single postings, by their BM25
    score (uniform), or by its share of the best (delta) or tenth best (epsilon) score of their
    list.

    All TDVs are 1. 'prune' takes the folder like one from 'learn'; 'prune --tf original' keeps
    positions.
    """
    from ..peers.unlearned import make_peer_values

    values = options.run(make_peer_values, **arguments)
    manifest = values.manifest
    shown = {
        "output": arguments["output"],
        "name": manifest["recipe"]["name"],
        "about": manifest["recipe"]["about"],
        "field": manifest["field"],
        "terms": len(values.vocabulary),
        "postings": int(values.doc_freq.sum()),
    }
    options.show(shown, as_json)
