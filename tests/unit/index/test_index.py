"""What an open index says of itself, made from what Java tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pruning_inputs import field_plan

from tdv_lucene.errors import TdvError
from tdv_lucene.index import index as module
from tdv_lucene.index.index import Index
from tdv_lucene.plan import Plan
from tdv_lucene.source import Part, Source
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

FIELD = {"has_norms": True, "has_frequencies": True}


def commit(number: int = 1, **changes: Any) -> dict[str, Any]:
    """What Java tells of a commit."""
    return {
        "commit": f"{number:032x}", "segments_file": f"segments_{number}", "user_data": {},
        "lucene_version": "9.9.1", "documents": 10 * number, "deleted": number, "since": None,
        **changes,
    }  # fmt: skip


class Java:
    """In place of an opened index: tells this, and counts what is asked of it."""

    def __init__(self, *commits: dict[str, Any], kind: str = "counts", **changes: Any) -> None:
        fields = {"contents": FIELD, "id": {**FIELD, "has_norms": False}}
        self.found = {
            "commits": commits or (commit(),), "fields": fields, "files": {},
            "why_not_anserinis": "", **changes,
        }  # fmt: skip
        self.java, self.kind, self.asked = object(), kind, []

    def frequencies(self, field: str) -> str:
        self.asked.append(field)
        return self.kind

    def __enter__(self) -> Java:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``opening(java, source)`` opens an index that Java tells this of."""

    def opened(java: Java, source: object = "/I", id_field: str | None = None, **options: Any):
        monkeypatch.setattr(module, "OpenedIndex", lambda source: java)
        return Index.open(source, id_field, **options)

    yield opened


SHARDS = Source((Part("/S/a"), Part("/S/b")))


@pytest.mark.parametrize(
    ("kind", "holds", "warns"),
    [("counts", False, False), ("weights", True, False), ("likely weights", False, True)],
)
def test_kinds_of_frequencies(
    kind: str, holds: bool, warns: bool, opening: Any, caplog: pytest.LogCaptureFixture
) -> None:
    java = Java(kind=kind)
    with opening(java) as index:
        assert [index.holds_weights("contents") for _ in range(3)] == [holds] * 3
        assert java.asked == ["contents"] and len(caplog.records) == warns
        assert index.holds_weights("id") is None, "norms tell it, and there are none"


def since(did: str) -> dict[str, Any]:
    return {"did": did, "segments": 1, "documents": 2, "fewer": 0}


def test_an_index_of_a_development_version_is_named(opening: Any) -> None:
    java = Java(commit(user_data={"tdv.version": "0.9", "tdv.field": "contents"}))
    with pytest.raises(TdvError, match="/I .*development version .*0.9"), opening(java):
        pass


def test_a_plan_is_read_with_the_checksums_of_the_commit(opening: Any, tmp_path: Path) -> None:
    terms = ByteStrings.of([b"a", b"b"])
    plans = [field_plan(Vocabulary(field, terms), 1.5, 2.0) for field in ("title", "contents")]
    Plan(plans).save(tmp_path)
    said = {
        "tdv.field": "contents", "tdv.plan_sha256": plans[1].sha256, "tdv.source_commit": "c",
        "tdv.fields.title.plan_sha256": plans[0].sha256, "tdv.fields.title.source_commit": "c",
        "tdv.fields.body.plan_sha256": "of an earlier rewrite",
        "tdv.fields.body.source_commit": "b",
    }  # fmt: skip
    with opening(Java(commit(user_data=said)), tmp_path) as index:
        assert [plan.field for plan in index.plan.fields] == ["contents", "title"]
        assert index.plan is index.plan and index.record("title").is_pruned
    with opening(Java(), tmp_path) as bare:
        assert bare.plan is None and not bare.record().is_pruned
    other = {**said, "tdv.plan_sha256": plans[0].sha256[::-1]}
    with opening(Java(commit(user_data=other)), tmp_path) as index:
        with pytest.raises(TdvError, match=str(tmp_path)):
            _ = index.plan
