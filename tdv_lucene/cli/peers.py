"""``tdv-lucene peers``."""

from __future__ import annotations

import click

from ..values.peers import PEERS, PeersConfig
from . import _options as options

_HELP = """Write the TDVs of a peer: a pruning method that learns nothing, to compare with.

\b
What each drops first:
{}

All TDVs are 1. Pass the folder to 'prune --tdv'. Add --tf original to keep positions.
"""


@options.command(
    "peers",
    config=PeersConfig,
    help=_HELP.format("\n".join(f"  {name:<15} {about}" for name, about in PEERS.items())),
)
@options.index_option
@options.option(
    "--name", type=click.Choice([*PEERS]), required=True, metavar="NAME", help="Choose the peer."
)
@options.output_option("the TDVs to this folder")
def command(as_json: bool, **arguments: object) -> None:
    from ..values.peers import make_peer_values

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
