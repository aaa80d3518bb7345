"""Results of a comparison: runs and measures, the content of ``report.json``, and notes on what to
know before trusting it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.measures import (
    CONDENSED,
    Evaluation,
    condenses,
    evaluate_run,
    judged_share,
    measure_run,
    note_on_chance,
    parse_measure,
)
from ..evaluation.runs import Run, overlap
from ..evaluation.significance import compare_paired
from ..evaluation.topics import Qrels, Topics, note_on_missing
from ..index.index import Index
from ..index.parameters import note_on_norms
from ..index.queries import note_on_nothing_found, notes_on_query_terms
from ..jvm.searcher import describe_java, field_bytes, known_documents, stored_texts
from ..output import Output
from ..report.page import Measured
from ..report.wording import one_line, shortened
from ..searching.search import RUN, Searched, search_with
from ..store import versions
from ..timing.latency import DocFreqs
from .inputs import Compared, QuerySet, System, notes_on_strangers, pairs_to_test

RULES = {
    "average": "over all topics with a relevant document; no answer counts 0",
    "measures": "ir-measures, as trec_eval: gain = grade, discount = log2(rank + 1), equal scores "
    "by id, the higher first; beyond the first four, no answer counts the measure's default",
    "p_value": "two-tailed paired t-test, Bonferroni over the comparisons made",
    "intervals": "ci95 is of one comparison by itself; ci95_corrected, which tables and plots "
    "show, has level 1 - .05 / comparisons, as p_value is corrected; of latency they are not",
    "latency": "one thread, no query cache; without analysis and stored fields; every index was "
    "searched by all queries and warm-up rounds before; median over rounds, then mean and "
    "percentiles over queries; first query set",
}
"""Rules by which the numbers were made, for the page."""
DEPTH = 1000  # hits of each run


def sizes(found: dict[str, Any], field: str) -> dict[str, Any]:
    """Return the sizes of an index; postings, terms and tokens are those of the field."""
    of_field = next(f for f in found["fields"] if f["name"] == field)
    return {
        "folder": Path(found["path"]).name,
        **{key: found[key] for key in ("commit", "bytes", "bytes_by_kind")},
        **{key: of_field[key] for key in ("postings", "terms", "tokens")},
        "documents": found["documents"],
    }


def effectiveness(results: Sequence[Results], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return measures and counts of all query sets; the first one's also on top."""
    number, query_sets = _comparisons(results, pairs), {}
    for result in results:
        means = {name: evaluation.means() for name, evaluation in result.evaluations.items()}
        measures = {}
        for measure in next(iter(means.values())):
            of = {name: each.values[measure] for name, each in result.evaluations.items()}
            tests = [compare_paired(of[b], of[t], number).to_dict() for b, t in pairs]
            named = [{"baseline": b, "treatment": t, **test} for (b, t), test in zip(pairs, tests)]
            of_measure = {name: mean[measure] for name, mean in means.items()}
            measures[measure] = {**of_measure, **tests[0], "means": of_measure, "tests": named}
        topics, qrels, lost = result.queries.topics, result.queries.qrels, result.without_hits
        first, second, *others = result.evaluations
        judged = result.evaluations[first].queries
        answered = {*judged} - {*lost[first]}
        emptied_by = {n: [q for q in lost[n] if q in answered] for n in (second, *others)}
        counts = {
            "topics": len(topics),
            "judged": len(judged),
            "emptied": len(emptied_by[second]),
            "emptied_ids": emptied_by[second],
            "emptied_by": {name: len(ids) for name, ids in emptied_by.items()},
            "emptied_ids_by": emptied_by,
            "without_relevant_documents": len(topics) - len(judged),
            "judged_but_not_asked": len(qrels.keys() - topics.keys()),
        }
        found = {"measures": measures, "queries": counts, "judged": result.judged}
        query_sets[result.queries.label] = found
    return {**query_sets[results[0].queries.label], "query_sets": query_sets}


