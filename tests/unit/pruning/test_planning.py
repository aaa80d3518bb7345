"""What decides a pruning: the TDVs, the options, and whether the field has norms."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_problem import make_matrix

from tdv_lucene.errors import TdvError
from tdv_lucene.index.parameters import Searcher
from tdv_lucene.peers.peers import unlearned_values
from tdv_lucene.plan import FieldPlan
from tdv_lucene.pruning.config import PruneConfig
from tdv_lucene.pruning.planning import plan_field
from tdv_lucene.pruning.prune import decide
from tdv_lucene.pruning.targets import SearchTarget
from tdv_lucene.values.term_values import TermValues

LUCENE = SearchTarget.of("lucene")


def _values() -> TermValues:
    dense = np.array([[1, 2, 0, 0], [1, 1, 1, 1], [0, 0, 0, 9], [3, 0, 1, 0]])
    return unlearned_values(make_matrix(dense), "df")


def _plan(values: TermValues, share: float = 0.3, **options: object) -> FieldPlan:
    config = PruneConfig(**options)
    return plan_field(values, share, config, LUCENE, has_norms=True, what="I")[0]


def test_original_frequencies_have_no_scale_and_are_not_boosted() -> None:
    values = _values()
    values = replace(values, manifest={**values.manifest, "lead": {"boost": 2.0, "span": 4.0}})
    scaled, kept = _plan(values, scale=3), _plan(values, tf="original")
    assert scaled.scale == 3 and scaled.boost is not None
    assert kept.scale is None and kept.boost is None and kept.record()["scale"] == 1


def test_rare_terms_are_dropped_by_their_documents() -> None:
    plan = _plan(_values(), 0.0, min_doc_freq=2)
    assert ((plan.tdv > 0) == (plan.doc_freq >= 2)).all() and not plan.tdv.all()
    with pytest.raises(TdvError, match="min_doc_freq 5 .*: 4 is"):
        _plan(_values(), 0.0, min_doc_freq=5)


@pytest.mark.parametrize(
    ("fields", "has_none"),
    [
        ({"contents": SimpleNamespace(has_norms=True)}, False),
        ({"contents": SimpleNamespace(has_norms=False)}, True),
        ({}, False),  # as of an index without documents, which is refused as that
    ],
)
def test_only_a_field_that_is_there_lacks_norms(fields: dict, has_none: bool) -> None:
    index, config = SimpleNamespace(fields=fields), PruneConfig(reduction=0.3)
    asked = replace(config, search_as="lucene")
    if has_none:
        with pytest.raises(TdvError, match="search_as"):
            decide([_values()], asked, Searcher(), index)
        plan, _ = decide([_values()], config, Searcher(), index)
    else:
        plan, _ = decide([_values()], asked, Searcher(), index)
    assert (plan.fields[0].norms is None) == has_none
