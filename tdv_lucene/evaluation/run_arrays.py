"""Runs in memory as numbers: a run as a search leaves it in arrays, ids as codes that sort alike.

Millions of ids compared as text take longer than the search that found them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import load_array
from ..errors import TdvError

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd


def load_run(folder: Path, queries: Sequence[str]) -> pd.DataFrame:
    """Return the run that a search of ``queries`` wrote as arrays into ``folder``.

    It has the columns query, docid (both categorical) and score (float64), its rows as
    :func:`.evaluate.read_run` reads them from the run's file.

    Raises
    ------
    TdvError
        When a document is listed twice for a query.
    """
    import pandas as pd

    counts, documents, scores = (
        np.array(load_array(folder / f"{name}.npy")) for name in ("counts", "documents", "scores")
    )
    names = (folder / "names").read_text(encoding="utf-8").split("\n")[:-1]
    rows = np.repeat(np.arange(len(queries), dtype=np.int32), counts)
    _refuse_twice(rows, documents, queries, names)
    return pd.DataFrame(
        {
            "query": pd.Categorical.from_codes(rows, list(queries)),
            "docid": pd.Categorical.from_codes(documents, names),
            "score": scores,
        }
    )


def _refuse_twice(
    rows: np.ndarray, documents: np.ndarray, queries: Sequence[str], names: Sequence[str]
) -> None:
    pairs = rows.astype(np.int64) * max(1, len(names)) + documents
    ordered = np.sort(pairs)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        query, document = divmod(int(twice[0]), len(names))
        raise TdvError(
            f"the index gives the document '{names[document]}' twice for the query "
            f"'{queries[query]}': two of its documents have one id; index them again"
        )


def codes(column: pd.Series, names: Sequence[str]) -> np.ndarray:
    """Return int64[n]: the place of each string of ``column`` in ``names``, -1 where it has none.

    With ``names`` in order, codes sort as the strings do.
    """
    import pandas as pd

    coded = column.astype("category").cat
    places = pd.Index(names, dtype=object).get_indexer(coded.categories.astype(object))
    found: np.ndarray = places[coded.codes].astype(np.int64)
    return found


def all_names(*columns: pd.Series) -> list[str]:
    """Return the strings in any of the columns, in order, each once."""
    found: set[str] = set()
    for column in columns:
        used = column.astype("category").cat.remove_unused_categories().cat.categories
        found.update(used.to_numpy(object).tolist())
    return sorted(found)
