"""Stage 3: word vectors for index terms, from the matrix, a file, or trained on stored text."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..errors import TdvError
from ..index.index import Index
from ..output import Output
from ..progress import Progress, silent
from .config import LSA, MIN_DOC_FREQ, TRAIN, EmbedConfig
from .extract import open_matrix
from .term_document_matrix import TermDocumentMatrix
from .term_vectors import KIND, TermVectors, latent_semantic_vectors
from .vector_files import WordVectors, read_word_vectors

_log = logging.getLogger(__name__)
_EPOCHS = 3
_BATCH = 200_000
"""Words that become terms in one call."""


def embed_terms(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: EmbedConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermVectors:
    """Make word vectors of the terms of an index's field and write them to ``output``.

    Options are those of :class:`EmbedConfig`, as a config or by name. ``vectors`` other than
    ``"lsa"`` and ``"train"`` is a file (see :func:`.vector_files.read_word_vectors`), whose words
    are matched to terms by the index's analyzer.

    Raises :class:`TdvError` when the index, the matrix or the file cannot be read, or no text is
    stored to train on.
    """
    config = EmbedConfig.of(config, options)
    read = [index, config.vectors, config.matrix]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite)
    with (
        Index.open(index) as opened,
        open_matrix(opened, config.matrix, field=config.field, progress=progress) as matrix,
    ):
        if config.vectors == LSA:
            made = latent_semantic_vectors(
                matrix, dimensions=config.dimensions, min_doc_freq=config.min_doc_freq,
                seed=config.seed, progress=progress,
            )  # fmt: skip
            if made.vectors.shape[1] < config.dimensions:
                _log.warning(
                    "vectors get %s dimensions, not %s: the field has no more documents, or terms "
                    "in %s of them", made.vectors.shape[1], config.dimensions, config.min_doc_freq,
                )  # fmt: skip
        else:
            from ..index.analysis import analysis_of

            analysis = analysis_of(opened, config.field, config.analysis).analysis
            if config.vectors == TRAIN:
                made = _train(opened, matrix, analysis, config, progress)
            else:
                least = config.min_doc_freq
                made = _from_file(config.vectors, matrix, analysis, least, progress)
        made.save(place)
    return TermVectors.load(output)


def load_term_vectors(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    analysis: Analysis = DEFAULT,
    progress: Progress = silent,
) -> TermVectors:
    """Return vectors for ``matrix`` from a folder of :func:`embed_terms` or a vectors file.

    A file's words become terms by ``analysis``.
    """
    if Path(path).is_dir():
        made = TermVectors.load(path)
        made.check(matrix)
        return made
    return _from_file(path, matrix, analysis, MIN_DOC_FREQ, progress)


def _from_file(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    analysis: Analysis,
    min_doc_freq: int,
    progress: Progress,
) -> TermVectors:
    from ..jvm.analysis import analyze

    progress("read vectors", 0, 0)
    words = read_word_vectors(path)
    origin = {"method": "file", "file": Path(path).name, "min_doc_freq": min_doc_freq,
              "analysis": analysis.describe()}  # fmt: skip
    in_field = partial(analyze, field=matrix.vocabulary.field, analysis=analysis)
    return match_terms(matrix, words, in_field, min_doc_freq, origin, progress)


def _train(
    index: Index,
    matrix: TermDocumentMatrix,
    analysis: Analysis,
    config: EmbedConfig,
    progress: Progress,
) -> TermVectors:
    """Train skip-gram fastText on the stored text, analysed.

    Its words are the index's terms already, so every vector belongs to a term as it is. One worker
    thread: with more, gensim's result depends on their timing and not on ``seed`` alone.
    """
    from gensim.models import FastText
    from gensim.models.callbacks import CallbackAny2Vec

    from ..jvm.index import write_tokens

    class Epochs(CallbackAny2Vec):  # type: ignore[misc]  # gensim has no types
        done = 0

        def on_epoch_end(self, model: FastText) -> None:
            self.done += 1
            progress("train word vectors", self.done, _EPOCHS)

    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        tokens = Path(folder) / "tokens.txt"
        documents = write_tokens(index, tokens, analysis, progress)
        model = FastText(
            corpus_file=str(tokens), vector_size=config.dimensions, sg=1, min_count=5,
            epochs=_EPOCHS, seed=config.seed, workers=1, callbacks=[Epochs()],
        )  # fmt: skip
    origin = {"method": "fasttext", "documents": documents, "epochs": _EPOCHS,
              "seed": config.seed, "analysis": analysis.describe()}  # fmt: skip
    return match_terms(
        matrix, WordVectors.of_gensim(model), lambda words: [[word] for word in words],
        config.min_doc_freq, origin, progress,
    )  # fmt: skip


def match_terms(
    matrix: TermDocumentMatrix,
    words: WordVectors,
    analyze: Callable[[Sequence[str]], list[list[str]]],
    min_doc_freq: int,
    origin: dict[str, Any],
    progress: Progress,
) -> TermVectors:
    """Give each term the mean vector of the words that the analyzer turns into it alone.

    Index terms are stems ("discrimin"), which no vectors file holds; so the file's words go
    through the index's own analyzer. A term that no word becomes gets fastText's sum over its
    sub-words, if the file has them and it is in ``min_doc_freq`` documents; else it stays without a
    vector. ``analyze`` converts texts to lists of index terms, many in one call.
    """
    terms = matrix.shape[0]
    sums, counts = np.zeros((terms, words.vectors.shape[1]), np.float32), np.zeros(terms, np.int64)
    for first in range(0, len(words.words), _BATCH):
        progress("match words to terms", first, len(words.words))
        last = min(first + _BATCH, len(words.words))
        analysed = analyze(words.words[first:last])
        rows = [row for row, tokens in enumerate(analysed) if len(tokens) == 1]
        found = matrix.vocabulary.find(analysed[row][0] for row in rows)
        known = found >= 0
        np.add.at(sums, found[known], words.vectors[first:last][rows][known])
        np.add.at(counts, found[known], 1)
    sums[counts > 0] /= counts[counts > 0, None]
    matched = int(np.count_nonzero(counts))
    if words.of_unseen is not None:
        for term in np.flatnonzero((counts == 0) & (matrix.doc_freq >= min_doc_freq)):
            text = matrix.vocabulary.terms[int(term)].decode(errors="replace")
            sums[term], counts[term] = words.of_unseen(text), 1
    kept = np.flatnonzero(counts)
    if not len(kept):
        raise TdvError(
            f"none of the {len(words.words)} words of the vectors is a term of the index: are "
            "they of another language?"
        )
    by_subwords = len(kept) - matched
    return TermVectors(
        matrix.vocabulary.sha256,
        kept.astype(np.int32),
        sums[kept],
        {**origin, "matched_terms": matched, "terms_by_subwords": by_subwords},
    )
