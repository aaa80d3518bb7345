"""A field as a Common Index File Format file, which PISA, JASSv2, Terrier and others read.

Lin et al., "Supporting Interoperability Between Open-Source Search Engines with the Common Index
File Format", SIGIR 2020. The file is a header, a message for each term and one for each document,
in Protocol Buffers' encoding, each after its length. The maintained Python library for it,
ciff-toolkit, wants a protobuf older than what else is installed here needs, and builds a Python
object for each posting; these few fields are encoded by NumPy, many lists at once.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ..errors import TdvError
from ..index.index import Index
from ..output import Output
from ..progress import Progress, silent
from ..vocabulary import ByteStrings, StrPath
from .config import ExportConfig
from .extract import open_matrix
from .term_document_matrix import NormKind, TermDocumentMatrix, blocks

KIND = "ciff"
_POSTINGS_AT_ONCE = 1 << 16
_VARINT, _FIXED64, _BYTES = 0, 1, 2  # wire types
_MOST_VARINT_BYTES = 5  # of a number below 2 ** 31


def export_ciff(
    index: StrPath,
    output: StrPath,
    config: ExportConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Write a field of a full or pruned index as the CIFF file ``output``.

    Frequencies are those in the index: in a pruned one they are quantised. Live documents are
    numbered densely in index order; their lengths are exact, the sums of their frequencies (where
    Lucene ranks with lengths rounded to a byte). Terms are in the order of their bytes.

    The file's description names the parameters that suit these lengths, for ranking a pruned index.
    Unlike norms, lengths cannot encode k1: engines divide them by their mean, so that BM25's length
    norm has the mean k1 whatever they are. For a field without norms it names the parameters with
    which lengths do not count, as in Lucene.

    Memory is that of the vocabulary's bounds and a few million postings; the matrix passes through
    a temporary folder.

    Options are those of :class:`ExportConfig`, as a config or by name; ``matrix`` is an extracted
    one of this field.

    Returns ``field``, ``terms``, ``postings``, ``documents``, ``tokens``, ``description`` and
    ``bytes``. The manifest beside the file has the same.

    Raises :class:`TdvError` when the index or field cannot be read, a term or document id is not
    UTF-8, the matrix is of another field or state, or ``output`` exists or is one of the inputs.
    """
    config = ExportConfig.of(config, options)
    field, matrix = config.field, config.matrix
    place = Output(
        output, KIND, is_folder=False, inputs=[index, matrix], overwrite=config.overwrite
    )
    with (
        Index.open(index, config.id_field) as opened,
        open_matrix(opened, matrix, field=field, progress=progress) as found,
    ):
        description = _describe(opened, found)
        terms, documents = found.shape
        summary = {
            "field": field,
            "terms": terms,
            "postings": found.postings,
            "documents": documents,
            "tokens": int(found.doc_len.sum()),
            "description": description,
        }
        with place as path:
            with open(path, "wb") as file:
                write_ciff(found, file, description, progress)
                size = file.tell()
            place.write_manifest({**summary, "source": found.source})
    return {**summary, "bytes": size}


def write_ciff(
    matrix: TermDocumentMatrix, file: BinaryIO, description: str, progress: Progress = silent
) -> None:
    """Write all terms and documents of ``matrix`` to an open binary file.

    Raises :class:`TdvError` when a term or an id is not UTF-8.
    """
    terms, documents = matrix.shape
    tokens = int(matrix.doc_len.sum())
    average = tokens / documents if documents else 0.0
    # The format's version; postings lists and documents of this file and of the collection.
    numbers = 1, terms, documents, terms, documents, tokens, average
    file.write(_delimited(_message(*numbers, description.encode())))
    names, indptr = _strings(matrix.vocabulary.terms, "term"), np.asarray(matrix.indptr)
    doc_freq, total = np.asarray(matrix.doc_freq), np.asarray(matrix.total_term_freq)
    for block in blocks(indptr, _POSTINGS_AT_ONCE):
        postings, ends = _postings(matrix, indptr[block.terms.start : block.terms.stop + 1])
        for number, (start, end) in enumerate(itertools.pairwise(ends), block.terms.start):
            head = _message(next(names), int(doc_freq[number]), int(total[number]))
            file.write(_delimited(head + postings[start:end]))
        progress("write postings lists", block.postings.stop, matrix.postings)
    lengths = np.asarray(matrix.doc_len)
    for number, name in enumerate(_strings(matrix.doc_ids, "document id")):
        file.write(_delimited(_message(number, name, int(lengths[number]))))