def _comparisons(results: Sequence[Results], pairs: Sequence[tuple[str, str]]) -> int:
    """Return the number of tests made together: every pair, measure and query set."""
    measures = next(iter(results[0].evaluations.values())).values
    return len(pairs) * len(measures) * len(results)


def parameters(
    systems: Mapping[str, System], results: Sequence[Results], field: str
) -> dict[str, Any]:
    """Return what the user or the index chose."""
    query_sets = [result.queries for result in results]
    return {
        "model": next(iter(systems.values())).parameters.model,
        "search": {name: system.parameters.values() for name, system in systems.items()},
        "tier_of": {n: system.tier_of for n, system in systems.items() if system.tier_of},
        "query_sets": [one.label for one in query_sets],
        "shortened": {one.label: one.shortened for one in query_sets if one.shortened is not None},
        "field": field,
        "hits": DEPTH,
        "comparisons": _comparisons(results, pairs_to_test(systems)),
    }


def tiers(systems: Mapping[str, System], results: Results, field: str) -> dict[str, Any]:
    """Return what is known of each index in two tiers, by the judged queries of a set."""
    found = {}
    for name, system in systems.items():
        in_tiers = system.parameters.tiers
        if in_tiers is None or system.tier_of is not None or not in_tiers.depth:
            continue
        both, whole = (results.best[each] for each in (name, f"{name}-whole"))
        asked = [query for query in whole if whole[query]]
        shares = [overlap(whole[q], both[q]) for q in asked]
        changed = [whole[q][:1] != both[q][:1] for q in asked]
        hot_bytes = field_bytes(system.index, in_tiers.hot)
        found[name] = {
            "hot": in_tiers.hot,
            "depth": in_tiers.depth,
            "margin": in_tiers.margin,
            "query_terms": in_tiers.query_terms,
            "fidelity": float(np.mean(shares)) if asked else None,
            "first_changed": float(np.mean(changed)) if asked else None,
            "hot_bytes": None if hot_bytes < 0 else hot_bytes,
        }
    return found


def versions_and_machine() -> dict[str, dict[str, Any]]:
    """Return everything about this machine that can change a number."""
    java = describe_java()
    engines = {name: java.pop(name) for name in ("java", "lucene")}
    software = {**versions(), "python": platform.python_version(), **engines}
    machine = {"system": platform.platform(), "cores": os.cpu_count(), **java}
    return {"versions": software, "machine": machine}


# notes --------------------------------------------------------------------------------------------


def all_notes(
    compared: Compared, results: Sequence[Results], field: str, passages: bool
) -> Iterator[str]:
    """Yield what a reader should know before trusting the numbers."""
    yield from notes(compared.systems, field)
    yield from _notes_on_documents(compared, results, passages)
    first, *_ = compared.systems
    documents = compared.systems[first].index.documents
    for one in results:
        yield from one.notes
    for one in results:
        of, qrels = one.evaluations[first], one.queries.qrels
        mean, judged = of.means()["nDCG@5"], [qrels[name] for name in of.queries]
        if note := note_on_chance(mean, judged, documents, f"'{first}'", one.queries.files):
            yield note
    tuned_on = compared.training.topics if compared.training else {}
    yield from notes_on_tuning(compared.query_sets, tuned_on)
    yield from _notes_on_terms(compared, results, field)


def notes(systems: Mapping[str, System], field: str = "contents") -> Iterator[str]:
    """Yield notes on indexes of other sources, models and numbers of documents."""
    model = next(iter(systems.values())).parameters.model
    alone = {n: system.index for n, system in systems.items() if system.tier_of is None}
    (first, full), *others = alone.items()
    yield from notes_on_strangers(alone, field)
    for name, system in systems.items():
        if note := note_on_norms(f"'{name}'", model, system.index.record(field)):
            yield note
    for name, pruned in others:
        if (learned_for := pruned.record(field).learned_for_another(model)) is not None:
            yield (
                f"the TDVs of '{name}' were learned for {learned_for}, this comparison ranks with "
                f"{model}"
            )
        if full.documents != pruned.documents:
            yield (
                f"the indexes hold different numbers of documents: {full.documents:,} "
                f"('{first}') and {pruned.documents:,} ('{name}')"
            )
    if full.deleted:
        yield f"the postings of '{first}' include those of {full.deleted:,} deleted documents"


