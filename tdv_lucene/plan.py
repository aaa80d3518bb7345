"""The plan of a pruned index: what decided on every posting of its fields.

``prune`` writes it into the index's folder, beside Lucene's files; Lucene neither reads nor removes
it. ``verify``, ``update``, ``explain`` and ``compare`` read it, and need no other folder. The
commit's user data has the checksum of each field's plan.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .errors import TdvError
from .ranking import Baking
from .ranking.postings import Boost, LengthNorm, PostingCut, describe_boost, read_boost
from .store import check_format
from .vocabulary import ByteStrings, StrPath, Vocabulary

FOLDER = "tdv-plan"
"""Inside the index's folder."""
FORMAT = 1
"""From 1.0 on (``FORMATS.md``)."""
LONGEST = 32
"""Bytes from which on unseen terms count as equally long."""

_WRONG = (AttributeError, IndexError, KeyError, TypeError, ValueError)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_AGAIN = "prune the source again"
_REMEDY = f"{_AGAIN}, or copy the whole folder of the index"


@dataclass(frozen=True, eq=False)
class FieldPlan:
    """What decides on every posting of one field."""

    # V terms of the source's field, in the index that is pruned or, where it has changed since, in
    # the one that was learned on
    vocabulary: Vocabulary
    doc_freq: np.ndarray  # int64[V]: documents with the terms when the TDVs were learned
    tdv: np.ndarray  # float32[V]: finite, not negative; a term with 0 is dropped
    # A posting that stays gets the frequency max(1, rint(scale * tf * boost * tdv)), and positions
    # are dropped; None keeps frequencies and positions
    scale: float | None
    boost: Boost | None  # what tf is multiplied by there; None for nothing
    cut: PostingCut | None  # which postings of the other terms are dropped; None for none
    # float32[2 (LONGEST + 1)]: TDVs of terms that learning has not seen, by :func:`kinds_of`
    unseen: np.ndarray
    norms: Baking | None  # BM25's k1 and b that norms hold; None for norms that hold lengths
    # What the commit's user data say as well, see :func:`..pruning.planning.plan_field`
    facts: Mapping[str, Any]
    # What learning measured: ``points``, each with its ``reduction`` and ``measures``, and
    # ``full``, the measures of the full index. On what: ``commit``, ``path``, ``documents`` (None
    # where that is not known), and the field's ``tokens``
    learned: Mapping[str, Any]
    name: str | None = None  # the field that is written; None for the name of the source's

    @property
    def field(self) -> str:
        """The field that is written."""
        return self.name or self.source_field

    @property
    def source_field(self) -> str:
        """The field of the source that it is made of."""
        return self.vocabulary.field

    @cached_property
    def sha256(self) -> str:
        """Digest of all that the plan has."""
        return self.digest(self._rest())

    def digest(self, rest: Mapping[str, Any]) -> str:
        """Return the digest of the arrays and of ``rest``, the JSON that a file has: an older one
        has fewer facts."""
        digest = hashlib.sha256(self.vocabulary.sha256.encode())
        for array in self._arrays().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(json.dumps(rest, sort_keys=True).encode())
        return digest.hexdigest()

    def with_unseen(self, places: np.ndarray, terms: ByteStrings) -> FieldPlan:
        """Return the plan for an index that has ``terms`` as well, each before the term whose
        number is its place, int64[n]. All their postings are kept."""
        if not len(terms):
            return self
        cut = self.cut
        if cut is not None:
            cut = cut._replace(least=np.insert(cut.least, places, np.float32(0)))
        return replace(
            self,
            vocabulary=replace(
                self.vocabulary, terms=self.vocabulary.terms.with_inserted(places, terms)
            ),
            doc_freq=np.insert(self.doc_freq, places, 0),
            tdv=np.insert(self.tdv, places, self.unseen[kinds_of(terms)]),
            cut=cut,
        )

    def for_length(self, average: float | None) -> FieldPlan:
        """Return the plan whose norms, if they hold k1 and b, are made for this average length."""
        if self.norms is None:
            return self
        return replace(self, norms=replace(self.norms, average_length=average))

    def record(self) -> dict[str, Any]:
        """Return what the commit's user data say of the field."""
        # The average length is added when it has been counted
        baked = None if self.norms is None else dict(zip(("k1", "b"), self.norms.held))
        return {
            **self.facts, "scale": self.scale or 1.0, "baked": baked, "plan_sha256": self.sha256
        }  # fmt: skip

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"doc_freq": self.doc_freq, "tdv": self.tdv, "unseen": self.unseen}
        return arrays if self.cut is None else {**arrays, "least_saturation": self.cut.least}

    def _rest(self) -> dict[str, Any]:
        """Return all but the arrays, as JSON."""
        cut, norms = self.cut, self.norms
        return {
            "field": self.source_field,
            "name": self.name,
            "scale": self.scale,
            "boost": describe_boost(self.boost),
            "cut": cut
            and {**cut.length_norm._asdict(), "boost": describe_boost(cut.position_boost)},
            "norms": None if norms is None else asdict(norms),
            "facts": dict(self.facts),
            "learned": dict(self.learned),
        }

    def save(self, file: Path) -> dict[str, Any]:
        """Write the arrays to the ``.npz`` ``file``; return the rest, as JSON."""
        terms = self.vocabulary.terms
        lengths = np.diff(terms.indptr).astype(np.uint16)  # Lucene's longest term has 32,766
        arrays = self._arrays() | {"doc_freq": self.doc_freq.astype(np.int32)}
        np.savez_compressed(file, terms=terms.data, lengths=lengths, **arrays)  # type: ignore[arg-type]
        return self._rest()

    @classmethod
    def load(cls, file: Path, saved: Mapping[str, Any]) -> FieldPlan:
        """Read what :meth:`save` wrote."""
        with np.load(file, allow_pickle=False) as arrays:
            indptr = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int64)])
            found = {name: arrays[name] for name in arrays.files}
        cut, norms = saved["cut"], saved["norms"]
        if cut is not None:
            length_norm = LengthNorm.read(cut)
            cut = PostingCut(found["least_saturation"], length_norm, read_boost(cut["boost"]))
        return cls(
            vocabulary=Vocabulary(saved["field"], ByteStrings(found["terms"], indptr)),
            doc_freq=found["doc_freq"].astype(np.int64),
            tdv=found["tdv"],
            scale=saved["scale"],
            boost=read_boost(saved["boost"]),
            cut=cut,
            unseen=found["unseen"],
            norms=None
            if norms is None
            else Baking(tuple(norms["held"]), tuple(norms["searched"]), norms["average_length"]),
            facts=saved["facts"],
            learned=saved["learned"],
            name=saved["name"],
        )


