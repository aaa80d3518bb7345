"""One fuzzing case from the seed to the verdict: write, extract, rewrite, compare, CheckIndex.

What must come out is computed here with NumPy from the documents as they were given; both indexes
are read by :mod:`testing_jar`. Nothing of the package is used to judge itself.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_cases import Case, places_of, random_case, terms_of
from lucene_reading import check_index
from oracle import Postings, assert_baked, byte4_to_int, int_to_byte4
from snapshots import snapshot
from testing_jar import dump_index, write_described

from tdv_lucene import TdvError, TermDocumentMatrix, extract_matrix
from tdv_lucene.jvm import rewriter
from tdv_lucene.matrix.term_document_matrix import NormKind
from tdv_lucene.plan import FieldPlan
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.collection import apply_values, keep_postings

_LARGEST = 2**31 - 1
_EXACT = 40
"""Lengths up to this one are the same number as a norm of either kind."""


def postings_of(case: Case, field: str) -> Postings:
    """What the field's plan makes of the documents as they were given."""
    plan, found = case.plans[field], sorted(case.frequencies(field).items())
    place, firsts = {t: i for i, t in enumerate(plan.vocabulary.terms)}, case.first_positions(field)
    rows, docs, before, first = (
        np.array(column, np.int64)
        for column in (
            [place[term] for (term, _), _ in found], [doc for (_, doc), _ in found],
            [tf for _, tf in found], [firsts[key] for key, _ in found],
        )
    )  # fmt: skip
    live = [doc for number, doc in case.documents() if number >= 0]
    places = np.array([places_of(doc, field) for doc in live], np.int64)
    return Postings(plan, rows, docs, before, len(live), _norms(case, field), first, places)


def run_case(seed: int, scratch: Path) -> str:
    """Check the case of a seed."""
    return check_case(random_case(seed), scratch)


def check_case(case: Case, scratch: Path) -> str:
    """Check one case; return what became of it: the kinds of tf, or why it was refused."""
    source, pruned = scratch / "source", scratch / "pruned"
    for folder in (source, pruned, scratch / "matrix"):
        shutil.rmtree(folder, ignore_errors=True)
    write_described(source, case.index)
    there, before = snapshot(source), dump_index(source)
    _check_source(case, before)
    refusals = _why_refused(case)
    if not any(part.startswith("no field") for part in refusals):
        for field in case.plans:
            matrix = extract_matrix(source, scratch / "matrix", field=field, overwrite=True)
            _check_extraction(case, field, matrix)
            _check_simulation(case, field, matrix)
    pruned.mkdir()
    try:
        counts = rewriter.rewrite_index(
            source, pruned, [*case.plans.values()], threads=case.threads,
            user_data={"tdv.seed": str(case.seed)}, one_segment=case.one_segment,
        )  # fmt: skip
    except TdvError as error:
        assert snapshot(source) == there, "the source was changed"
        told = [part for part in refusals if part in str(error)]
        assert told, f"refused: {error}; expected one of: {refusals}"
        return told[0]
    assert not refusals, f"not refused: {refusals}"
    assert snapshot(source) == there, "the source was changed"
    after = _in_order_of_source(case, dump_index(pruned))
    for field in case.plans:
        _check_field(case, field, before, after)
    _check_counts(case, counts, after)
    _check_rest(case, before, after)
    check_index(pruned)
    _check_verification(case, source, pruned, after)
    kinds = {"original" if plan.scale is None else "scaled" for plan in case.plans.values()}
    return " and ".join(sorted(kinds))


def _check_verification(case: Case, source: Path, pruned: Path, after: dict[str, Any]) -> None:
    """The package's own verification agrees, and notices where a value has changed."""
    fields = [_with_average(case, plan) for plan in case.plans.values()]

    def compare(fields: list[FieldPlan]) -> dict[str, Any]:
        return rewriter.prove_pruned(source, pruned, fields, threads=case.threads)

    try:
        assert "difference" not in (found := compare(fields)), found
    except TdvError as error:
        assert case.one_segment and "is sorted and" in str(error), error
        return
    kept = [sum(map(len, after["postings"].get(field, {}).values())) for field in case.plans]
    assert found["postings"] == sum(kept)
    for place, plan in enumerate(fields):
        if kept[place]:
            nothing_left = replace(plan, tdv=np.zeros_like(plan.tdv))
            others = [*fields[:place], nothing_left, *fields[place + 1 :]]
            difference = compare(others)["difference"]
            named = difference["what"], difference["field"]
            assert named == ("term", plan.field), difference
        if kept[place] and plan.norms is not None:
            longer = replace(plan.norms, average_length=2 * plan.norms.average_length)
            others = [*fields[:place], replace(plan, norms=longer), *fields[place + 1 :]]
            difference = compare(others)["difference"]
            assert difference["what"] == "average length recorded", difference


