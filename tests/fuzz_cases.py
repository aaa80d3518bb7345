"""Random small indexes with random values: every kind the rewriter must serve, from a seed.

A case is the index as :mod:`testing_jar` writes it, in which terms are Latin-1 strings that stand
for bytes, and for each field to be pruned a plan of every term of a live document.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from lucene_indexes import Doc, Layout, described_doc
from pruning_inputs import field_plan

from tdv_lucene.plan import FieldPlan
from tdv_lucene.ranking import Baking
from tdv_lucene.ranking.postings import FirstPositionBoost, LengthNorm, PostingCut, WeightPower
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

_OPTIONS = (
    "DOCS_AND_FREQS",
    "DOCS_AND_FREQS_AND_POSITIONS",
    "DOCS_AND_FREQS_AND_POSITIONS_AND_OFFSETS",
)
_VECTORS = ("", "", "", "v", "vp", "vo", "vpo", "vpy", "vpoy")
_SCALES = (0.01, 0.5, 1.0, 1.0, 2.0, 3.7, 4.0, 100.0, 12345.678, 1e7)
_BAKED = (
    None, ((0.9, 0.4), (0.9, 0.4)), ((3.825, 0.2), (0.9, 0.4)), ((0.3, 0.9), (0.9, 0.4)),
    ((2.5, 0.75), (1.2, 0.75)), ((4.5, 1.0), (1.2, 0.75)), ((50.0, 0.0), (0.5, 1.0)),
)  # fmt: skip
_LONGEST = 32_766
"""Bytes of the longest term Lucene takes."""


@dataclass(frozen=True)
class Case:
    """What to write, what to prune, and how."""

    seed: int
    index: dict[str, Any]
    plans: dict[str, FieldPlan]
    threads: int
    one_segment: bool

    def norms_of(self, field: str) -> str:
        """``default``, ``accurate``, ``impact`` or ``none``, as the field was written."""
        return self.index["layout"]["fields"][field]["norms"]

    def documents(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(Live number or -1, document) of each document, in the order of the index."""
        number = 0
        for segment in self.index["segments"]:
            ordered = segment
            if self.index["layout"]["sorted"]:
                ordered = sorted(segment, key=lambda doc: -doc["rank"])
            for doc in ordered:
                live = not doc["deleted"]
                yield number if live else -1, doc
                number += live

    def read(self) -> Iterator[dict[str, Any]]:
        """The documents that count in statistics. Where any is soft-deleted, Lucene's reader leaves
        out segments in which none is live."""
        segments = self.index["segments"]
        soft = any(doc["deleted"] == "soft" for segment in segments for doc in segment)
        for segment in segments:
            if not soft or not all(doc["deleted"] for doc in segment):
                yield from segment

    def first_positions(self, field: str) -> dict[tuple[bytes, int], int]:
        """(Term, live document) -> where it stands first."""
        found: dict[tuple[bytes, int], int] = {}
        for number, doc in self.documents():
            position = -1
            for value in doc["fields"].get(field, ()):
                for text, increment, *_ in value:
                    position += increment
                    found.setdefault((text.encode("latin-1"), number), position)
                position += 1  # the tokens' end, as it was written
        return found

    def frequencies(self, field: str) -> dict[tuple[bytes, int], int]:
        """(Term, live document) -> tf, from the documents as they were given."""
        found: Counter = Counter()
        for number, doc in self.documents():
            if number >= 0:
                found.update((term, number) for term in terms_of(doc, field))
        return dict(found)


def places_of(doc: dict[str, Any], field: str) -> int:
    """How many positions of a document have a token: what Lucene's norms count."""
    return sum(token[1] > 0 for value in doc["fields"].get(field, ()) for token in value)


def terms_of(doc: dict[str, Any], field: str) -> list[bytes]:
    """A document's tokens in a field, in order."""
    values = doc["fields"].get(field, ())
    return [token[0].encode("latin-1") for value in values for token in value]


def random_case(seed: int) -> Case:
    """The case of a seed: the same on every machine and Lucene."""
    rng = random.Random(seed)
    names = ["contents"] + [name for name in ("title", "body") if rng.random() < 0.4]
    layout = _layout(rng, names)
    vocabulary = {name: _vocabulary(rng) for name in names}
    kind = rng.choice(["one", "some", "some", "some"])
    segments = _segments(rng, layout, vocabulary, 1 if kind == "one" else rng.randint(2, 5))
    _overlap(random.Random(f"overlaps {seed}"), layout, segments)
    index = {"layout": layout, "segments": segments}
    with_freqs = [n for n in names if layout["fields"][n]["options"] != "DOCS"]
    pruned = ["contents"] + [n for n in with_freqs if n != "contents" and rng.random() < 0.5]
    rng.shuffle(pruned)
    written = Case(seed, index, {}, 1, False)
    plans = {name: _plan(rng, written, name) for name in pruned}
    return Case(seed, index, plans, threads=rng.randint(1, 3), one_segment=rng.random() < 0.2)


