"""Stage 2: the sparse term-document matrix of a field, from an index's postings alone."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any

import numpy as np

from ..arguments import Shards, cores
from ..errors import TdvError, argument
from ..output import Output
from ..progress import Progress, silent
from ..store import check_content, check_files, load_array, read_manifest
from ..vocabulary import ByteStrings, StrPath, Vocabulary
from .config import ExtractConfig
from .term_document_matrix import TermDocumentMatrix
from .token_sequences import load_sequences, sequences_from_text, sequences_written

_log = logging.getLogger(__name__)

KIND = "matrix"
_MADE_BY = "tdv-lucene extract --index INDEX --output FOLDER"
_DIGESTED = 1 << 26  # bytes: what takes no time
_ARRAYS = ("indptr", "indices", "data", "doc_freq", "total_term_freq", "doc_len", "norms")
_POSITIONS = "first_positions"


def extract_matrix(
    index: StrPath,
    output: StrPath,
    config: ExtractConfig | None = None,
    *,
    documents: Iterable[str] | os.PathLike[str] | None = None,
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
        A folder, or :class:`..arguments.Shards`: those are extracted by several processes (see
        :mod:`.shards`), with the result that one index of their documents would have.
    documents
        Ids of the documents whose rows are wanted, in any order, or the path of a file of them,
        one a line; None for all, as of shards. The vocabulary,
        ``doc_freq``, ``total_term_freq`` and ``doc_count`` stay those of the whole index, so that
        scores of these documents stay true. Learning refuses such a matrix: it has to count all
        postings.
    config, options
        What to write: an :class:`.config.ExtractConfig`, or its options by name. ``positions``
        about double the time; learning weights postings by them. ``tokens`` are read by neural
        re-rankers (see :mod:`.token_sequences`).

    Raises
    ------
    TdvError
        When ``index`` is not a readable index, has no such field or no frequencies in it, or
        lacks one of ``documents``; when ``output`` exists or overlaps it; when a writer holds the
        index; when ``tokens`` are asked for and cannot be had, or beside ``documents``.
    """
    config = ExtractConfig.of(config, options)
    field, positions, tokens = config.field, config.positions, config.tokens
    if tokens and (documents is not None or isinstance(index, Shards)):
        raise TdvError(
            f"{argument('tokens', True)} is for all documents of one index: leave it out, or "
            f"name one index without {argument('documents')}"
        )
    read = [documents] if isinstance(documents, os.PathLike) else []
    place = Output.folder(output, KIND, inputs=[index, *read], overwrite=config.overwrite)
    if isinstance(index, Shards):
        return _extract_shards(index, place, documents, field, positions, config.threads, progress)
    from ..jvm.index import extract_arrays, require_current

    ids = _read_ids(documents) if isinstance(documents, os.PathLike) else documents
    with place as folder, _id_file(ids) as listed:
        totals, source = extract_arrays(
            index, field, folder,
            threads=cores(config.threads), documents=listed, positions=positions,
            sequences=tokens, progress=progress,
        )  # fmt: skip
        manifest: dict[str, Any] = {"field": field, "source": source}
        if listed is not None:
            manifest["collection"] = totals
        if tokens:
            manifest["sequences"] = "positions" if sequences_written(folder) else "text"
        if manifest.get("sequences") == "text":
            counted = _load(folder, {**manifest, "sequences": None})
            sequences_from_text(index, counted.vocabulary, counted.doc_len, folder, progress)
            require_current(index, source["commit"])
        _finish(place, folder, manifest)
    return load_matrix(output)


def extract_shard(
    index: StrPath, output: StrPath, *, field: str, positions: bool, threads: int | None
) -> None:
    """Write the matrix of one shard, which may be without documents, or without the field."""
    from ..jvm.index import extract_arrays

    place = Output.folder(output, KIND, inputs=[index])
    with place as folder:
        _, source = extract_arrays(
            index, field, folder,
            threads=cores(threads), positions=positions, is_shard=True,
        )  # fmt: skip
        matrix = _load(folder, {"field": field, "source": source})
        place.write_manifest(describe_matrix(matrix))