def _with_average(case: Case, plan: FieldPlan) -> FieldPlan:
    """What verification is told beside: the average length that an index records."""
    if plan.norms is None:
        return plan
    lengths = postings_of(case, plan.field).lengths
    average = lengths.sum() / max(1, np.count_nonzero(lengths)) or 1.0
    return replace(plan, norms=replace(plan.norms, average_length=float(average)))


def _why_refused(case: Case) -> list[str]:
    """Parts of the messages with which the case may be refused; empty when it must not be.

    Several where whichever is met first is told: fields are looked at one after the other, and
    postings and vectors are written beside each other.
    """
    present = {name for doc in case.read() for name in doc["fields"]}
    found = [f"no field '{field}'" for field in case.plans if field not in present]
    if found:  # before anything is written
        return found
    for field, plan in case.plans.items():
        vectors = case.index["layout"]["fields"][field]["vectors"]
        held = any(terms_of(doc, field) for number, doc in case.documents() if number >= 0)
        of_saturation = plan.cut is not None and plan.cut.position_boost is not None
        is_lead = isinstance(plan.boost, FirstPositionBoost)
        reads = of_saturation or (is_lead and plan.scale is not None)
        if reads and vectors and "p" not in vectors and held:
            found.append("hold no positions")
    for field in case.plans:
        postings = postings_of(case, field)
        if np.any(postings.after > _LARGEST) or np.any(postings.lengths > _LARGEST):
            found.append("use a smaller scale")
    return found


def _norms(case: Case, field: str) -> str:
    """The kind of norms lengths can tell: short ones tell no kind from the default."""
    written = case.norms_of(field)
    lengths = [len(terms_of(doc, field)) for doc in case.read()]
    if written == "accurate" and max(lengths, default=0) <= _EXACT:
        return "default"
    if written == "impact" and max(lengths, default=0) <= 1:
        return "default"
    places = [places_of(doc, field) for doc in case.read()]
    if written == "default" and places != lengths:
        least = sum(byte4_to_int(int_to_byte4(each)) for each in places)
        ones = max(places) == 1
        return "overlaps" if ones or least < sum(lengths) * 7 / 8 else "default"
    return written


def _check_source(case: Case, before: dict[str, Any]) -> None:
    """The index is the one described: else the test would prove nothing."""
    for field, kind in case.index["layout"]["fields"].items():
        found = _frequencies(before, field)
        expected = case.frequencies(field)
        if kind["options"] == "DOCS":
            expected = dict.fromkeys(expected, 1)
        assert found == expected, f"the source's field {field} is not as described"
    described = [doc["id"] for number, doc in case.documents() if number >= 0]
    assert [dict(map(tuple, doc["stored"]))["id"] for doc in before["documents"]] == described


def _frequencies(dump: dict[str, Any], field: str) -> dict[tuple[bytes, int], int]:
    return {
        (term.encode("latin-1"), doc): freq
        for term, postings in dump["postings"].get(field, {}).items()
        for doc, freq, _ in postings
    }


