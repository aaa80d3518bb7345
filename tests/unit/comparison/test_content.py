"""What a comparison warns of: indexes of other sources, models, numbers of documents."""

from __future__ import annotations

from tdv_lucene.comparison.content import notes


def described(commit: str = "p", source: str | None = "s", **changes):
    made_from = {} if source is None else {"tdv.source_commit": source, "tdv.model": "bm25"}
    return {"commit": commit, "deleted": 0, "documents": 9, "user_data": made_from, **changes}


FULL = described("s", None)


def test_nothing_is_said_of_an_index_and_what_was_made_from_it():
    indexes = {"full": FULL, "pruned": described(), "bare": described(source=None)}
    assert notes(indexes, "bm25") == []


def test_indexes_of_another_source_are_named_together():
    stranger = described(source="t")
    found = notes({"full": FULL, "a": stranger, "b": described(), "c": stranger}, "bm25")
    assert found == ["made from another index than 'full': 'a', 'c'"]


def test_other_models_document_numbers_and_deletions_are_said():
    found = notes({"full": {**FULL, "deleted": 1200}, "pruned": described(documents=8)}, "qld")
    assert found == [
        "the TDVs of 'pruned' were learned for bm25, this comparison ranks with qld",
        "the indexes hold different numbers of documents: 9 ('full') and 8 ('pruned')",
        "the postings of 'full' include those of 1,200 deleted documents",
    ]
