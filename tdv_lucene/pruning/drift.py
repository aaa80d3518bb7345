"""How far an index has moved from what its TDVs were learned on, and when to learn again."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import TdvError
from ..index.index import Index
from ..index.record import ShardRecord
from ..jvm.rewriter import FieldState, field_state
from ..plan import FieldPlan, Plan

_log = logging.getLogger(__name__)

MOST = 0.5
"""With more than half of the postings elsewhere, the TDVs are taken for those of another index."""
_DUE = 0.1
_GROWN = 2.0
_ANOTHER = (
    ". Is this the collection that they were learned on? Those of another drop what matters here"
)


@dataclass(frozen=True)
class Drift:
    """A field now, beside what it was when its TDVs were learned."""

    documents: int  # of the index
    # Tokens a document: deleted ones count as long as Lucene's own statistics have them
    mean_length: float
    # Within [0, 1]: the share of the postings that belong to other terms than they would if every
    # term had its share of then; all of them where no document is left
    moved: float
    unseen_terms: int  # terms that learning has not seen
    unseen_postings: float  # their share of the postings
    documents_learned: int  # those of then
    mean_length_learned: float

    @classmethod
    def of(cls, plan: FieldPlan, states: Sequence[FieldState], commit: str | None = None) -> Drift:
        """Measure it; ``states`` are those of all shards, at this ``commit``.

        Of the commit that was learned on, nothing has moved. Its deleted documents would say that
        something has: learning did not count them.
        """
        learned_on, total = plan.learned, float(plan.learned["tokens"])
        if commit is not None and learned_on["commit"] == commit:
            documents = int(learned_on["documents"])
            length = total / max(documents, 1)
            return cls(documents, length, 0.0, 0, 0.0, documents, length)
        before = np.asarray(plan.doc_freq, np.float64)
        now = np.sum([state.doc_freq for state in states], axis=0)
        documents = sum(state.documents for state in states)
        learned = documents if learned_on["documents"] is None else int(learned_on["documents"])
        counted = [(state.doc_count, state.tokens, state.postings) for state in states]
        doc_count, tokens, postings = (max(sum(counts), 1) for counts in zip(*counted))
        both = np.minimum(before / max(before.sum(), 1), now / postings).sum()
        unseen = {
            term
            for state in states
            for term, left in zip(state.unseen, state.unseen_doc_freq)
            if left
        }
        return cls(
            documents=documents,
            mean_length=tokens / doc_count,
            moved=float(max(0.0, 1 - both)) if documents else float(learned > 0),
            unseen_terms=len(unseen),
            unseen_postings=sum(int(s.unseen_doc_freq.sum()) for s in states) / postings,
            documents_learned=learned,
            mean_length_learned=total / max(learned, 1),
        )

    def __str__(self) -> str:
        due = "; learn again" if self.is_due else ""
        return (
            f"{self.documents:,} documents ({self.documents_learned:,} at learning), "
            f"{self.mean_length:.1f} tokens each ({self.mean_length_learned:.1f}), "
            f"{100 * self.moved:.1f} % of the postings moved to other terms, "
            f"{self.unseen_terms:,} unseen terms have {100 * self.unseen_postings:.1f} %{due}"
        )

    @property
    def is_due(self) -> bool:
        """Whether to learn again: a tenth of the postings moved, or there are twice the documents,
        or half."""
        then, now = self.documents_learned, self.documents
        return self.moved > _DUE or not then / _GROWN < max(now, 1) < then * _GROWN

    def refuse_another_index(self, index: str | os.PathLike[str], field: str) -> None:
        """Raise :class:`TdvError` where too little is left of what the TDVs were learned on."""
        if self.documents_learned and not self.documents:
            raise TdvError(
                f"{index} holds no documents, and the TDVs of field '{field}' were learned on "
                f"{self.documents_learned:,}: nothing is written. Run this again when they are "
                "there"
            )
        if self.moved > MOST:
            raise TdvError(
                f"TDVs of another vocabulary: {100 * self.moved:.0f} % of the postings of field "
                f"'{field}' of {index} belong to other terms than at learning (at most "
                f"{100 * MOST:.0f} %), in {self.documents:,} documents (then "
                f"{self.documents_learned:,}). Learn on this index ('tdv-lucene learn')"
            )


def planned_for(
    index: Index, plan: Plan, shard: ShardRecord | None = None
) -> tuple[list[FieldPlan], bool]:
    """Return the plans of the fields as they apply to an index, or to a ``shard`` of one, which may
    have changed since its TDVs were learned; and whether any has.

    Terms that learning has not seen are kept whole.

    Raises :class:`TdvError` when it is not the same index any more.
    """
    commit = index.commit if shard is None else shard.source_commit
    planned, has_changed = [], False
    for field in plan.fields:
        learned_on = field.learned["commit"]
        if learned_on in (None, commit):
            planned.append(field)
            continue
        state, has_changed = field_state(index, field), True
        planned.append(field.with_unseen(state.places, state.unseen))
        if shard is None and field.name is None:  # how far a shard is from the whole says nothing
            drift = Drift.of(field, [state])
            drift.refuse_another_index(index, field.field)
            path = field.learned["path"] or str(index)
            moved_far = drift.is_due and os.path.realpath(path) != os.path.realpath(index)
            _log.warning(
                "the TDVs of '%s' were learned on another commit (%s) than that of %s: %s%s",
                field.field, path, index, drift, _ANOTHER if moved_far else "",
            )  # fmt: skip
    return planned, has_changed
