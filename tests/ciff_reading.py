"""Read a Common Index File Format file with Google's runtime, by the format's definition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# github.com/osirrc/ciff, CommonIndexFileFormat.proto: message -> (name, number, type, repeated)
_MESSAGES = {
    "Header": [
        ("version", 1, "INT32", False), ("num_postings_lists", 2, "INT32", False),
        ("num_docs", 3, "INT32", False), ("total_postings_lists", 4, "INT32", False),
        ("total_docs", 5, "INT32", False), ("total_terms_in_collection", 6, "INT64", False),
        ("average_doclength", 7, "DOUBLE", False), ("description", 8, "STRING", False),
    ],
    "Posting": [("docid", 1, "INT32", False), ("tf", 2, "INT32", False)],
    "PostingsList": [
        ("term", 1, "STRING", False), ("df", 2, "INT64", False), ("cf", 3, "INT64", False),
        ("postings", 4, "MESSAGE", True),
    ],
    "DocRecord": [
        ("docid", 1, "INT32", False), ("collection_docid", 2, "STRING", False),
        ("doclength", 3, "INT32", False),
    ],
}  # fmt: skip


def message_classes() -> dict[str, Any]:
    """Name -> class; skips where protobuf is not installed."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="ciff.proto", package="ciff", syntax="proto3")
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            described.field.add(
                name=name, number=number, type=getattr(kinds, f"TYPE_{kind}"),
                label=kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL,
                type_name=".ciff.Posting" if kind == "MESSAGE" else None,
            )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ciff.{name}"))
        for name in _MESSAGES
    }


def read_ciff(path: Path) -> tuple[Any, list[Any], list[Any]]:
    """Header, postings lists and documents; each must be what the runtime itself would write."""
    classes = message_classes()
    chunks = _delimited(path.read_bytes())

    def parse(kind: str) -> Any:
        chunk = next(chunks)
        message = classes[kind].FromString(chunk)
        assert message.SerializeToString(deterministic=True) == chunk
        return message

    header = parse("Header")
    lists = [parse("PostingsList") for _ in range(header.num_postings_lists)]
    documents = [parse("DocRecord") for _ in range(header.num_docs)]
    assert next(chunks, None) is None, "nothing follows"
    return header, lists, documents


def _delimited(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        size = shift = 0
        while True:
            byte = content[at]
            size |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        assert at + size <= len(content)
        yield content[at : at + size]
        at += size