def _check_extraction(case: Case, field: str, matrix: Any) -> None:
    expected = postings_of(case, field)
    assert list(matrix.vocabulary.terms) == expected.terms
    np.testing.assert_array_equal(matrix.indices, expected.docs)
    np.testing.assert_array_equal(matrix.data, expected.before)
    np.testing.assert_array_equal(
        np.diff(matrix.indptr), np.bincount(expected.rows, minlength=len(expected.terms))
    )
    np.testing.assert_array_equal(matrix.doc_len, expected.tokens)
    kind = case.norms_of(field)
    norms = [0 if kind == "none" else _norm(int(places), kind) for places in expected.places]
    np.testing.assert_array_equal(matrix.norms, norms)
    ids = [doc["id"] for number, doc in case.documents() if number >= 0]
    assert [name.decode() for name in matrix.doc_ids] == ids
    has_positions = "POSITIONS" in case.index["layout"]["fields"][field]["options"]
    assert (matrix.first_positions is not None) == has_positions
    if has_positions:
        np.testing.assert_array_equal(matrix.first_positions, expected.first_positions)


def _check_simulation(case: Case, field: str, matrix: TermDocumentMatrix) -> None:
    """What learning foresees of the pruned index is what it must become."""
    plan, expected = case.plans[field], postings_of(case, field)
    largest = max(expected.after.max(initial=0), expected.lengths.max(initial=0))
    if not matrix.postings or largest > _LARGEST:  # refused: use a smaller scale
        return
    tdv, scale, boost = plan.tdv, plan.scale, plan.boost
    if scale is None:
        tdv, scale, boost = (tdv > 0).astype(np.float32), 1.0, None
    matrix = matrix.with_position_boost(boost)
    totals = np.bincount(expected.rows, expected.after, len(expected.terms))
    doc_freq = np.bincount(expected.rows, expected.after > 0, len(expected.terms))
    kind = _norms(case, field)
    foreseen = apply_values(keep_postings(matrix, tdv, plan.cut), tdv, scale)
    assert foreseen.postings == np.count_nonzero(expected.after)
    np.testing.assert_array_equal(foreseen.statistics.total_term_freq, totals)
    np.testing.assert_array_equal(foreseen.statistics.doc_freq, np.maximum(doc_freq, 1))
    # Where only deleted documents are long enough to show exact lengths, learning sees none.
    if kind == "accurate" and matrix.norm_kind is NormKind.EXACT:
        np.testing.assert_array_equal(foreseen.doc_len, expected.lengths)
    if kind in ("default", "overlaps"):
        norms = _new_norms(expected, kind)
        np.testing.assert_array_equal(foreseen.doc_len, [byte4_to_int(norm) for norm in norms])


