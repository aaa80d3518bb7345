"""A plan comes back as it was saved, and nothing else passes for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from manifest_changes import changes_of

from tdv_lucene.errors import TdvError
from tdv_lucene.plan import FOLDER, LONGEST, FieldPlan, Plan, kinds_of
from tdv_lucene.ranking import Baking
from tdv_lucene.ranking.postings import FirstPositionBoost, LengthNorm, PostingCut, WeightPower
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

TERMS = [b"", b"2026", b"fox", b"\xff\x00", b"\xff\xff"]
KINDS = 2 * (LONGEST + 1)
CUT = PostingCut(
    np.array([0, 0.5, 0.25, 0, 1], np.float32),
    LengthNorm(0.54, 0.012, False),
    FirstPositionBoost(4, 8),
)
BAKED = Baking((1.8, 0.4), (0.9, 0.4))


def field_plan(field: str = "contents", terms: list[bytes] = TERMS, **changes: object) -> FieldPlan:
    """A plan of which every part decides."""
    parts = {
        "doc_freq": np.arange(1, len(terms) + 1),
        "tdv": np.linspace(0, 1.5, len(terms), dtype=np.float32),
        "scale": 2.0,
        "boost": FirstPositionBoost(2, 4),
        "cut": CUT,
        "unseen": np.linspace(0.5, 1, KINDS, dtype=np.float32),
        "norms": BAKED,
        "facts": {"tf": "scaled", "search": {"k1": 0.9}},
        "learned": {"points": [{"reduction": 0.3, "measures": {"MAP": 0.2}}], "commit": "c"},
    }
    return FieldPlan(Vocabulary(field, ByteStrings.of(terms)), **{**parts, **changes})


def checksums(plan: Plan) -> dict[str, str]:
    return {one.field: one.sha256 for one in plan.fields}


BARE = {"scale": None, "boost": None, "cut": None, "norms": None}


@pytest.mark.parametrize(
    "changes", [{}, BARE, {**BARE, "boost": WeightPower(1.5, 9.0, 0.5)}, {"cut": CUT._replace(
        position_boost=None)}]
)  # fmt: skip
def test_a_plan_comes_back_as_it_was_saved(changes: dict[str, object], tmp_path: Path) -> None:
    saved = Plan([field_plan(**changes), field_plan("titlé", [b"x" * 32_766], **BARE)])
    saved.save(tmp_path)
    read = Plan.load(tmp_path, checksums(saved))
    for one, again in zip(saved.fields, read.fields, strict=True):
        assert list(again.vocabulary.terms) == list(one.vocabulary.terms)
        for name in ("doc_freq", "tdv", "unseen"):
            array = getattr(again, name)
            np.testing.assert_array_equal(array, getattr(one, name))
            assert array.dtype == getattr(one, name).dtype
        assert (again.cut is None) == (one.cut is None)
        if one.cut is not None:
            np.testing.assert_array_equal(again.cut.least, one.cut.least)
            assert again.cut[1:] == one.cut[1:]
        for name in ("field", "scale", "boost", "norms", "facts", "learned", "sha256"):
            assert getattr(again, name) == getattr(one, name), name
    assert read.of("titlé") is read.fields[1] and read.of("contents") is read.fields[0]
    assert read.of("body") is None


def changed(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array[:-1], array[-1:] + 1])


@pytest.mark.parametrize(
    "changes",
    [
        {"terms": [*TERMS[:-1], b"\xff\xff\xff"]},
        {"doc_freq": changed(field_plan().doc_freq)},
        {"tdv": changed(field_plan().tdv)},
        {"unseen": changed(field_plan().unseen)},
        {"scale": 3.0}, {"scale": None},
        {"boost": FirstPositionBoost(2, 5)}, {"boost": WeightPower(2, 4)}, {"boost": None},
        {"cut": CUT._replace(least=changed(CUT.least))},
        {"cut": CUT._replace(length_norm=LengthNorm(0.54, 0.013))},
        {"cut": CUT._replace(position_boost=None)},
        {"cut": None},
        {"norms": Baking((1.8, 0.4), (1.2, 0.75))}, {"norms": Baking((1.7, 0.4), (0.9, 0.4))},
        {"norms": None}, {"norms": replace(BAKED, average_length=9.0)},
        {"facts": {}}, {"learned": {}},
    ],
    ids=lambda changes: "-".join(changes),
)  # fmt: skip
def test_all_that_decides_changes_the_checksum(changes: dict[str, object]) -> None:
    assert field_plan(**changes).sha256 != field_plan().sha256


def test_nothing_in_a_plan_is_trusted(tmp_path: Path) -> None:
    """Files cut short, every entry changed, and bits of the arrays: refused, or read as before."""
    plan = Plan([field_plan()])
    plan.save(tmp_path)
    folder, refused = tmp_path / FOLDER, []
    text, arrays = ((folder / name).read_bytes() for name in ("plan.json", "0.npz"))

    def load() -> None:
        try:
            read = Plan.load(tmp_path, checksums(plan))
        except TdvError as error:
            assert f"plan of {tmp_path}" in str(error)
            refused.append(True)
        else:
            refused.append(False)
            assert read.fields[0].sha256 == plan.fields[0].sha256

    for name, content in (("plan.json", text), ("0.npz", arrays)):
        for damaged in (b"", content[: len(content) // 2], b'{"format": 1}', b"PK" + bytes(20)):
            (folder / name).write_bytes(damaged)
            load()
        (folder / name).write_bytes(content)
    for changed in changes_of(json.loads(text)):
        (folder / "plan.json").write_text(json.dumps(changed))
        load()
    assert len(refused) > 100 and all(refused)
    (folder / "plan.json").write_bytes(text)
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(arrays), 300):
        damaged = bytearray(arrays)
        damaged[at] ^= 1 << rng.integers(8)
        (folder / "0.npz").write_bytes(damaged)
        load()
    assert refused.count(True) > 300


@pytest.mark.parametrize("saved", [[field_plan(scale=3.0)], [field_plan("title")]])
def test_the_plan_of_another_index_is_refused(saved: list[FieldPlan], tmp_path: Path) -> None:
    Plan(saved).save(tmp_path)
    with pytest.raises(TdvError, match=f"{tmp_path} is another's"):
        Plan.load(tmp_path, checksums(Plan([field_plan()])))


@pytest.mark.parametrize("cut", [CUT, None])
def test_unseen_terms_are_kept_whole_with_the_tdvs_of_their_kinds(cut: PostingCut | None) -> None:
    plan = field_plan(cut=cut, norms=BAKED)
    unseen = ByteStrings.of([b"2025", b"zz", b"\xff" * 40])
    grown = plan.with_unseen(np.array([1, 3, 5]), unseen)
    assert list(grown.vocabulary.terms) == sorted([*TERMS, *unseen])
    new = np.array([1, 4, 7])
    np.testing.assert_array_equal(grown.doc_freq[new], 0)
    np.testing.assert_array_equal(grown.tdv[new], plan.unseen[kinds_of(unseen)])
    for name in ("doc_freq", "tdv"):
        assert np.delete(getattr(grown, name), new).tolist() == getattr(plan, name).tolist()
    if cut is not None:
        np.testing.assert_array_equal(grown.cut.least[new], 0)
        np.testing.assert_array_equal(np.delete(grown.cut.least, new), cut.least)
        assert grown.cut[1:] == cut[1:]
    assert (grown.scale, grown.boost, grown.norms) == (plan.scale, plan.boost, plan.norms)
    assert plan.with_unseen(np.array([], int), ByteStrings.of([])) is plan


def test_a_kind_is_a_length_and_whether_there_are_digits() -> None:
    alike = [[b"fox", b"dog", b"\xff\x00\x01"], [b"f0x", b"333", b"fo9"],
             [b"x" * LONGEST, b"y" * 300]]  # fmt: skip
    apart = [kinds[0] for kinds in alike] + [b"", b"1", b"a", b"x" * (LONGEST - 1)]
    for group in alike:
        assert len({*kinds_of(ByteStrings.of(group)).tolist()}) == 1, group
    found = kinds_of(ByteStrings.of(apart))
    assert len({*found.tolist()}) == len(apart) and found.min() >= 0 and found.max() < KINDS
