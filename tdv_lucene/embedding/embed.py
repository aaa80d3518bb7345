"""Stage 3: word vectors for index terms, from the matrix, a file, or trained on stored text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ..arguments import Effect, checked_seed, refuses_idle
from ..errors import TdvError, argument
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from .files import read_word_vectors
from .lsa import latent_semantic_vectors
from .matching import match_terms
from .term_vectors import KIND, MIN_DOC_FREQ, TermVectors
from .training import train_word_vectors

LSA, TRAIN = "lsa", "train"
_EPOCHS = 3
_MADE = (LSA, TRAIN)
EFFECTS = (
    Effect(("dimensions",), "vectors", "a file's vectors have their own length", only=_MADE),
    Effect(("seed",), "vectors", "nothing in a file is random", only=_MADE),
    Effect(("trust_pickle",), "vectors", "no file is read", unless=_MADE),
)
"""Beside what the options have an effect."""


@refuses_idle(*EFFECTS)
def embed_terms(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    vectors: str | os.PathLike[str] = LSA,
    trust_pickle: bool = False,
    dimensions: int = 100,
    min_doc_freq: int = MIN_DOC_FREQ,
    matrix: str | os.PathLike[str] | None = None,
    field: str = "contents",
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = silent,
) -> TermVectors:
    """Make word vectors of the terms of an index's field and write them to ``output``.

    Parameters
    ----------
    vectors
        ``"lsa"`` makes them from the matrix and needs no text. ``"train"`` trains fastText on the
        stored text. Anything else is a file (see :func:`.files.read_word_vectors`), whose words
        are matched to terms by the index's analyzer.
    trust_pickle
        Read a gensim pickle as well, which can run any command (:func:`.files.read_word_vectors`).
    dimensions
        Length of the vectors of ``"lsa"`` and ``"train"``; a file has its own.
    min_doc_freq
        Terms in fewer documents get no vector from LSA or from sub-words.
    matrix
        A folder from :func:`extract_matrix` of this index; None extracts it first.

    Raises
    ------
    TdvError
        When the index, the matrix or the file cannot be read, or no text is stored to train on.
    """
    checked_seed(seed)
    place = Output.folder(output, KIND, inputs=[index, vectors, matrix], overwrite=overwrite)
    if dimensions < 1:
        raise TdvError(f"{argument('dimensions', dimensions)} is out of range: at least 1; try 100")
    with open_matrix(index, matrix, field=field, progress=progress) as counts:
        if vectors == LSA:
            made = latent_semantic_vectors(
                counts,
                dimensions=dimensions,
                min_doc_freq=min_doc_freq,
                seed=seed,
                progress=progress,
            )
        elif vectors == TRAIN:
            made = _train(index, counts, dimensions, min_doc_freq, seed, progress)
        else:
            made = _from_file(vectors, counts, min_doc_freq, progress, trust_pickle)
        made.save(place)
    return TermVectors.load(output)


def load_term_vectors(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    progress: Progress = silent,
    *,
    trust_pickle: bool = False,
) -> TermVectors:
    """Return vectors for ``matrix`` from a folder of :func:`embed_terms` or a vectors file.

    A gensim pickle is read only with ``trust_pickle``, see :func:`.files.read_word_vectors`.
    """
    if Path(path).is_dir():
        made = TermVectors.load(path)
        made.check(matrix)
        return made
    return _from_file(path, matrix, MIN_DOC_FREQ, progress, trust_pickle)


def _from_file(
    path: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    min_doc_freq: int,
    progress: Progress,
    trust_pickle: bool,
) -> TermVectors:
    from ..jvm.index import analyze

    progress("read vectors", 0, 0)
    words = read_word_vectors(path, trust_pickle=trust_pickle)
    origin = {"method": "file", "file": Path(path).name, "min_doc_freq": min_doc_freq}
    in_field = partial(analyze, field=matrix.vocabulary.field)
    return match_terms(matrix, words, in_field, min_doc_freq, origin, progress)


def _train(
    index: str | os.PathLike[str],
    matrix: TermDocumentMatrix,
    dimensions: int,
    min_doc_freq: int,
    seed: int,
    progress: Progress,
) -> TermVectors:
    from ..jvm.index import write_tokens

    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        tokens = Path(folder) / "tokens.txt"
        documents = write_tokens(index, tokens, progress)
        words = train_word_vectors(
            tokens, dimensions=dimensions, epochs=_EPOCHS, seed=seed, progress=progress
        )
    origin = {"method": "fasttext", "documents": documents, "epochs": _EPOCHS, "seed": seed}
    return match_terms(matrix, words, _as_they_are, min_doc_freq, origin, progress)


def _as_they_are(words: Sequence[str]) -> list[list[str]]:
    """Analyse words that are index terms already."""
    return [[word] for word in words]
