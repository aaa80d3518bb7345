"""The tokens of all documents in their order, which a matrix of frequencies does not know.

From a field with positions they are rebuilt in Java. Else the text that the index stores is
analysed again, as the index was.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..errors import TdvError
from ..indexes.index import Index
from ..progress import Progress, silent
from ..store import save_array
from ..vocabulary import Vocabulary

_log = logging.getLogger(__name__)

ORIGINS = ("positions", "text")
_STORED = "contents"  # the field whose text Anserini stores


@dataclass(frozen=True, eq=False)
class TokenSequences:
    """The tokens of ``D`` documents.

    Attributes
    ----------
    terms : int32[tokens]
        Term numbers, document by document.
    indptr : int64[D + 1]
        Document ``d`` is ``terms[indptr[d]:indptr[d + 1]]``.
    origin : str
        One of ``ORIGINS``.
    """

    terms: np.ndarray
    indptr: np.ndarray
    origin: str

    def __post_init__(self) -> None:
        if self.origin not in ORIGINS or int(self.indptr[-1]) != len(self.terms):
            raise TdvError(
                f"{len(self.terms):,} tokens from '{self.origin}' are not the sequences of "
                f"{len(self.indptr) - 1:,} documents: the folder is damaged; extract it again"
            )

    def heads(self, documents: np.ndarray, most: int) -> np.ndarray:
        """Return int32[n, most]: the first terms of ``documents`` int[n]; -1 is padding.

        Cost: what is read.
        """
        starts = np.asarray(self.indptr[documents])
        lengths = np.minimum(np.asarray(self.indptr[documents + 1]) - starts, most)
        places = np.arange(most)
        there = places < lengths[:, None]
        found = np.full(there.shape, -1, np.int32)
        found[there] = self.terms[(starts[:, None] + places)[there]]
        return found


def sequences_from_text(
    index: Index,
    vocabulary: Vocabulary,
    doc_len: np.ndarray,
    folder: Path,
    progress: Progress = silent,
) -> None:
    """Analyse the stored text of every live document and write its tokens into ``folder``.

    Tokens that are no terms of the index are left out. Memory: the tokens.

    Raises :class:`TdvError` when the index stores no text of this field.
    """
    from ..indexes.analysis import analysis_of
    from ..jvm.index import write_tokens

    analysis = analysis_of(index, vocabulary.field).analysis

    with TemporaryDirectory(prefix="tdv-lucene-") as home:
        lines = Path(home) / "tokens.txt"
        stored = vocabulary.field == _STORED and write_tokens(
            index, lines, analysis, progress, number_lines=True
        )
        if not stored:
            raise TdvError(
                f"{index} knows neither positions nor stored text of '{vocabulary.field}', so the "
                "order of its tokens is lost: index with Anserini's -storePositions, or (for "
                "'contents') -storeContents or -storeRaw"
            )
        indptr = np.zeros(len(doc_len) + 1, np.int64)
        parts = [np.zeros(0, np.int32)]
        with open(lines, "rb") as file:
            for number, line in enumerate(file):
                found = vocabulary.find(line.split())
                parts.append(found[found >= 0].astype(np.int32))
                indptr[number + 1] = indptr[number] + len(parts[-1])
    different = int(np.count_nonzero(np.diff(indptr) != doc_len))
    if different:
        _log.warning(
            "the stored text of %d of %d documents, analysed as %s, has other tokens than the "
            "index: it was made with another analyzer, or from other text", different,
            len(doc_len), analysis.describe(),
        )  # fmt: skip
    save_array(folder / "tokens.npy", np.concatenate(parts))
    save_array(folder / "tokens_indptr.npy", indptr)
