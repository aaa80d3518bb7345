"""A re-ranker nobody trained, for tests that need one on disk."""

from __future__ import annotations

import sys
from pathlib import Path

from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix, load_matrix
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.output import Output
from tdv_lucene.paper.neural import KIND
from tdv_lucene.paper.neural.rankers import NeuralConfig, make_ranker
from tdv_lucene.paper.neural.training import StoredRanker


def save_untrained(matrix: TermDocumentMatrix, folder: Path, name: str = "drmm") -> Path:
    """Write what 'ranker' writes, with random weights."""
    vectors = latent_semantic_vectors(matrix, dimensions=2, min_doc_freq=1)
    config = NeuralConfig()
    ranker = make_ranker(name, vectors.vectors.shape[1], config, 0)
    about = {"field": matrix.vocabulary.field, "vocabulary_sha256": matrix.vocabulary.sha256}
    stored = StoredRanker(ranker, vectors, config, {"name": name, **about})
    stored.save(Output(folder, KIND, inputs=()))
    return folder


if __name__ == "__main__":
    save_untrained(load_matrix(sys.argv[1]), Path(sys.argv[2]))
