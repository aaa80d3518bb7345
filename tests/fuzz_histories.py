"""Histories of an index, each from a seed: documents come and go, segments merge, and a pruned
index follows. After each update it must hold what pruning the source of that moment anew gives.

``scripts/fuzz --histories --cases N --seed S`` runs many.
"""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from fuzz_cases import _document, _extras, _layout, _segments, _vocabulary
from lucene_reading import check_index
from pruning_inputs import values_of
from testing_jar import change_described, dump_index, write_described

from tdv_lucene import TdvError, TermDocumentMatrix, extract_matrix, prune_index, update_index
from tdv_lucene.pruning import drift
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.ranking.postings import FirstPositionBoost, describe_boost
from tdv_lucene.values.posting_rule import make_posting_rule
from tdv_lucene.values.term_values import TermValues

_COMPARED = ("postings", "vectors", "documents", "options")
"""Of a dump; norms only where they are lengths: else they are made for the average of before."""

_NOTHING_LEFT = ("leaves no posting", "no field", "has no norms")


class History:
    """An index that changes, as the testing jar writes it."""

    def __init__(self, seed: int, source: Path) -> None:
        self.rng = rng = random.Random(seed)
        names = ["contents"] + ["title"] * (rng.random() < 0.4)
        self.layout = _layout(rng, names)
        self.layout["fields"]["contents"]["norms"] = rng.choice(["default", "accurate", "none"])
        self.vocabulary = {name: _vocabulary(rng) for name in names}
        self.source = source
        segments = _segments(rng, self.layout, self.vocabulary, rng.randint(1, 4))
        self.number = sum(map(len, segments))
        write_described(source, {"layout": self.layout, "segments": segments})

    def go_on(self) -> None:
        """One commit more."""
        rng = self.rng
        if rng.random() < 0.5:  # terms that nobody has seen
            for terms in self.vocabulary.values():
                terms += rng.sample(["new", "n3w", "\x00new", "zz" * 20, "\xff\xff", "2026"], 2)
        steps = []
        for _ in range(rng.randint(0, 3)):
            step: dict[str, Any] = {"add": [self._new() for _ in range(rng.choice([0, 1, 3, 9]))]}
            share = rng.choice([0, 0.05, 0.3, 1.0 if rng.random() < 0.2 else 0])
            step["change"] = [
                self._changed(number) for number in range(self.number) if rng.random() < share
            ]
            if rng.random() < 0.15:
                step["merge"] = rng.randint(1, 2)
            steps.append(step)
        change_described(self.source, {"layout": self.layout, "steps": steps})

    def _new(self) -> dict[str, Any]:
        doc = _document(self.rng, self.layout, self.vocabulary, self.number)
        if self.rng.random() < 0.5:
            doc.update(_extras(self.rng, self.number))
        if self.layout["sorted"]:
            doc["rank"] = self.rng.randint(-3, 3)
        self.number += 1
        return doc

    def _changed(self, number: int) -> dict[str, Any]:
        kinds = ["hard", "hard", *["soft"] * self.layout["softDeletes"]]
        return {"id": f"doc-{number}", "deleted": self.rng.choice(kinds)}


@patch.object(drift, "MOST", 1.0)  # so few documents are never like one another
def run_history(seed: int, scratch: Path) -> str:
    """Check one history; return what became of it.

    Raises
    ------
    AssertionError
        When the pruned index is not what pruning anew gives.
    """
    source, pruned = scratch / "source", scratch / "pruned"
    for folder in scratch.iterdir():
        shutil.rmtree(folder, ignore_errors=True)
    history = History(seed, source)
    rng, options = history.rng, _options(history.rng)
    try:
        matrix = extract_matrix(source, scratch / "matrix")
        values = _random_values(rng, matrix, options["tf"])
        values.save(scratch / "values")
        prune_index(source, scratch / "values", pruned, **options)
    except TdvError as error:
        return f"refused: {str(error)[:30]}"
    updates = 0
    for _ in range(rng.randint(1, 5)):
        history.go_on()
        if rng.random() < 0.8:
            try:
                updates += update_index(pruned, threads=rng.randint(1, 3))["updated"]
            except TdvError as error:  # as for a new pruning
                shutil.rmtree(scratch / "fresh", ignore_errors=True)
                with pytest.raises(TdvError, match=re.escape(str(error))):
                    prune_index(source, scratch / "values", scratch / "fresh", **options)
                return "refused later"
            _check(source, pruned, scratch, options)
    return f"{updates} updates"


def _check(source: Path, pruned: Path, scratch: Path, options: dict[str, Any]) -> None:
    found = verify_pruned(source, pruned)
    assert found["equal"], found
    check_index(pruned)
    fresh = scratch / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        prune_index(source, scratch / "values", fresh, **options)
    except TdvError as error:
        # A new index without the field, or without a posting of it, would be a mistake.
        assert any(why in str(error) for why in _NOTHING_LEFT), error
        return
    now, anew = dump_index(pruned), dump_index(fresh)
    for part in (*_COMPARED, *(["norms"] if options["search_as"] == "recorded" else [])):
        assert now[part] == anew[part], part


def _options(rng: random.Random) -> dict[str, Any]:
    tf = rng.choice(["scaled", "scaled", "original"])
    return {
        "reduction": rng.choice([0.0, 0.2, 0.5]),
        "tiers": rng.random() < 0.4,
        "tf": tf,
        **({"scale": rng.choice([1.0, 2.0, 3.7])} if tf == "scaled" else {}),
        "search_as": rng.choice(["recorded", None, "lucene"]),
        "min_doc_freq": rng.choice([1, 1, 2]),
        "threads": rng.randint(1, 3),
    }


def _random_values(rng: random.Random, matrix: TermDocumentMatrix, tf: str) -> TermValues:
    terms = len(matrix.vocabulary)
    draw = np.random.default_rng(rng.randrange(1 << 30))
    weights = draw.choice([0, 0.3, 0.5, 1, 1.5], terms, p=[0.1, 0.2, 0.2, 0.3, 0.2])
    priority = draw.uniform(0.1, 1, terms).astype(np.float32)
    boost, rule, by_posting = None, None, {}
    if matrix.first_positions is not None and tf == "scaled" and rng.random() < 0.5:
        boost = FirstPositionBoost(2.0, 4.0)
    if rng.random() < 0.6 and terms:
        counted = matrix.with_position_boost(boost)
        rule = make_posting_rule(counted, priority, 0.3, k1=0.9, b=0.4)
        by_posting = {"posting_rule": rule.describe(), "unit": "posting"}
    parameters = {"k1": rng.choice([0.9, 3.0]), "b": rng.choice([0.2, 0.4])}
    values = values_of(matrix, weights)
    told = {"parameters": parameters, "lead": describe_boost(boost), **by_posting}
    return replace(
        values, priority=priority, manifest={**values.manifest, **told},
        posting_priority=None if rule is None else rule.priority,
    )  # fmt: skip