def notes_on_tuning(query_sets: Sequence[QuerySet], tuned_on: Topics) -> Iterator[str]:
    """Yield notes on measured queries that the baseline was also tuned on (the same text but for
    blanks and case), and on shortened ones."""

    def plain(text: str) -> str:
        return " ".join(text.casefold().split())

    texts = {plain(text) for text in tuned_on.values()}
    for one in query_sets:
        of_text = {qid for qid, text in one.topics.items() if plain(text) in texts}
        if of_text:
            yield (
                f"{len(of_text):,} of the {len(one.topics):,} queries of '{one.label}' are among "
                "those the baseline was tuned on: on them its tuned figures are too high"
            )
    for one in query_sets:
        if (made := one.shortened) is not None:
            yield (
                f"the queries of '{one.label}' ask for their heaviest terms only, which hold "
                f"{100 * made['query_terms']:g} % of a query's weight: "
                f"{made['terms_per_query']:.1f} of {made['terms_per_query_before']:.1f} terms on "
                "average"
            )


def _notes_on_documents(
    compared: Compared, results: Sequence[Results], passages: bool
) -> Iterator[str]:
    """Yield notes on missing documents: an index pruned from the first lacks none it retrieves."""
    first, *others = compared.systems
    for label, lacking in compared.relevant.items():
        if note := note_on_missing(*lacking, f"'{label}'", f"'{first}'"):
            yield note
    retrieved = list(dict.fromkeys(doc for result in results for doc in result.retrieved))
    for name in others if retrieved else ():
        known = known_documents(compared.systems[name].index, retrieved, passages)
        if missing := len(retrieved) - len(set(known)):
            yield (
                f"'{name}' is of another collection than '{first}', or of fewer documents: it "
                f"lacks {missing:,} of the {len(retrieved):,} that '{first}' retrieves"
            )


def _notes_on_terms(compared: Compared, results: Sequence[Results], field: str) -> Iterator[str]:
    """Yield notes on query terms that an unpruned index lacks, and on sets that find nothing."""
    texts = [text for one in compared.query_sets for text in one.topics.values()]
    analysed = compared.analysed
    for name, system in compared.systems.items():
        index, quoted = system.index, f"'{name}'"
        if not index.record(field).is_pruned:
            yield from notes_on_query_terms(index, field, analysed, texts, quoted)
        for one in results:
            topics = one.queries.topics
            if len(one.without_hits[name]) == len(topics):
                yield note_on_nothing_found(index, field, analysed, topics.values(), quoted)


MOST = 1000  # rankings in a page, of all systems and query sets: about half a megabyte of titles
SHOWN = 10  # documents in each of these rankings
_MEASURE = "MAP"  # by which queries changed most
_LOOKED_UP = 10_000
_TITLE = 120  # characters


@dataclass(frozen=True, eq=False)
class Results:
    """Results of the systems on one query set, by the systems' names."""

    queries: QuerySet
    evaluations: dict[str, Evaluation]
    without_hits: dict[str, list[str]]  # topics without an answer
    notes: list[str]  # on ids that came twice, and queries that find themselves
    best: dict[str, dict[str, list[str]]]  # judged query -> ids of its SHOWN best documents
    judged: dict[str, dict[str, float]]  # the share of these, and nDCG@10 of the judged alone
    retrieved: list[str]  # ids of documents that the first system retrieves, a sample of many