@dataclass(frozen=True)
class Plan:
    """The plans of all fields of an index that were pruned; the first is the one searched."""

    fields: Sequence[FieldPlan]

    def of(self, field: str) -> FieldPlan | None:
        """Return the plan of ``field``; None if it was not pruned."""
        return next((plan for plan in self.fields if plan.field == field), None)

    def save(self, index: StrPath) -> None:
        """Write the plan into the folder of an index."""
        folder = Path(index) / FOLDER
        folder.mkdir()
        saved = [plan.save(folder / f"{number}.npz") for number, plan in enumerate(self.fields)]
        text = json.dumps({"format": FORMAT, "fields": saved}, indent=1, ensure_ascii=False)
        (folder / "plan.json").write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, index: StrPath, checksums: Mapping[str, str] | None = None) -> Plan:
        """Read the plan of an index. ``checksums`` are field -> what the commit says of its plan,
        the first that of the field that is searched; None takes the plan as it is.

        Raises :class:`TdvError` when the folder has no plan, or a damaged one, or that of another
        index.
        """
        folder = Path(index) / FOLDER
        try:
            saved = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
            check_format(f"the plan of {index}", saved["format"], FORMAT, _AGAIN)
            read = [
                FieldPlan.load(folder / f"{number}.npz", field)
                for number, field in enumerate(saved["fields"])
            ]
            found = {plan.field: plan.digest(rest) for plan, rest in zip(read, saved["fields"])}
        except FileNotFoundError as error:
            raise TdvError(
                f"{index} lacks its plan ({FOLDER}/{Path(error.filename).name}): {_REMEDY}"
            ) from error
        except (OSError, *_WRONG, *_BROKEN) as error:
            if isinstance(error, TdvError):
                raise
            raise TdvError(f"the plan of {index} is damaged ({error}): {_REMEDY}") from error
        if checksums is None:
            return cls(read)
        if found != checksums:
            raise TdvError(f"the plan of {index} is another's, or was changed: {_REMEDY}")
        return cls(sorted(read, key=lambda plan: list(checksums).index(plan.field)))


def kinds_of(terms: ByteStrings) -> np.ndarray:
    """Return int64[n]: a number for each length of a term, and for whether it has digits.

    Nothing is known of a term that learning has not seen but its bytes. How often it occurs today
    says little, and it will occur oftener tomorrow, when the postings written today must still be
    right. So it counts as what it was when it came: a term of one document.
    """
    lengths = np.minimum(np.diff(terms.indptr), LONGEST)
    data = np.asarray(terms.data)
    digits = np.concatenate([[0], np.cumsum((data >= ord("0")) & (data <= ord("9")))])
    kinds: np.ndarray = 2 * lengths + (np.diff(digits[terms.indptr]) > 0)
    return kinds
