"""Stage 3: word vectors for index terms, from the matrix, a file, or trained on stored text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..analysis import DEFAULT, Analysis
from ..indexes.analysis import analysis_of
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from .config import LSA, MIN_DOC_FREQ, TRAIN, EmbedConfig
from .files import WordVectors, read_word_vectors
from .lsa import latent_semantic_vectors
from .matching import match_terms
from .term_vectors import KIND, TermVectors

_EPOCHS = 3


def embed_terms(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: EmbedConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermVectors:
    """Make word vectors of the terms of an index's field and write them to ``output``.

    Parameters
    ----------
    config, options
        How to make them: a :class:`EmbedConfig`, or its options by name. ``vectors`` other
        than ``"lsa"`` and ``"train"`` is a file (see :func:`.files.read_word_vectors`), whose words
        are matched to terms by the index's analyzer.

    Raises
    ------
    TdvError
        When the index, the matrix or the file cannot be read, or no text is stored to train on.
    """
    config = EmbedConfig.of(config, options)
    read = [index, config.vectors, config.matrix]
    place = Output(output, KIND, inputs=read, overwrite=config.overwrite)
    with open_matrix(index, config.matrix, field=config.field, progress=progress) as counts:
        _make(index, counts, config, progress).save(place)
    return TermVectors.load(output)


def _make(
    index: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    config: EmbedConfig,
    progress: Progress,
) -> TermVectors:
    if config.vectors == LSA:
        return latent_semantic_vectors(
            matrix, dimensions=config.dimensions, min_doc_freq=config.min_doc_freq,
            seed=config.seed, progress=progress,
        )  # fmt: skip
    analysis = analysis_of(index, config.field, config.analysis).analysis
    if config.vectors == TRAIN:
        return _train(index, matrix, analysis, config, progress)
    trusted, least = config.trust_pickle, config.min_doc_freq
    return _from_file(config.vectors, matrix, analysis, least, progress, trusted)


def load_term_vectors(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    analysis: Analysis = DEFAULT,
    progress: Progress = silent,
    *,
    trust_pickle: bool = False,
) -> TermVectors:
    """Return vectors for ``matrix`` from a folder of :func:`embed_terms` or a vectors file, whose
    words become terms by ``analysis``.

    A gensim pickle is read only with ``trust_pickle``, see :func:`.files.read_word_vectors`.
    """
    if Path(path).is_dir():
        made = TermVectors.load(path)
        made.check(matrix)
        return made
    return _from_file(path, matrix, analysis, MIN_DOC_FREQ, progress, trust_pickle)


def _from_file(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    analysis: Analysis,
    min_doc_freq: int,
    progress: Progress,
    trust_pickle: bool,
) -> TermVectors:
    from ..jvm.analysis import analyze

    progress("read vectors", 0, 0)
    words = read_word_vectors(path, trust_pickle=trust_pickle)
    origin = {"method": "file", "file": Path(path).name, "min_doc_freq": min_doc_freq,
              "analysis": analysis.describe()}  # fmt: skip
    in_field = partial(analyze, field=matrix.vocabulary.field, analysis=analysis)
    return match_terms(matrix, words, in_field, min_doc_freq, origin, progress)


def _train(
    index: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    analysis: Analysis,
    config: EmbedConfig,
    progress: Progress,
) -> TermVectors:
    from ..jvm.index import write_tokens

    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        tokens = Path(folder) / "tokens.txt"
        documents = write_tokens(index, tokens, analysis, progress)
        words = _train_fasttext(tokens, config, progress)
    origin = {"method": "fasttext", "documents": documents, "epochs": _EPOCHS,
              "seed": config.seed, "analysis": analysis.describe()}  # fmt: skip

    def as_they_are(words: Sequence[str]) -> list[list[str]]:  # index terms already
        return [[word] for word in words]

    return match_terms(matrix, words, as_they_are, config.min_doc_freq, origin, progress)


def _train_fasttext(tokens: Path, config: EmbedConfig, progress: Progress) -> WordVectors:
    """Train skip-gram fastText on lines of analysed tokens.

    The tokens are the index's terms already, so every vector belongs to a term as it is. One
    worker thread: with more, gensim's result depends on their timing and not on ``seed`` alone.
    """
    from gensim.models import FastText
    from gensim.models.callbacks import CallbackAny2Vec

    class Epochs(CallbackAny2Vec):  # type: ignore[misc]  # gensim has no types
        done = 0

        def on_epoch_end(self, model: FastText) -> None:
            self.done += 1
            progress("train word vectors", self.done, _EPOCHS)

    model = FastText(
        vector_size=config.dimensions, sg=1, min_count=5, epochs=_EPOCHS, seed=config.seed,
        workers=1,
    )  # fmt: skip
    model.build_vocab(corpus_file=str(tokens))
    model.train(
        corpus_file=str(tokens),
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=_EPOCHS,
        callbacks=[Epochs()],
    )
    return WordVectors.of_gensim(model)
