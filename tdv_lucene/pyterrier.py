"""A pruned index as a PyTerrier transformer.

Imports PyTerrier, which this package does not install. PyTerrier's own Java is not started, and
must not run in the same process: pyterrier-anserini starts another.
"""

from __future__ import annotations

import os
from typing import Any

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as error:
    raise ImportError("tdv_lucene.pyterrier needs PyTerrier: pip install 'pyterrier>=1'") from error

from .searching.search import open_searcher


class Pruned(pt.Transformer):
    """Retriever on an index with the parameters it records.

    Parameters
    ----------
    index
        An index that ``prune`` or ``tune`` wrote, or any other (then with Anserini's parameters).
    k
        Documents per query.

    Examples
    --------
    ``Pruned("pruned") % 100 >> reranker``, ``pt.Experiment([Pruned("pruned")], ...)``.
    """

    def __init__(self, index: str | os.PathLike[str], k: int = 1000) -> None:
        super().__init__()
        self.index, self.k = index, k
        self._searcher = open_searcher(index)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the columns of ``inp`` with docno, rank (from 0) and score, a row per document."""
        rows: list[dict[str, Any]] = []
        for query in inp.to_dict("records"):
            hits = self._searcher.search(query["query"], k=self.k)
            rows += [
                {**query, "docno": hit.docid, "rank": rank, "score": hit.score}
                for rank, hit in enumerate(hits)
            ]
        return pd.DataFrame(rows, columns=[*dict.fromkeys([*inp, "docno", "rank", "score"])])
