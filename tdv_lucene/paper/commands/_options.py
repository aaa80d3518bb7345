"""Options that several of the experiment's commands have."""

from __future__ import annotations

from ...cli._command import option

tokens_matrix_option = option(
    "--matrix",
    metavar="FOLDER",
    help="Use a matrix from 'extract --tokens'.  [default: extract a temporary one]",
)
rerank_depth_option = option(
    "--rerank-depth",
    default=1000,
    show_default=True,
    group="Neural re-rankers",
    help="Re-rank this many documents per query. The others follow in their order.",
)
