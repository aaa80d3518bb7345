"""Which folders are an index's shards, and what they say of the whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.index.record import ShardRecord, shard_as_user_data, user_data_of_whole
from tdv_lucene.source import Part, Source, find_shards, means_shards


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("b", "a", "c"):
        (tmp_path / "S" / name).mkdir(parents=True)
    (tmp_path / "S" / "notes.txt").write_text("no shard")
    return tmp_path / "S"


def _names(source: Source) -> list[str]:
    return [part.name for part in source.parts]


def test_a_pattern_gives_the_folders_in_order_of_their_names(folders: Path) -> None:
    found = find_shards(f"{folders}/*", scheduler="tcp://here:8786")
    assert _names(found) == ["a", "b", "c"] and found.scheduler == "tcp://here:8786"
    assert found.folders[0] == str(folders / "a")
    assert str(found) == f"3 shards of {folders}"


def test_what_names_no_shards_is_refused(folders: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# none\n")
    os.symlink(folders / "a", tmp_path / "link")
    for given, message in (
        (f"{tmp_path}/X/*", "X/.* matches no folder"),
        (f"@{tmp_path}/absent", "absent: No such file"),
        (f"@{tmp_path}/empty", "empty is empty"),
        ([f"{folders}/*", f"{folders}/b"], "S/b is given twice"),
        ([f"{folders}/a", f"{tmp_path}/link"], "link is given twice .*S/a"),
    ):
        with pytest.raises(TdvError, match=message):
            find_shards(given)


SHARDS = Source((Part("/S/a"), Part("/S/b")))


def _commit(number: int, **changes: str) -> dict[str, str]:
    """User data of one of two shards that were pruned together."""
    part = ShardRecord("ab"[number - 1], number, 2, "whole", False)
    data = {
        "tdv.plan_sha256": "p", "tdv.source_commit": f"own{number}",
        "tdv.reduction": f"0.4{number}", "tdv.scale": "4", "tdv.baked.norms": f"{number}",
        **shard_as_user_data(part, {}),
    }  # fmt: skip
    return {**data, **{f"tdv.{name}": value for name, value in changes.items()}}


def test_what_shards_say_of_the_whole() -> None:
    assert user_data_of_whole(SHARDS, [{}, {"other": "thing"}]) == {}
    whole = user_data_of_whole(SHARDS, [_commit(1), _commit(2)])
    assert whole["tdv.source_commit"] == "whole" and whole["tdv.scale"] == "4"
    assert not [key for key in whole if key.startswith("tdv.shards.")]


def test_shards_that_were_not_pruned_together_are_refused() -> None:
    three = Source((*SHARDS.parts, Part("/S/c")))
    alone = {k: v for k, v in _commit(2).items() if "shards" not in k}
    for shards, parts, message in (
        (SHARDS, [_commit(1), {}], "/S/a was pruned and /S/b was not"),
        (SHARDS, [_commit(1), alone], "/S/b was pruned by itself"),
        (SHARDS, [_commit(1), _commit(2, scale="8")], "tdv.scale is 4 and 8"),
        (Source((Part("/S/b"),)), [_commit(2)], "missing is .* 1 "),
        (three, [_commit(1), _commit(2), _commit(2)], "/S/b is there twice"),
    ):
        with pytest.raises(TdvError, match=message):
            user_data_of_whole(shards, parts)


def test_a_shard_pruned_again_by_itself_is_none_any_more() -> None:
    taken_back = shard_as_user_data(None, _commit(1))
    assert {**_commit(1), **taken_back}["tdv.shards.count"] == ""
    assert shard_as_user_data(None, {"tdv.scale": "4"}) == {}


def test_a_folder_that_some_workers_see_is_not_looked_for_here(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# two disks\na=/data/S/1\nb=/data/S/1\nb=/data/S/2/\n")
    found = find_shards(f"@{tmp_path}/list", scheduler="tcp://there:8786")
    assert found.resources == ("a", "b") and _names(found) == ["1", "1", "2"]
    assert [*map(str, found.parts)] == ["a=/data/S/1", "b=/data/S/1", "b=/data/S/2"]
    assert str(found) == "3 shards of /data/S"
    with pytest.raises(TdvError, match="resources a, b "):
        os.fspath(found)
    assert means_shards(["a=/data/S"]) and not means_shards(["a=data"])


def test_folders_with_resources_that_cannot_be_are_refused(folders: Path) -> None:
    for given, scheduler, message in (
        (["a=/S/1"], None, "a=/S/1 .* scheduler"),
        (["a=/S/1", f"{folders}/b"], "tcp://x:1", "a=/S/1 .*/b has none"),
        (["a=/S/1", "a=/S/1"], "tcp://x:1", "a=/S/1 is given twice"),
        (["a=/S/*"], "tcp://x:1", r"a=/S/\* is a pattern"),
    ):
        with pytest.raises(TdvError, match=message):
            find_shards(given, scheduler=scheduler)
