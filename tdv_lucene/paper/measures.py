"""The measures of the paper's tables, computed by trectools, as the paper's were."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from ..evaluation.evaluate import read_run
from ..evaluation.topics import Qrels, judged_queries
from .published import MEASURES


def measure(
    run: str | os.PathLike[str], topics: Mapping[str, str], qrels: Qrels
) -> dict[str, np.ndarray]:
    """Return each of ``MEASURES``, float64[Q], for the judged queries in topic order.

    trectools leaves out queries without an answer, and its nDCG has no value where nothing relevant
    was found; here both count 0. Documents of equal score are ordered by id, the lower one first.
    """
    import pandas as pd
    import trectools

    queries = judged_queries(topics, qrels)
    hits = read_run(run)
    hits = hits[hits["query"].isin(queries)]
    if hits.empty:
        return {name: np.zeros(len(queries)) for name in MEASURES}
    hits = hits.sort_values(["query", "score", "docid"], ascending=[True, False, True])
    ranked, judged = trectools.TrecRun(), trectools.TrecQrel()
    ranked.load_run_from_dataframe(hits)
    rows = [(query, "0", doc, grade) for query in queries for doc, grade in qrels[query].items()]
    judged.qrels_data = pd.DataFrame(rows, columns=["query", "q0", "docid", "rel"])
    by = trectools.TrecEval(ranked, judged)
    found = (by.get_ndcg(depth=5, per_query=True), by.get_recall(depth=1000, per_query=True))
    return {
        name: values.iloc[:, 0].reindex(queries).fillna(0.0).to_numpy(np.float64)
        for name, values in zip(MEASURES, found)
    }
