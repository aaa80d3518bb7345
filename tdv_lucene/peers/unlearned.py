"""Peers: unlearned prunings, which a learned one has to beat at the same size.

:func:`unlearned_values` makes :class:`~tdv_lucene.TermValues` with TDVs of 1 and an order in which
terms or postings are dropped; ``prune`` takes them like learned ones.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import TdvError
from ..indexes.index import Index
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from ..ranking import ANY_MODEL, SearchParameters, ranking_function
from ..values.operating_point import REDUCTIONS
from ..values.posting_thresholds import make_posting_rule, rule_length_norm
from ..values.term_values import KIND, TermValues
from ..values.unvalidated import unvalidated_values
from .config import PeersConfig
from .orders import ORDERS, PEERS, POSTINGS

_OTHERS = ", ".join(name for name in PEERS if name not in POSTINGS or not POSTINGS[name].of_weights)


def unlearned_values(
    matrix: TermDocumentMatrix,
    name: str,
    *,
    parameters: SearchParameters | None = None,
    seed: int = 0,
) -> TermValues:
    """Return TDVs of 1 with the order of the peer ``name``, one of :data:`PEERS`.

    Nothing is validated: the points have no measures. Their scale is 1, which leaves frequencies
    as they are.

    Parameters
    ----------
    parameters
        k1, b and mu that the pruned index records for its search; None for Anserini's.
    seed
        For ``"random"``.

    Raises
    ------
    TdvError
        When there is no such peer.
    """
    if name not in PEERS:
        raise TdvError(f"no peer '{name}': choose one of {', '.join(PEERS)}")
    matrix.require_postings("a pruning")
    suits = matrix.searched_by(None)
    of_weights = ranking_function(suits).of_weights
    parameters = parameters or SearchParameters()
    weights = np.ones(matrix.shape[0], np.float32)
    rule = None
    if name in POSTINGS:  # no whole terms are dropped, and postings by factor times saturation
        order = POSTINGS[name]
        if order.of_weights and not of_weights:
            raise TdvError(f"the peer '{name}' is for impact indexes: choose another of {_OTHERS}")
        k1, b = order.of_weights or (parameters.k1, parameters.b)
        length_norm = rule_length_norm(matrix, k1, b).at(matrix.stored_lengths())
        rule = make_posting_rule(matrix, order.compute(matrix, length_norm), 0.0, k1=k1, b=b)
    priority = rule.priority if rule else ORDERS[name].compute(matrix, seed)
    return unvalidated_values(
        matrix, weights, priority, rule, reductions=REDUCTIONS, scale=1, recommended=0.45,
        model=suits if of_weights else ANY_MODEL, parameters=parameters,
        recipe={"name": name, "about": PEERS[name]}, seed=seed,
    )  # fmt: skip


def make_peer_values(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    name: str,
    config: PeersConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Write :func:`unlearned_values` of a Lucene index to the folder ``output``.

    Parameters
    ----------
    config, options
        A :class:`PeersConfig`, or its options by name, as ``seed=1``.

    Raises
    ------
    TdvError
        For anything a user can fix, before anything is written.
    """
    config = PeersConfig.of(config, options, name=name)
    place = Output(
        output, KIND, inputs=[index, config.matrix], overwrite=config.overwrite, made_by="peers"
    )
    parameters = SearchParameters().with_values(config.parameters)
    with Index.open(index) as opened:
        opened.require_prunable(config.field)
        with open_matrix(opened, config.matrix, field=config.field, progress=progress) as counts:
            values = unlearned_values(counts, name, parameters=parameters, seed=config.seed)
            values.save(place)
    return TermValues.load(output)