def case_of(
    segments: list[list[Doc]], tdv: Callable[[int], Sequence[float]], scale: float | None = 1.0,
    vectors: str = "",
) -> Case:  # fmt: skip
    """A case made by hand; ``tdv`` gives as many numbers as there are terms, in their order."""
    layout = Layout(vectors=vectors)
    described = [[described_doc(doc, 0, layout) for doc in segment] for segment in segments]
    index = {"layout": layout.described(), "segments": described}
    written = Case(0, index, {}, threads=2, one_segment=False)
    terms = sorted({term for term, _ in written.frequencies("contents")})
    vocabulary = Vocabulary("contents", ByteStrings.of(terms))
    plan = field_plan(vocabulary, np.array(tdv(len(terms)), np.float32), scale)
    return replace(written, plans={"contents": plan})


def _layout(rng: random.Random, names: list[str]) -> dict[str, Any]:
    return {
        "fields": {name: _field(rng, name) for name in names},
        "compound": rng.random() < 0.3,
        "sorted": rng.random() < 0.2,
        "softDeletes": rng.random() < 0.25,
        "idDocValues": rng.random() < 0.85,
        "userData": {"made by": "fuzzing"} if rng.random() < 0.5 else {},
    }


def _field(rng: random.Random, name: str) -> dict[str, str]:
    docs_only = name != "contents" and rng.random() < 0.2
    kinds = ["default"] * 6 + ["accurate"] * 2 + ["none", "impact"]
    return {
        "options": "DOCS" if docs_only else rng.choice(_OPTIONS),
        "vectors": rng.choice(_VECTORS),
        "norms": rng.choice(kinds if name == "contents" else kinds[:-1]),
    }


def _vocabulary(rng: random.Random) -> list[str]:
    """Terms to draw from, some of them awkward: empty, long, no text, prefixes of others."""
    words = [f"{stem}{i}" for i, stem in enumerate(rng.choices(["w", "wo", "x", ""], k=12))]
    words += ["é", "漢字", "\U0001f600", "a b"]
    terms = [word.encode().decode("latin-1") for word in words]
    terms += ["", "\x00", "\x00\x01", "\xff", "\xff\xfe", "\x80", "a" * 300]
    if rng.random() < 0.03:
        terms += ["\x00" * _LONGEST, "z" * _LONGEST, "z" * (_LONGEST - 1) + "\xff"]
    rng.shuffle(terms)
    return terms[: rng.choice([1, 3, 8, 20, len(terms)])]


def _segments(
    rng: random.Random, layout: dict[str, Any], vocabulary: dict[str, list[str]], count: int
) -> list[list[dict[str, Any]]]:
    segments, number = [], 0
    raw, extras = rng.random() < 0.7, rng.random() < 0.4
    share_deleted = rng.choice([0, 0, 0.1, 0.4])
    for _ in range(count):
        fate = rng.choices(["hard", "soft", ""], [0.08, 0.05, 0.87])[0]  # of the whole segment
        segment = []
        for _ in range(rng.choice([1, 2, 5, 9, 20])):
            doc = _document(rng, layout, vocabulary, number)
            if raw:
                doc["raw"] = f"text of {number} " * rng.randint(0, 9)
            if extras:
                doc.update(_extras(rng, number))
            if layout["sorted"]:
                doc["rank"] = rng.randint(-3, 3)
            dies = fate or (rng.random() < share_deleted and rng.choice(["hard", "soft"]))
            doc["deleted"] = dies or ""
            if doc["deleted"] == "soft" and not layout["softDeletes"]:
                doc["deleted"] = "hard"
            segment.append(doc)
            number += 1
        segments.append(segment)
    return segments


def _overlap(
    rng: random.Random, layout: dict[str, Any], segments: list[list[dict[str, Any]]]
) -> None:
    """Put tokens at the position of the one before, and bytes that are no text into documents.

    Drawn apart, so that a seed is else the case it always was.
    """
    shares = {
        name: rng.choice([0, 0, 0.05, 0.3, 0.9])
        for name, kind in layout["fields"].items()
        if "POSITIONS" in kind["options"] and kind["norms"] == "default"
    }
    has_bytes = rng.random() < 0.3
    for doc in (doc for segment in segments for doc in segment):
        if has_bytes and rng.random() < 0.8:
            doc["bytes"] = rng.choice(["\xe3\x81", "\x80", "", "\xff\xfe\x00", "text"])
        for name, share in shares.items():
            for value in doc["fields"].get(name, ()):
                for token in value[1:]:
                    token[1] = 0 if rng.random() < share else token[1]