def _describe(index: Index, matrix: TermDocumentMatrix) -> str:
    from ..index.parameters import recorded_parameters
    from ..store import versions

    field = matrix.vocabulary.field
    text = f"field '{field}' of a Lucene index, exported by tdv-lucene {versions()['tdv-lucene']}"
    record = index.record(field)
    has_norms = matrix.norm_kind is not NormKind.NONE
    if record.is_pruned:
        text += f"; pruned by it, with {record.tf} frequencies"
    elif has_norms:
        return text
    found = recorded_parameters(index, field=field)
    values = found.values()
    if record.baked is not None:  # the norms hold them, and lengths here are sums
        values = dict(zip(("k1", "b"), record.baked))
    if not has_norms:
        text += "; without norms, so that Lucene takes every length for 1"
        if "b" in values:  # BM25's length norm is then the same for all
            k1, b = values["k1"], values["b"]
            average = float(np.sum(matrix.doc_len)) / max(1, matrix.doc_count)
            values = {"k1": k1 * (1 - b + b / max(average, 1e-9)), "b": 0.0}
        elif "mu" in values:
            text += ", as a receiver has to"
    told = ", ".join(f"{name} {value:g}" for name, value in values.items())
    return f"{text}: rank by {', '.join(filter(None, (found.model, told)))}"


def _postings(matrix: TermDocumentMatrix, indptr: np.ndarray) -> tuple[bytes, list[int]]:
    """Return the ``postings`` fields of consecutive terms, and the end of each term's bytes.

    A document's number is its distance from the one before, or from 0 for the first of a term. A 0
    is left out, and its key with it.
    """
    block = slice(int(indptr[0]), int(indptr[-1]))
    documents = np.asarray(matrix.indices[block], np.int64)
    starts = indptr[:-1] - indptr[0]
    gaps = np.diff(documents, prepend=0)
    gaps[starts] = documents[starts]
    gap, of_gap = _varints(gaps)
    tf, of_tf = _varints(np.asarray(matrix.data[block]))
    always, has_gap = np.ones((len(gaps), 1), bool), gaps[:, None] > 0
    there = np.hstack([always, always, has_gap, has_gap & of_gap, always, of_tf])
    sizes = there[:, 2:].sum(axis=1, keepdims=True, dtype=np.uint8)  # below 128: one byte tells it
    posting, number, frequency = (
        np.full_like(sizes, _key(field, wire_type)[0])
        for field, wire_type in ((4, _BYTES), (1, _VARINT), (2, _VARINT))
    )
    message = np.hstack([posting, sizes, number, gap, frequency, tf])
    ends = np.concatenate([[0], np.cumsum(2 + sizes, dtype=np.int64)])
    return message[there].tobytes(), ends[indptr - indptr[0]].tolist()


def _varints(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return uint8[n, 5], seven bits a byte, lowest first, and bool[n, 5]: which bytes count."""
    shape = len(numbers), _MOST_VARINT_BYTES
    parts, counting, left = np.empty(shape, np.uint8), np.ones(shape, bool), numbers.astype("u4")
    for place in range(_MOST_VARINT_BYTES):
        more = left > 0x7F
        parts[:, place] = left & 0x7F | more * np.uint8(0x80)
        counting[:, place + 1 : place + 2] = more[:, None]
        left >>= 7
    return parts, counting


def _strings(strings: ByteStrings, what: str) -> Iterator[bytes]:
    """Yield all of them, each checked to be UTF-8 as the format requires."""
    for text in strings:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise TdvError(
                f"the {what} {text!r} is not UTF-8: this format cannot hold it"
            ) from error
        yield text


def _key(field: int, wire_type: int) -> bytes:
    return bytes([field << 3 | wire_type])


def _message(*values: float | bytes) -> bytes:
    """Return the fields 1, 2 and so on; the default, 0 or nothing, is left out."""
    out = b""
    for field, value in enumerate(values, start=1):
        if not value:
            continue
        if isinstance(value, bytes):
            out += _key(field, _BYTES) + _delimited(value)
        elif isinstance(value, int):
            out += _key(field, _VARINT) + _varint(value)
        else:
            out += _key(field, _FIXED64) + struct.pack("<d", value)
    return out


def _delimited(message: bytes) -> bytes:
    return _varint(len(message)) + message


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
