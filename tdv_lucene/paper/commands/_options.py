"""Options that several of the experiment's commands have."""

from __future__ import annotations

import click

tokens_matrix_option = click.option(
    "--matrix", metavar="FOLDER", help="From 'extract --tokens'; without it extracted on the way."
)
rerank_depth_option = click.option(
    "--rerank-depth",
    default=1000,
    show_default=True,
    help="Documents of a query that are re-ranked; the others follow.",
)