def _check_field(case: Case, field: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    postings = postings_of(case, field)
    keeps = case.plans[field].scale is None
    kept = postings.kept()
    assert _frequencies(after, field) == kept, f"postings of {field}"
    check_occurrences(field, before, after, keeps)
    kind, found = _norms(case, field), after["norms"].get(field, {})
    assert found.keys() == before["norms"].get(field, {}).keys(), f"norms of {field}"
    baked = case.plans[field].norms
    if baked is not None:
        docs = np.array(list(map(int, found)), np.int64)
        norms = np.zeros(len(postings.lengths), np.int64)
        norms[docs] = list(found.values())
        assert_baked(norms, postings.lengths, kind, baked)
    expected = _new_norms(postings, kind)
    for doc, norm in found.items() if baked is None else ():
        assert norm == expected[int(doc)], f"norm {norm} of {field} in {doc}"
    documents = len({doc for _, doc in kept})
    sums = [documents, len(kept), sum(kept.values())]
    assert after["statistics"].get(field, [0, 0, 0]) == sums, f"statistics of {field}"
    # whether a field has payloads is told of each segment, and those without documents go
    expected = "DOCS_AND_FREQS" if not keeps else before["options"][field].split("+")[0]
    found_options = after["options"].get(field, expected).split("+")[0]
    assert found_options == expected, f"index options of {field}"
    assert after["vectors"].get(field, {}) == _vectors(field, before, kept, keeps), "vectors"


def _norm(length: int, kind: str) -> int:
    return {"accurate": length, "impact": min(length, 1)}.get(kind, int_to_byte4(length))


def _new_norms(postings: Postings, kind: str) -> list[int]:
    """The norm of each live document, with all that its rule keeps."""
    columns = postings.places, postings.tokens, postings.lengths
    counts = zip(*(column.astype(np.int64).tolist() for column in columns))
    if kind not in ("default", "overlaps"):
        return [_norm(length, kind) for _, _, length in counts]
    return [_share(int_to_byte4(places), tokens, length) for places, tokens, length in counts]


def _share(old: int, before: int, after: int) -> int:
    """The norm that counts as large a share of the tokens as the old one did."""
    if after == 0 or old == int_to_byte4(before):
        return int_to_byte4(after)
    share = np.float64(byte4_to_int(old)) / before
    return old if after == before else int_to_byte4(max(1, int(np.rint(share * after))))


def _in_order_of_source(case: Case, dump: dict[str, Any]) -> dict[str, Any]:
    """Merged into one segment, a sorted index is sorted as a whole: number it as the source is."""
    if not (case.one_segment and case.index["layout"]["sorted"]):
        return dump
    ranks = [doc["rank"] for number, doc in case.documents() if number >= 0]
    to_source = sorted(range(len(ranks)), key=lambda doc: -ranks[doc])
    for field, terms in dump["postings"].items():
        for term, postings in terms.items():
            dump["postings"][field][term] = sorted([to_source[d], *rest] for d, *rest in postings)
    for kind in ("norms", "vectors"):
        for field, by_doc in dump[kind].items():
            renumbered = {str(to_source[int(doc)]): value for doc, value in by_doc.items()}
            dump[kind][field] = renumbered
    documents = dump["documents"]
    dump["documents"] = [None] * len(documents)
    for place, doc in zip(to_source, documents):
        dump["documents"][place] = doc
    return dump


def check_occurrences(
    field: str, before: dict[str, Any], after: dict[str, Any], keeps: bool
) -> None:
    """Positions, offsets and payloads stay with original frequencies, else they go."""
    for term, postings in after["postings"].get(field, {}).items():
        old = {doc: occurrences for doc, _, occurrences in before["postings"][field][term]}
        for doc, _, occurrences in postings:
            assert occurrences == (old[doc] if keeps else []), f"positions of {term!r} in {doc}"


def _vectors(
    field: str, before: dict[str, Any], kept: dict[tuple[bytes, int], int], keeps: bool
) -> dict[str, Any]:
    vectors = {}
    for doc, terms in before["vectors"].get(field, {}).items():
        left = {}
        for term, (_, occurrences) in terms.items():
            freq = kept.get((term.encode("latin-1"), int(doc)))
            if freq:
                left[term] = [freq, occurrences if keeps else []]
        if left:
            vectors[doc] = left
    return vectors


def _check_counts(case: Case, counts: dict[str, Any], after: dict[str, Any]) -> None:
    for place, field in enumerate(case.plans):
        said = counts if place == 0 else counts["fields"][field]
        postings = postings_of(case, field)
        assert said["postings_before"] == len(postings.before)
        assert said["terms_before"] == len(postings.terms)
        assert said["postings"] == np.count_nonzero(postings.after)
        assert said["terms"] == len(after["postings"].get(field, {}))
        assert said["tokens"] == int(postings.after.sum())
        assert said["documents_without_terms"] == np.count_nonzero(postings.lengths == 0)
    assert after["user_data"]["tdv.seed"] == str(case.seed)


def _check_rest(case: Case, before: dict[str, Any], after: dict[str, Any]) -> None:
    """What is not pruned stays; live documents keep their order and their segments."""
    assert len(after["documents"]) == len(before["documents"])
    for old, new in zip(before["documents"], after["documents"]):
        assert new == old
    for kind in ("postings", "norms", "vectors"):
        names = {*before[kind], *after[kind]} - {*case.plans}
        for name in names:
            assert after[kind].get(name, {}) == before[kind].get(name, {}), f"{kind} of {name}"
    data = {k: v for k, v in after["user_data"].items() if not k.startswith("tdv.")}
    assert data == before["user_data"]
    old = [segment for segment in before["segments"] if segment["documents"]]
    sizes = [segment["documents"] for segment in old]
    if case.one_segment:
        sizes = [sum(sizes)] if sizes else []
    else:
        compound = [[each["compound"] for each in some] for some in (old, after["segments"])]
        assert compound[0] == compound[1]
    assert [segment["documents"] for segment in after["segments"]] == sizes
    assert {segment["sort"] for segment in after["segments"]} <= {s["sort"] for s in old}
    assert not any(segment["deleted"] for segment in after["segments"])
