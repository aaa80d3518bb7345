"""Every number that the re-rankers and their training use, from their papers or for speed.

None was tuned on a collection that is reported. DRMM's learning rate and how long training goes on
were looked at on lisa and time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TdvError

POOLED = 10
"""Terms in a pooling window of DUET: a tenth of the document, as in its paper (100 of 1000)."""


@dataclass(frozen=True)
class NeuralConfig:
    """How a re-ranker is built and trained.

    Attributes
    ----------
    query_terms, doc_terms : int
        Terms read of a query and of a document; what is longer is cut. ``doc_terms`` is a multiple
        of ``POOLED``.
    gating : "idf" or "vector"
        What weighs DRMM's query terms.
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
        Adam's; None for 0.03 of DRMM, whose 160 numbers need larger steps, and 0.001 of others.
    max_epochs, patience : int
        Epochs at most, and epochs without a better training nDCG@5 before stopping.
    stop_depth, stop_every, stop_queries : int
        To measure that, the first stage's best ``stop_depth`` documents and every
        ``stop_every``th after them are re-ranked, for so many training queries (drawn once).
    """

    query_terms: int = 16
    doc_terms: int = 100
    gating: str = "idf"
    filters: int = 64
    units: int = 32
    depth: int = 1000
    pairs_per_step: int = 32
    pairs_per_epoch: int = 1024
    learning_rate: float | None = None
    max_epochs: int = 20
    patience: int = 5
    stop_depth: int = 20
    stop_every: int = 20
    stop_queries: int = 100

    def rate(self, name: str) -> float:
        """Adam's learning rate for the re-ranker ``name``."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 3e-2 if name == "drmm" else 1e-3

    def __post_init__(self) -> None:
        if self.doc_terms < POOLED or self.doc_terms % POOLED:
            raise TdvError(
                f"doc_terms must be a multiple of {POOLED}, got {self.doc_terms}: try 100"
            )
        if self.gating not in ("idf", "vector"):
            raise TdvError(f"no gating '{self.gating}': choose one of idf, vector")
