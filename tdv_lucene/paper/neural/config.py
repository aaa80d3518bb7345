"""Every number that the re-rankers and their training use, from their papers or for speed.

None was tuned on a collection that is reported. Learning rates and how many terms of a query are
read were chosen on lisa and time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TdvError

POOLED = 10
"""Terms in a pooling window of DUET: a tenth of the document, as in its paper (100 of 1000)."""

RATES = {"drmm": 3e-2, "duet": 3e-3, "conv-knrm": 3e-3}
"""Learning rates, with the smallest mean held-out loss on lisa and time of .003, .01 and .03
(DRMM), .001 and .003 (DUET) and .001, .003 and .01 (Conv-KNRM)."""


@dataclass(frozen=True)
class NeuralConfig:
    """How a re-ranker is built and trained.

    Attributes
    ----------
    query_terms, doc_terms : int
        Terms read of a query and of a document; what is longer is cut. ``doc_terms`` is a multiple
        of ``POOLED``.
    filters : int
        Of Conv-KNRM's convolutions, for each length of n-gram: 128 in its paper, which learned from
        search logs.
    units : int
        DUET's convolutional filters and hidden units: 300 in its paper, which learned
        from very many judged queries.
    depth : int
        Documents of the first stage that non-relevant ones are drawn from.
    pairs_per_step : int
    learning_rate : float or None
        Adam's; None for that of :data:`RATES`.
    held_out : float
        Share of the training queries that are not learned from, and whose loss says when to stop.
    max_epochs, patience : int
        Epochs without a smaller loss before stopping. ``max_epochs`` is far beyond what training
        takes.
    """

    query_terms: int = 32
    doc_terms: int = 100
    filters: int = 64
    units: int = 32
    depth: int = 1000
    pairs_per_step: int = 32
    pairs_per_epoch: int = 1024
    learning_rate: float | None = None
    held_out: float = 0.2
    max_epochs: int = 200
    patience: int = 5

    def __post_init__(self) -> None:
        if self.doc_terms < POOLED or self.doc_terms % POOLED:
            raise TdvError(
                f"doc_terms must be a multiple of {POOLED}, got {self.doc_terms}: try 100"
            )
