"""Stage 2: the sparse term-document matrix of a field, from an index's postings alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..arguments import cores
from ..errors import TdvError
from ..index.index import Index
from ..index.sharded import ShardedIndex, look_at_shards, open_index
from ..index.workers import open_workers
from ..output import Output
from ..progress import Progress, silent
from ..vocabulary import StrPath
from .config import ExtractConfig
from .shards import matrix_of_shards
from .term_document_matrix import (
    KIND,
    NormKind,
    TermDocumentMatrix,
    describe_matrix,
    load_matrix,
    open_arrays,
)

_log = logging.getLogger(__name__)


def extract_matrix(
    index: StrPath,
    output: StrPath,
    config: ExtractConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermDocumentMatrix:
    """Write the term-document matrix of ``field`` to the folder ``output`` and return it.

    One pass over the postings in Java; neither term vectors nor stored text is needed. Deleted
    documents are left out and the live ones numbered densely in index order. The result is
    memory-mapped, and its bytes do not depend on ``threads``. ``index`` is a folder, or a
    :class:`..source.Source` of shards, which are read as one index.

    Options are those of :class:`ExtractConfig`, as a config or by name. ``positions`` about double
    the time; learning weights postings by them.

    Raises :class:`TdvError` when ``index`` is not a readable index, or has no such field or no
    frequencies in it; when ``output`` exists or overlaps it; when a writer holds the index.
    """
    config = ExtractConfig.of(config, options)
    place = Output(output, KIND, inputs=[index], overwrite=config.overwrite)
    with Index.open(index, config.id_field) as opened, place as folder:
        matrix = _extract(opened, folder, config, progress)
        place.write_manifest(describe_matrix(matrix))
    return load_matrix(output)


def _extract(
    index: Index, folder: Path, config: ExtractConfig, progress: Progress, tokens: bool = False
) -> TermDocumentMatrix:
    """Write the arrays into ``folder`` and map them."""
    from ..jvm.index import extract_arrays

    if index.source.is_sharded:
        with open_workers(index.source) as workers:
            look_at_shards(workers, index.source, config.field, progress)
    overlaps = extract_arrays(
        index, config.field, folder,
        threads=cores(config.threads), positions=config.positions, sequences=tokens,
        progress=progress,
    )  # fmt: skip
    manifest: dict[str, Any] = {"field": config.field, "source": index.identity}
    if overlaps:
        manifest["norms"] = NormKind.OVERLAPS.name
    if tokens and not (folder / "tokens.npy").exists():
        raise TdvError(
            f"{index} knows no positions of '{config.field}', so the order of its tokens is lost: "
            "index with Anserini's -storePositions"
        )
    matrix = open_arrays(folder, manifest)
    if not len(matrix.vocabulary):
        _log.warning(
            "no live document of %s has a term in '%s': the matrix is empty, and nothing can be "
            "learned from it", matrix.source["path"], config.field,
        )  # fmt: skip
    return matrix


@contextmanager
def open_matrix(
    index: StrPath,
    matrix: StrPath | None = None,
    *,
    field: str = "contents",
    positions: bool = False,
    tokens: bool = False,
    progress: Progress = silent,
) -> Iterator[TermDocumentMatrix]:
    """Yield the matrix in the folder ``matrix`` after checking that it is of this index.

    Without such a folder, yield a temporary one, with ``positions`` (of the first occurrences) if
    asked for, and ``tokens`` in order, for neural re-rankers. Of shards that were opened where they
    lie, the postings stay there: see :mod:`.shards`.

    Raises :class:`TdvError` when ``matrix`` is of another field or another state of the index, or
    ``tokens`` are asked for and there are no positions.
    """
    if matrix is None and isinstance(index, ShardedIndex):
        with matrix_of_shards(index, positions, progress) as in_shards:
            yield in_shards
        return
    if matrix is None:
        config = ExtractConfig(field=field, positions=positions)
        with TemporaryDirectory(prefix="tdv-lucene-") as folder, Index.open(index) as opened:
            yield _extract(opened, Path(folder), config, progress, tokens)
        return
    found = load_matrix(matrix)
    with open_index(index, field) as opened:
        commit = opened.commit
    if found.vocabulary.field != field:
        raise TdvError(
            f"the matrix {matrix} is of field '{found.vocabulary.field}', not '{field}': pass "
            f"field {found.vocabulary.field}, or extract '{field}'"
        )
    if found.source["commit"] != commit:
        raise TdvError(
            f"the matrix {matrix} was extracted from another state of the index (commit "
            f"{found.source['commit']}, now {commit}): extract it again"
        )
    yield found
