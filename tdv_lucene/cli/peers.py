"""``tdv-lucene peers``."""

from __future__ import annotations

import click

from ..peers.config import PeersConfig
from . import _options as options

_NAMES = (
    "df", "ridf", "random", "stopwords", "carmel-uniform", "carmel-delta", "carmel-epsilon",
)  # fmt: skip


@options.command("peers", config=PeersConfig)
@options.index_option
@options.option("--name", type=click.Choice(_NAMES), required=True, help="Choose the peer.")
@options.output_option
def command(as_json: bool, **arguments: object) -> None:
    """Make the TDVs of a peer: an unlearned pruning to compare with.

    \b
    df              drops the most frequent terms first (by documents)
    ridf            drops the terms with the lowest residual idf first
    random          drops terms in random order
    stopwords       drops a stop list of growing length
    carmel-uniform  drops the postings with the lowest BM25 scores
    carmel-delta    the same, by share of the best score in the posting list
    carmel-epsilon  the same, by share of the tenth best score in the list

    All TDVs are 1. Pass the folder to 'prune --tdv'. Add --tf original to keep positions.
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
