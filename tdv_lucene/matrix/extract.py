"""Stage 2: the sparse term-document matrix of a field, from an index's postings alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..arguments import cores
from ..errors import TdvError, argument
from ..output import Output
from ..progress import Progress, silent
from ..source import Source, named_by
from ..vocabulary import StrPath
from .config import ExtractConfig
from .stored_matrix import KIND, describe_matrix, load_matrix, open_arrays
from .term_document_matrix import TermDocumentMatrix
from .token_sequences import sequences_from_text

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
    memory-mapped, and its bytes do not depend on ``threads``.

    Parameters
    ----------
    index
        A folder, or a :class:`..source.Source` of shards: those are read as one index, with the
        result that one index of their documents would have.
    config, options
        What to write: an :class:`ExtractConfig`, or its options by name. ``positions``
        about double the time; learning weights postings by them. ``tokens`` are read by neural
        re-rankers (see :mod:`.token_sequences`).

    Raises
    ------
    TdvError
        When ``index`` is not a readable index, or has no such field or no frequencies in it; when
        ``output`` exists or overlaps it; when a writer holds the index; when ``tokens`` are asked
        for and cannot be had.
    """
    config = ExtractConfig.of(config, options)
    source = Source.of(named_by(index, config.id_field))
    place = Output(output, KIND, inputs=[source], overwrite=config.overwrite)
    with place as folder:
        manifest = _write_arrays(source, folder, config, progress)
        matrix = open_arrays(folder, manifest)
        if not len(matrix.vocabulary):
            _log.warning(
                "no live document of %s has a term in '%s': the matrix is empty, and nothing can "
                "be learned from it", matrix.source["path"], config.field,
            )  # fmt: skip
        place.write_manifest(describe_matrix(matrix))
    return load_matrix(output)


def _write_arrays(
    index: Source, folder: Path, config: ExtractConfig, progress: Progress
) -> dict[str, Any]:
    """Write the arrays into ``folder`` and return what the manifest cannot tell from them."""
    from ..jvm.index import extract_arrays, require_current

    surveyed = None
    if index.is_sharded:
        from ..indexes.shards.survey import survey_shards
        from ..indexes.shards.workers import open_workers

        with open_workers(index) as workers:
            surveyed, _ = survey_shards(workers, index, config.field, progress)
    read = extract_arrays(
        index, config.field, folder,
        threads=cores(config.threads), positions=config.positions, sequences=config.tokens,
        progress=progress,
    )  # fmt: skip
    source = surveyed or read
    if surveyed:
        require_current(index, source["commit"])
    manifest: dict[str, Any] = {"field": config.field, "source": source}
    if config.tokens and (folder / "tokens.npy").exists():
        manifest["sequences"] = "positions"
    elif config.tokens:
        counted = open_arrays(folder, manifest)
        sequences_from_text(index, counted.vocabulary, counted.doc_len, folder, progress)
        require_current(index, source["commit"])
        manifest["sequences"] = "text"
    return manifest


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
    """Yield the matrix in the folder ``matrix`` after checking whose it is, or a temporary one.

    A temporary one has ``positions`` (of the first occurrences) and ``tokens`` where these are
    asked for.

    Raises :class:`TdvError` when ``matrix`` is of another field or another state of the index, or
    lacks ``tokens``.
    """
    if matrix is None:
        with TemporaryDirectory(prefix="tdv-lucene-") as folder:
            yield extract_matrix(
                index, Path(folder) / "matrix",
                field=field, positions=positions, tokens=tokens, progress=progress,
            )  # fmt: skip
        return
    from ..jvm.index import identify

    found, source = load_matrix(matrix), identify(index)
    if found.vocabulary.field != field:
        raise TdvError(
            f"the matrix {matrix} is of field '{found.vocabulary.field}', not '{field}': pass "
            f"{argument('field', found.vocabulary.field)}, or extract '{field}'"
        )
    if found.source["commit"] != source["commit"]:
        raise TdvError(
            f"the matrix {matrix} was extracted from another state of the index (commit "
            f"{found.source['commit']}, now {source['commit']}): extract it again"
        )
    if tokens and found.sequences is None:
        raise TdvError(
            f"the matrix {matrix} does not know the order of tokens: extract it again with "
            f"{argument('tokens', True)}"
        )
    yield found