def search_all(
    systems: Mapping[str, System], queries: QuerySet, folder: Path, label: str,
    measures: str | Sequence[str] = (), **search: Any,
) -> Results:  # fmt: skip
    """Write ``folder/<label>.<name>.run`` of every system, and evaluate them. Of two tiers the ten
    best are those of a search for ten, whose latency is measured."""
    made: dict[str, Searched] = {}
    for name, system in systems.items():
        run = folder / ".".join(filter(None, (label, name, "run")))
        place = Output(run, RUN, is_folder=False, inputs=[system.index], made_by="compare")
        made[name] = search_with(
            system.index, queries.topics, place, system.parameters, hits=DEPTH, keep_run=True,
            first=SHOWN, **search,
        )  # fmt: skip
    found = {name: each.run() for name, each in made.items()}
    first, *others = systems
    removed = search["listing"].remove_query
    notes = made[first].notes(f"'{first}'", removed, queries.qrels)
    for name in others:  # which find themselves where the first does
        notes += made[name].notes(f"'{name}'", True)
    evaluations = {
        name: evaluate_run(run, queries.topics, queries.qrels, measures=measures)
        for name, run in found.items()
    }
    judged, retrieved = evaluations[first].queries, np.unique(found[first].documents)
    best = {name: run.best(judged, SHOWN) for name, run in found.items()}
    looked_up = retrieved[:: 1 + len(retrieved) // _LOOKED_UP]
    return Results(
        queries, evaluations,
        without_hits={n: each.summary["queries_without_hits"] for n, each in made.items()},
        notes=notes,
        best=best,
        judged=_judged(found, best, queries.qrels),
        retrieved=[found[first].names[number] for number in looked_up],
    )  # fmt: skip


def _judged(
    runs: Mapping[str, Run], best: Mapping[str, Mapping[str, list[str]]], qrels: Qrels
) -> dict[str, dict[str, float]]:
    """Return by system the share of judged documents among the best, and nDCG@10 without all others
    if that says more."""
    shares = {
        name: float(np.mean([judged_share(docs, qrels[query]) for query, docs in of.items()]))
        for name, of in best.items()
    }
    found = {"share_in_ten": shares}
    asked = [*next(iter(best.values()))]
    if condenses(shares.values(), (g for query in asked for g in qrels[query].values())):
        condensed = {CONDENSED: parse_measure(CONDENSED)}
        # trec_eval takes a grade below 0 for none, where it leaves out what is not judged.
        graded = {q: {doc: max(g, 0) for doc, g in qrels[q].items()} for q in asked}
        found["nDCG@10"] = {
            name: float(measure_run(condensed, run, graded, asked)[CONDENSED].mean())
            for name, run in runs.items()
        }
    return found


def measured_to_show(
    results: Sequence[Results], index: Index, field: str, passages: bool,
    words: Sequence[Mapping[str, DocFreqs]],
) -> list[Measured]:  # fmt: skip
    """Return what the page shows of each query set, with the rankings that changed most."""
    most, best = max(1, MOST // sum(len(result.evaluations) for result in results)), []
    for result in results:
        first, *others = result.evaluations.values()
        changes = [abs(other.values[_MEASURE] - first.values[_MEASURE]) for other in others]
        order = np.argsort(-np.max(changes, axis=0), kind="stable")
        queries = [first.queries[i] for i in np.sort(order[:most])]  # in topic order
        best.append({query: [best[query] for best in result.best.values()] for query in queries})
    shown = {doc for of_set in best for lists in of_set.values() for docs in lists for doc in docs}
    texts = stored_texts(index, field, sorted(shown), 2 * _TITLE, passages)
    titles = {document: shortened(one_line(text), _TITLE) for document, text in texts.items()}
    measured = []
    for of_set, result, terms in zip(best, results, words):
        relevant = {
            query: [
                doc for doc, grade in result.queries.qrels[query].items()
                if grade > 0 and any(doc in docs for docs in lists)
            ]
            for query, lists in of_set.items()
        }  # fmt: skip
        asked = result.queries.label, result.queries.topics
        measured.append(Measured(*asked, result.evaluations, terms, of_set, relevant, titles))
    return measured
