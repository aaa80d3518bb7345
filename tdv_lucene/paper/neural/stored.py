"""A trained re-ranker on disk: its weights, the word vectors it reads, and what it was made for."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ...embedding.term_vectors import TermVectors
from ...errors import TdvError
from ...matrix.term_document_matrix import TermDocumentMatrix
from ...output import Output
from ...store import NUMBER, check_content, check_files, load_array, read_manifest, save_array
from . import KIND, RANKERS
from .config import NeuralConfig
from .rankers import Ranker, make_ranker

_MADE_BY = "tdv-lucene paper ranker --index INDEX --topics TOPICS --qrels QRELS --output FOLDER"
_ARRAYS = ("weights", "vector_terms", "vectors")


@dataclass(frozen=True, eq=False)
class StoredRanker:
    """A re-ranker and what it needs to score.

    Attributes
    ----------
    manifest : dict
        ``name``, ``config``, ``field``, ``vocabulary_sha256``, and how it was trained.
    """

    ranker: Ranker
    vectors: TermVectors
    config: NeuralConfig
    manifest: dict[str, Any]

    def save(self, place: Output) -> None:
        """Write a folder: every weight in one array, in the order of the module's fields."""
        weights, _ = ravel_pytree(self.ranker)
        arrays = np.asarray(weights, np.float32), self.vectors.terms, self.vectors.vectors
        with place as folder:
            for name, array in zip(_ARRAYS, arrays):
                save_array(folder / f"{name}.npy", np.asarray(array))
            place.write_manifest({**self.manifest, "config": asdict(self.config)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StoredRanker:
        """Read a folder that :meth:`save` wrote.

        Raises :class:`TdvError` when it is not such a folder, or damaged.
        """
        manifest = read_manifest(path, KIND, _MADE_BY)
        check_files(path, manifest, _MADE_BY)
        spec = {"name": str, "field": str, "vocabulary_sha256": str, "config": dict}
        check_content(path, manifest, _MADE_BY, spec)
        config = _config(path, manifest["config"])
        weights, terms, vectors = (load_array(path, name, _MADE_BY) for name in _ARRAYS)
        if vectors.ndim != 2 or len(terms) != len(vectors) or not np.isfinite(vectors).all():
            raise _damaged(path, "its word vectors are none")
        flat, restore = ravel_pytree(make_ranker(manifest["name"], vectors.shape[1], config, 0))
        if weights.shape != flat.shape or not np.isfinite(weights).all():
            raise _damaged(path, f"not the {flat.size:,} weights of {RANKERS[manifest['name']]}")
        own = TermVectors(manifest["vocabulary_sha256"], terms, vectors, {})
        return cls(restore(jnp.asarray(weights)), own, config, manifest)

    def check(self, matrix: TermDocumentMatrix, index: str | os.PathLike[str]) -> None:
        """Raise :class:`TdvError` unless it was trained on the vocabulary of ``matrix``."""
        if self.manifest["vocabulary_sha256"] != matrix.vocabulary.sha256:
            raise TdvError(
                f"the re-ranker was trained on another index than {index}: its terms are others. "
                "Train one on this index with 'tdv-lucene paper ranker'"
            )


def _config(path: str | os.PathLike[str], stored: dict[str, Any]) -> NeuralConfig:
    """The config, once sure that every entry has its type and lies in its range."""
    types: dict[str, Any] = {field.name: type(field.default) for field in fields(NeuralConfig)}
    types["learning_rate"] = (float, type(None))
    check_content(path, stored, _MADE_BY, types)
    sizes = [x for x in stored.values() if isinstance(x, NUMBER)]
    if set(stored) != set(types) or not all(0 < x <= 10**6 for x in sizes):
        raise _damaged(path, "'config' has other numbers than a re-ranker")
    return NeuralConfig(**stored)


def _damaged(path: str | os.PathLike[str], what: str) -> TdvError:
    return TdvError(f"{Path(path)} is damaged ({what}): make it again with '{_MADE_BY}'")
