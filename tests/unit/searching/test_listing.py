"""A run lists each document once: against one ranking after another, in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.jvm.searcher import Hits
from tdv_lucene.searching.run_lines import Listing
from tdv_lucene.vocabulary import ByteStrings

Ranking = list[tuple[str, float]]


def _hits(rankings: list[Ranking], names: list[str], at: list[list[int]]) -> Hits:
    scores = np.array([score for one in rankings for _, score in one], np.float32)
    documents = np.array([place for one in at for place in one], np.int32)
    counts = np.array([len(one) for one in rankings], np.int64)
    return Hits(counts, scores, documents, ByteStrings.of(n.encode() for n in names), False)


def _listed(ranking: Ranking, topic: str, listing: Listing) -> Ranking:
    best: dict[str, float] = {}
    for name, score in ranking:
        best.setdefault(name.split("#")[0] if listing.max_passage else name, score)
    return [(n, s) for n, s in best.items() if not (listing.remove_query and n == topic)]


@pytest.mark.parametrize("remove_query", [False, True])
@pytest.mark.parametrize("max_passage", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_run_lists_each_document_by_its_best_hit(
    seed: int, remove_query: bool, max_passage: bool
) -> None:
    rng = np.random.default_rng(seed)
    names = [f"é{n}{suffix}" for n in rng.integers(0, 9, 30) for suffix in ("", "#0", "#1#x")]
    at = [rng.permutation(90)[: rng.integers(0, 60)].tolist() for _ in range(12)]
    rankings = [[(names[place], float(-rank)) for rank, place in enumerate(one)] for one in at]
    topics = {f"é{n}": "" for n in range(12)}
    listing = Listing(remove_query, max_passage)
    listed = listing.of(_hits(rankings, names, at), topics)
    expected = [_listed(one, topic, listing) for one, topic in zip(rankings, topics)]
    hits = listed.hits
    found = [hits.ids[place].decode() for place in hits.documents.tolist()]
    assert hits.counts.tolist() == [len(one) for one in expected]
    assert [*zip(found, hits.scores.tolist())] == [hit for one in expected for hit in one]
    distinct = [{name for name, _ in one} for one in rankings]
    twice = sum(len(one) - len(names) for one, names in zip(rankings, distinct))
    assert listed.duplicates == (0 if max_passage else twice)
    all_of_them = [_listed(one, "", Listing(False, max_passage)) for one in rankings]
    own = [topic for topic, one in zip(topics, all_of_them) if one and one[0][0] == topic]
    assert listed.own_first == own
