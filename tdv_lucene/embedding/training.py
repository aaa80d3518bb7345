"""Word vectors trained on the text an index stores (gensim's fastText)."""

from __future__ import annotations

from pathlib import Path

from ..progress import Progress
from .files import WordVectors


def train_word_vectors(
    tokens_file: Path, *, dimensions: int, epochs: int, seed: int, progress: Progress
) -> WordVectors:
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
            progress("train word vectors", self.done, epochs)

    model = FastText(vector_size=dimensions, sg=1, min_count=5, epochs=epochs, seed=seed, workers=1)
    model.build_vocab(corpus_file=str(tokens_file))
    model.train(
        corpus_file=str(tokens_file),
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=epochs,
        callbacks=[Epochs()],
    )
    return WordVectors.of_gensim(model)
