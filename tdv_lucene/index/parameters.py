"""With which ranking function and parameters an index is searched, and whose defaults those are."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..arguments import MOST_HITS, within
from ..errors import TdvError
from ..ranking import ANY_MODEL, DEFAULT_MODEL, MODELS, NAMED_DEFAULTS, SearchParameters, model_for
from ..ranking.parameters import TIERS, Tiers
from ..source import Source
from ..version import __version__
from .record import FieldRecord

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Searcher:
    """The program that an index is for: its defaults are taken where the index records nothing."""

    why_not_anserinis: str = ""  # as tdvlucene.common.Searcher says; empty for Anserini's

    @property
    def name(self) -> str:
        """One of :data:`..ranking.NAMED_DEFAULTS`."""
        return "lucene" if self.why_not_anserinis else "anserini"

    def describe(self, names: Iterable[str]) -> str:
        """Say whose defaults these parameters have, and why."""
        defaults = NAMED_DEFAULTS[self.name]
        told = ", ".join(f"{name} {defaults[name]:g}" for name in names)
        why = self.why_not_anserinis and f" (the index is not Anserini's: {self.why_not_anserinis})"
        return f"{self.name.title()}'s {told}{why}"


class Described(os.PathLike[str]):
    """A base of all that can be searched: an index opened here, or shards that only workers see."""

    source: Source
    identity: dict[str, Any]  # see whole_identity
    user_data: dict[str, str]  # of the commit; of shards, what it would be in one index
    searcher: Searcher
    analysed: Any = None  # the FieldAnalysis of shards that only workers see

    @property
    def is_sharded(self) -> bool:
        """Return whether it was named as shards."""
        return self.source.is_sharded

    def __fspath__(self) -> str:
        return os.fspath(self.source)

    def __str__(self) -> str:
        return str(self.source)

    @property
    def commit(self) -> str:
        """Return what identifies the commit, or those of all shards."""
        return str(self.identity["commit"])

    def record(self, field: str | None = None) -> FieldRecord:
        """Return what the index says of a field; None for the field that is searched."""
        return FieldRecord.of(self.user_data, field)

    def holds_weights(self, field: str) -> bool | None:
        """Return whether the frequencies of the field are weights; None without norms."""
        raise NotImplementedError


def recorded_parameters(
    index: Described, model: str | None = None, *, field: str | None = None, tier: str = "both",
    depth: int | None = None, **given: float | None,
) -> SearchParameters:  # fmt: skip
    """Return the ranking function and the parameters to search an index with.

    A pruned index records the model its TDVs were learned for and, with scaled frequencies, the
    parameters that go with the scale (k1 * s, mu * s). Any other index gets BM25, an impact index
    its own function, and the defaults of its searcher: Anserini's are k1 0.9, b 0.4, mu 1000 and
    min_idf 0, Lucene's k1 1.2, b 0.75 and mu 2000. Arguments ``given`` here take precedence.

    ``field`` None is the one the index names; one without a record was not pruned. An index in two
    tiers is searched in ``"both"``, or in one ``tier`` alone, ``"hot"`` or ``"whole"``; ``depth``
    is how many documents the whole field ranks, None for what the index records.

    Raises :class:`TdvError` when there is no such index, model or tier, the model does not suit the
    field or has no such parameter, a value is out of its range, or the index was pruned for a model
    that this version lacks.
    """
    record = index.record(field)
    tiers = _tiers(index, record, tier, depth)
    if shards := record.content.get("shards.count"):
        _log.warning(
            "%s is one of %s shards and is searched by itself, with its own statistics: for those "
            "of the whole, name all of them", index, shards,
        )  # fmt: skip
    recorded = record.known_model
    if recorded is None and model is None and record.model not in (None, ANY_MODEL):
        raise TdvError(
            f"{index} was pruned by tdv-lucene {record.version} for the ranking function "
            f"'{record.model}', which this version ({__version__}) lacks: use the version that "
            f"pruned it, or name one of {', '.join(MODELS)} (model)"
        )
    if recorded is not None and model in (None, recorded):
        chosen = recorded
    else:
        field = record.field or "contents"
        chosen = model_for(index.holds_weights(field), model, f"the field '{field}' of {index}")
    usual = record.parameters(chosen, NAMED_DEFAULTS[index.searcher.name])
    named = {name: value for name, value in given.items() if value is not None}
    taken = [name for name in usual if name not in named and f"search.{name}" not in record.content]
    parameters = SearchParameters(chosen, **{**usual, **named}).in_tiers(tiers)
    return parameters.taken_from(index.searcher.describe(taken)) if taken else parameters


def _tiers(index: Described, record: FieldRecord, tier: str, depth: int | None) -> Tiers | None:
    """Return the tiers to search in; those that are recorded unless asked otherwise."""
    if tier not in TIERS:
        raise TdvError(f"tier must be {', '.join(TIERS[:-1])} or {TIERS[-1]}, got '{tier}'")
    if depth is not None:
        within("depth", depth, 1, MOST_HITS)
    tiers = record.tiers
    if tiers is None and (tier == "hot" or depth is not None):
        what = f"tier {tier}" if tier == "hot" else f"depth {depth}"
        raise TdvError(
            f"{index} has no hot field beside '{record.field or 'contents'}': leave out {what}, or "
            "prune its source with tiers"
        )
    if tiers is None or tier == "whole":
        return None
    if tier == "hot":
        return tiers.of_hot()
    return tiers if depth is None else tiers._replace(depth=depth, margin=0.0)


def note_on_norms(index: str, model: str | None, record: FieldRecord) -> str:
    """Return a warning where a model reads norms as lengths that hold k1 and b."""
    if record.baked is None or model == DEFAULT_MODEL:
        return ""
    return (
        f"the norms of {index} hold BM25's k1 and b in place of document lengths, and {model} "
        "reads them as lengths: prune its source again with --search-as recorded"
    )


def warn_of_another_search(
    index: Described, parameters: SearchParameters, record: FieldRecord
) -> None:
    """Log a warning where ``index`` is searched with another model, or other parameters, than its
    ``record`` of the field says."""
    model = parameters.model
    if note := note_on_norms(f"{index}", model, record):
        _log.warning("%s", note)
    if (learned_for := record.learned_for_another(model)) is not None:
        _log.warning(
            "%s was learned for %s and is searched with %s: leave the ranking function at its "
            "default (%s), or learn TDVs for %s", index, learned_for, model, learned_for, model,
        )  # fmt: skip
    elif record.content and model is not None:
        recorded, given = record.parameters(model), parameters.values()
        # People copy them with six digits.
        others = [name for name in given if f"{given[name]:g}" != f"{recorded[name]:g}"]
        if others:
            _log.warning(
                "%s was learned for %s and is searched with %s: leave out the parameters, so "
                "that the recorded ones are used",
                index, _named(others, recorded), _named(others, given),
            )  # fmt: skip


def _named(names: Sequence[str], values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {values[name]:g}" for name in names)
