"""The measures of a run by trectools itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .run_arrays import Run
from .topics import Qrels

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

MEASURES = ("nDCG@5", "nDCG@10", "MAP", "R@1000")
"""All over the first ``DEPTH`` documents of a query."""

DEPTH = 1000


def trectools_values(run: Run, qrels: Qrels) -> dict[str, np.ndarray]:
    """Return trectools' numbers, measure -> float64[Q], those it leaves out filled with 0.

    ``run`` holds the hits of the judged queries. It is put in the order in which trectools' reader
    leaves it. That reader itself is not used: it turns ids that look like numbers into numbers, and
    numbers into text. Ids are numbers here that sort as the ids do.
    """
    import pandas as pd
    from trectools import TrecEval, TrecQrel, TrecRun

    if not len(run.documents):  # trectools cannot group nothing
        return {measure: np.zeros(len(run.queries)) for measure in MEASURES}
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.starts))
    order = np.lexsort((run.documents, -run.scores, query))
    trec_run, trec_qrels = TrecRun(), TrecQrel()
    trec_run.run_data = pd.DataFrame(
        {"query": query[order], "docid": run.documents[order], "score": run.scores[order]}
    )
    trec_qrels.qrels_data = _judgements(run, qrels)
    evaluation = TrecEval(trec_run, trec_qrels)
    per_query = {
        "nDCG@5": evaluation.get_ndcg(depth=5, per_query=True),
        "nDCG@10": evaluation.get_ndcg(depth=10, per_query=True),
        "MAP": evaluation.get_map(depth=DEPTH, per_query=True),
        "R@1000": evaluation.get_recall(depth=DEPTH, per_query=True),
    }
    everyone = np.arange(len(run.queries))
    return {
        measure: frame.iloc[:, 0].reindex(everyone).fillna(0.0).to_numpy(np.float64)
        for measure, frame in per_query.items()
    }


def _judgements(run: Run, qrels: Qrels) -> pd.DataFrame:
    """Columns query, q0, docid and rel; documents that were not found get numbers of their own."""
    import pandas as pd

    numbers = {name: number for number, name in enumerate(run.names)}
    rows = [
        (number, "0", numbers.setdefault(doc, len(numbers)), grade)
        for number, query in enumerate(run.queries)
        for doc, grade in qrels[query].items()
    ]
    return pd.DataFrame(rows, columns=["query", "q0", "docid", "rel"])