def _document(
    rng: random.Random, layout: dict[str, Any], vocabulary: dict[str, list[str]], number: int
) -> dict[str, Any]:
    fields = {}
    for name, kind in layout["fields"].items():
        if rng.random() < 0.1:
            continue  # the document has no such field
        values = 2 if rng.random() < 0.1 else 1
        fields[name] = [_tokens(rng, vocabulary[name], kind) for _ in range(values)]
    return {"id": f"doc-{number}", "fields": fields}


def _tokens(rng: random.Random, terms: list[str], kind: dict[str, str]) -> list[list[Any]]:
    """[term, position increment, start, end, payload or None]; gaps between positions too."""
    length = rng.choice([0, 1, 1, 3, 8, 30, 60, 130 if rng.random() < 0.3 else 8])
    weights = [1 / (place + 1) for place in range(len(terms))]
    payloads = "POSITIONS" in kind["options"] and rng.random() < 0.4
    tokens, offset = [], 0
    for term in rng.choices(terms, weights, k=length):
        payload = rng.choice([None, "", "p", "\x00\xff"]) if payloads else None
        end = offset + rng.randint(0, 9)
        tokens.append([term, rng.choice([1, 1, 1, 2, 40]), offset, end, payload])
        offset = end + rng.randint(0, 2)
    return tokens


def _extras(rng: random.Random, number: int) -> dict[str, Any]:
    """Doc values, one of them changed after indexing, points and k-NN vectors, here and there."""
    extras: dict[str, Any] = {"count": number}
    if rng.random() < 0.2:
        extras["update"] = rng.randint(-5, 5)
    if rng.random() < 0.8:
        extras["rank"] = rng.randint(-3, 3)
        extras["tags"] = rng.sample(["red", "green", "blue"], rng.randint(1, 3))
    if rng.random() < 0.8:
        extras["year"] = 1900 + number
        extras["embedding"] = [number + 1, rng.randint(-9, 9), 0.5]
    return extras


def _plan(rng: random.Random, written: Case, field: str) -> FieldPlan:
    terms = sorted({term for term, _ in written.frequencies(field)})
    keeps = rng.choice(["scaled"] * 4 + ["original"] * 2) == "original"
    tdv = np.array(_values(rng, len(terms)), np.float32)
    least = None
    if rng.random() < 0.3:
        least = np.array([rng.choice([0, 0.2, 0.4, 0.5, 0.7, 0.99]) for _ in terms], np.float32)
    length_norm = LengthNorm(
        *rng.choice([(0.54, 0.012), (1.0, 0.0), (0.0, 0.1), (3.6, 0.5)]), rng.random() < 0.5
    )
    lead = rng.choice([None, None, (2.0, 4.0), (8.0, 1.0), (0.3, 200.0)])
    kind = written.index["layout"]["fields"][field]
    if "POSITIONS" not in kind["options"]:
        lead = None
    # Without a draw, so that a seed is the case it always was.
    of_cut = lead and (lead, None, (2 * lead[0], 2 * lead[1]))[len(terms) % 3]
    scale = rng.choice(_SCALES)
    baked = None if kind["norms"] in ("none", "impact") else _BAKED[written.seed % len(_BAKED)]
    boost = lead and FirstPositionBoost(*lead)
    if kind["norms"] == "impact" and lead is None:
        boost = (None, WeightPower(2.0, 3.0), WeightPower(0.5, 7.0))[written.seed % 3]
    cut = None
    if least is not None:
        cut = PostingCut(least, length_norm, of_cut and FirstPositionBoost(*of_cut))
    vocabulary = Vocabulary(field, ByteStrings.of(terms))
    return field_plan(
        vocabulary, tdv, None if keeps else scale, cut=cut, boost=boost,
        norms=baked and Baking(*baked),
    )  # fmt: skip


def _values(rng: random.Random, terms: int) -> list[float]:
    kind = rng.choice(["zeros", "ones", "tiny", "huge"] + ["mixed"] * 16)
    draw = {
        "zeros": lambda: 0.0,
        "ones": lambda: 1.0,
        "tiny": lambda: rng.choice([1e-45, 1e-30, 1e-7, 0.004]),
        "huge": lambda: rng.choice([1.0, 1e3, 1e6, 1e9, 3.4e38]),
        # halves show rounding to even
        "mixed": lambda: rng.choice(
            [0, 0, 0, 0.01, 0.125, 0.25, 0.5, 0.75, 1, 1.5, 2.5, rng.uniform(0, 3)]
        ),
    }[kind]
    return [draw() for _ in range(terms)]
