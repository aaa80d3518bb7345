"""A field as a Common Index File Format file, which PISA, JASSv2, Terrier and others read.

Lin et al., "Supporting Interoperability Between Open-Source Search Engines with the Common Index
File Format", SIGIR 2020. The file is a header, a message for each term and one for each document,
in Protocol Buffers' encoding, each after its length. The maintained Python library for it,
ciff-toolkit, wants a protobuf older than what else is installed here needs, and builds a Python
object for each posting; these few fields are encoded by NumPy, many lists at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ..errors import TdvError
from ..output import Output
from ..progress import Progress, silent
from ..source import named_by
from ..vocabulary import ByteStrings, StrPath
from .blocks import blocks
from .config import ExportConfig
from .extract import open_matrix
from .term_document_matrix import TermDocumentMatrix

KIND = "ciff"
_POSTINGS_AT_ONCE = 1 << 20
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

    A pruned index is to be ranked with the parameters that suit these lengths, which the file's
    description tells. Other than norms, lengths cannot hold k1 for an engine with one of its own:
    it divides them by their mean, so that BM25's length norm has the mean k1 whatever they are.

    Memory is that of the vocabulary's bounds and a few million postings; the matrix passes through
    a temporary folder.

    Parameters
    ----------
    config, options
        An :class:`ExportConfig`, or its options by name. ``matrix`` is the field's, if it
        has been extracted already.

    Returns
    -------
    dict
        ``field``, ``terms``, ``postings``, ``documents``, ``tokens``, ``description``, ``bytes``.
        The manifest beside the file says the same.

    Raises
    ------
    TdvError
        When the index or field cannot be read, a term or document id is not UTF-8, the matrix is
        of another field or state, or ``output`` exists or is one of the inputs.
    """
    config = ExportConfig.of(config, options)
    field, matrix, index = config.field, config.matrix, named_by(index, config.id_field)
    place = Output(
        output, KIND, is_folder=False, inputs=[index, matrix], overwrite=config.overwrite
    )
    with open_matrix(index, matrix, field=field, progress=progress) as found:
        description = _describe(index, field)
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

    Raises :class:`TdvError` when the matrix holds selected documents only, or a term or an id is
    not UTF-8.
    """
    file.write(_delimited(_header(matrix, description)))
    for message in _postings_lists(matrix, progress):
        file.write(message)
    lengths = np.asarray(matrix.doc_len)
    for number, name in enumerate(_strings(matrix.doc_ids, "document id")):
        record = _number(1, number) + _text(2, name) + _number(3, int(lengths[number]))
        file.write(_delimited(record))


def _describe(index: StrPath, field: str) -> str:
    from ..indexes.search_parameters import recorded_parameters
    from ..indexes.user_data import FieldRecord
    from ..store import versions

    text = f"field '{field}' of a Lucene index, exported by tdv-lucene {versions()['tdv-lucene']}"
    record = FieldRecord.read(index, field)
    if record.values_sha256 is None:
        return text
    found = recorded_parameters(index, field=field)
    values = found.values()
    if record.baked is not None:  # the norms hold them, and lengths here are sums
        values = {"k1": record.baked[0], "b": record.baked[1]}
    told = ", ".join(f"{name} {value:g}" for name, value in values.items())
    return f"{text}; pruned by it, with {record.tf} frequencies: rank by {found.model}, {told}"


def _header(matrix: TermDocumentMatrix, description: str) -> bytes:
    terms, documents = matrix.shape
    tokens = int(matrix.doc_len.sum())
    average = np.array(tokens / documents if documents else 0.0, "<f8").tobytes()
    return (
        _number(1, 1)
        + _number(2, terms)
        + _number(3, documents)
        + _number(4, terms)
        + _number(5, documents)
        + _number(6, tokens)
        + (_key(7, _FIXED64) + average if tokens else b"")
        + _text(8, description.encode())
    )


def _postings_lists(matrix: TermDocumentMatrix, progress: Progress) -> Iterator[bytes]:
    """The message of each term, after its length."""
    terms = _strings(matrix.vocabulary.terms, "term")
    indptr = np.asarray(matrix.indptr)
    doc_freq, total = np.asarray(matrix.doc_freq), np.asarray(matrix.total_term_freq)
    for of_terms, span, _ in blocks(indptr, _POSTINGS_AT_ONCE):
        first, last = of_terms.start, of_terms.stop
        postings, ends = _postings(matrix, indptr[first : last + 1])
        for number in range(first, last):
            lists = postings[ends[number - first] : ends[number - first + 1]]
            head = (
                _text(1, next(terms))
                + _number(2, int(doc_freq[number]))
                + _number(3, int(total[number]))
            )
            yield _varint(len(head) + len(lists)) + head + lists
        progress("write postings lists", span.stop, matrix.postings)


def _postings(matrix: TermDocumentMatrix, indptr: np.ndarray) -> tuple[bytes, list[int]]:
    """The ``postings`` fields of terms in a row, and where each term's end in these bytes.

    A document's number is its distance from the one before; the first of a term stands as it is.
    """
    block = slice(int(indptr[0]), int(indptr[-1]))
    documents = np.asarray(matrix.indices[block], np.int64)
    starts = indptr[:-1] - indptr[0]
    gaps = np.diff(documents, prepend=0)
    gaps[starts] = documents[starts]
    gap_bytes, gap_sizes = _varints(gaps)
    tf_bytes, tf_sizes = _varints(np.asarray(matrix.data[block], np.int64))
    gap_sizes = np.where(gaps == 0, -1, gap_sizes)  # 0 is left out, and its key with it
    sizes = 1 + gap_sizes + 1 + tf_sizes  # below 128: one byte tells it
    ends = np.concatenate([[0], np.cumsum(2 + sizes)])
    out = np.empty(ends[-1], np.uint8)
    at = ends[:-1]
    out[at], out[at + 1] = _key(4, _BYTES)[0], sizes
    there = gaps != 0
    out[at[there] + 2] = _key(1, _VARINT)[0]
    tf_at = at + 3 + gap_sizes
    out[tf_at] = _key(2, _VARINT)[0]
    for place in range(_MOST_VARINT_BYTES):
        has = gap_sizes > place
        out[at[has] + 3 + place] = gap_bytes[place, has]
        has = tf_sizes > place
        out[tf_at[has] + 1 + place] = tf_bytes[place, has]
    return out.tobytes(), ends[indptr - indptr[0]].tolist()


def _varints(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(uint8[5, n], int64[n]): seven bits a byte, the lowest first, and how many bytes count."""
    shifts = 7 * np.arange(_MOST_VARINT_BYTES)[:, None]
    parts = (numbers >> shifts) & 0x7F
    sizes = 1 + (numbers >= 1 << shifts[1:]).sum(axis=0)
    parts[:-1][np.arange(1, _MOST_VARINT_BYTES)[:, None] < sizes] |= 0x80
    return parts.astype(np.uint8), sizes


def _strings(strings: ByteStrings, what: str) -> Iterator[bytes]:
    """All of them, each checked to be UTF-8 as the format wants."""
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


def _number(field: int, value: int) -> bytes:
    """A whole number; 0 is the default, which is left out."""
    return _key(field, _VARINT) + _varint(value) if value else b""


def _text(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value if value else b""


def _delimited(message: bytes) -> bytes:
    return _varint(len(message)) + message


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