def _extract_shards(
    index: Shards,
    place: Output,
    documents: object,
    field: str,
    positions: bool,
    threads: int | None,
    progress: Progress,
) -> TermDocumentMatrix:
    from .shards import extract_shards

    if documents is not None:
        raise TdvError(
            f"{argument('documents')} are extracted of one index: leave them out, or name the "
            "shard they are in"
        )
    with place as folder:
        source = extract_shards(
            index, folder, place.path.with_name(f".{place.path.name}.shards"),
            field=field, positions=positions, threads=threads, progress=progress,
        )  # fmt: skip
        _finish(place, folder, {"field": field, "source": source})
    return load_matrix(place.path)


def _finish(place: Output, folder: Path, manifest: dict[str, Any]) -> None:
    """Describe the arrays in ``folder``."""
    matrix = _load(folder, manifest)
    if not len(matrix.vocabulary):
        _log.warning("no live document of %s has a term in '%s': the matrix is empty, and "
                     "nothing can be learned from it", matrix.source["path"],
                     matrix.vocabulary.field)  # fmt: skip
    place.write_manifest(describe_matrix(matrix))


def _read_ids(path: os.PathLike[str]) -> list[str]:
    """The ids of a file, one a line; empty lines mean nothing."""
    name = f"{argument('documents')} {os.fspath(path)}"
    try:
        return split_ids(Path(path).read_bytes(), name)
    except OSError as error:
        raise TdvError(f"{name} cannot be read: {error.strerror}") from error


def split_ids(content: bytes, name: str) -> list[str]:
    """Document ids, one a line; ``name`` is what an error calls them."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise TdvError(
            f"{name}: byte {error.start + 1} is not UTF-8: write document ids in UTF-8, one a line"
        ) from error
    return [line for line in text.splitlines() if line]


@contextmanager
def _id_file(documents: Iterable[str] | None) -> Iterator[Path | None]:
    """The ids in a temporary file, one a line; None for no selection."""
    if documents is None:
        yield None
        return
    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        path = Path(folder) / "ids"
        path.write_text("".join(f"{name}\n" for name in documents), encoding="utf-8")
        yield path


def load_matrix(path: StrPath) -> TermDocumentMatrix:
    """Open a folder written by :func:`extract_matrix`, its arrays memory-mapped and read-only.

    All files are compared with the sizes in the manifest, those of up to 64 MiB with the digests.

    Raises
    ------
    TdvError
        When ``path`` is not such a folder.
    """
    manifest = read_manifest(path, KIND, _MADE_BY)
    check_files(path, manifest, _MADE_BY, digests_up_to=_DIGESTED)
    check_content(
        path, manifest, _MADE_BY,
        required={"field": str, "source": dict},
        optional={"collection": dict, "sequences": (str, NoneType)},
    )  # fmt: skip
    check_content(path, manifest["source"], _MADE_BY, required={"commit": str})
    return _load(Path(path), manifest)


def _load(folder: Path, manifest: dict[str, Any]) -> TermDocumentMatrix:
    def array(name: str) -> np.ndarray:
        return load_array(folder, name, _MADE_BY)

    _log.info("opening the matrix %s of field '%s'", folder, manifest["field"])
    arrays: dict[str, Any] = {name: array(name) for name in _ARRAYS}
    has_positions = (folder / f"{_POSITIONS}.npy").exists()
    return TermDocumentMatrix(
        vocabulary=Vocabulary(
            manifest["field"], ByteStrings(array("terms"), array("terms_indptr"))
        ),
        doc_ids=ByteStrings(array("doc_ids"), array("doc_ids_indptr")),
        source=manifest["source"],
        collection=manifest.get("collection"),
        first_positions=array(_POSITIONS) if has_positions else None,
        sequences=load_sequences(folder, manifest.get("sequences"), _MADE_BY),
        **arrays,
    )


def describe_matrix(matrix: TermDocumentMatrix) -> dict[str, Any]:
    """Sizes and identity of a matrix: what its manifest says of it."""
    terms, documents = matrix.shape
    described = {
        "field": matrix.vocabulary.field,
        "source": matrix.source,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "terms": terms,
        "documents": documents,
        "doc_count": matrix.doc_count,
        "postings": matrix.postings,
        "tokens": int(matrix.doc_len.sum()),
        "positions": matrix.first_positions is not None,
        "sequences": None if matrix.sequences is None else matrix.sequences.origin,
    }
    collection = {} if matrix.collection is None else {"collection": matrix.collection}
    return {**described, **collection}


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

    Raises
    ------
    TdvError
        When ``matrix`` is of another field or another state of the index, or lacks ``tokens``.
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
