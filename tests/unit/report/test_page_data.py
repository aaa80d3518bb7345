"""What the page's script is given: every text as text, every number once."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import open_in_browser

from tdv_lucene.comparison import content
from tdv_lucene.comparison.results import MOST
from tdv_lucene.evaluation.measures import MEASURES, Evaluation
from tdv_lucene.report.page import Measured, Rankings, _encoded, for_script, render_page
from tdv_lucene.timing.latency import MODES, Latency, QueryTerms, summarise_speed

STRANGE = (
    "</script><script>document.title='taken'</script><!-- <img src=x onerror=alert(1)> & \u2028"
)


def test_no_text_ends_the_script_or_begins_a_comment() -> None:
    made = for_script({"text": STRANGE, "n": [0.5, None]})
    assert not re.search("[<>&\u2028\u2029]", made)
    assert json.loads(made) == {"text": STRANGE, "n": [0.5, None]}
    with pytest.raises(ValueError):
        for_script([float("nan")])


def test_values_are_thousandths_in_two_digits_each() -> None:
    values = np.array([0.0, 1.0, 0.4375, 0.001, 0.9996])
    text = _encoded(values)
    read = [int(text[i : i + 2], 32) / 1000 for i in range(0, len(text), 2)]
    assert read == pytest.approx(values, abs=5.0001e-4)
    assert _encoded(np.array([0.5, 12.34567])) == [0.5, 12.346]
    assert _encoded(np.array([])) == ""


def _comparison(indexes: int, sets: int, queries: int, text: str) -> SimpleNamespace:
    """What ``render_page`` is given, of random numbers; ``text`` stands in every query."""
    rng = np.random.default_rng(1)
    names = ["full", *(f"pruned-{i}" for i in range(1, indexes))]
    measured, found = [], {}
    for number in range(sets):
        ids = [f"s{number}q{i}" for i in range(queries)]
        topics = {qid: f"{text} {rng.integers(1e9)} words of query {qid}" for qid in ids}
        values = {n: {m: rng.random(queries) * 0.999 for m in MEASURES} for n in names}
        evaluations = {n: Evaluation(tuple(ids), arrays) for n, arrays in values.items()}
        words = {
            qid: QueryTerms(("a", "b"), {n: {"a": 9 - k, "b": 20 - k} for k, n in enumerate(names)})
            for qid in ids
        }
        opened = [*ids[: MOST // (indexes * sets)]]
        best = {q: [[f"d{d}" for d in rng.integers(0, 200, 10)] for _ in names] for q in opened}
        titles = {f"d{d}": f"{text} {d}".ljust(120, "x") for d in range(1, 200)}  # d0 has none
        rankings = Rankings(best, {qid: lists[0][:1] for qid, lists in best.items()}, titles)
        measured.append(Measured(f"set {number}", topics, evaluations, words, rankings))
        emptied = {n: [ids[0]] for n in names[1:]}
        found[f"set {number}"] = {
            "measures": {m: _measure(m, evaluations, names) for m in MEASURES},
            "queries": {
                "topics": queries, "judged": queries, "emptied": 1, "emptied_ids_by": emptied,
                "emptied_by": {n: 1 for n in emptied}, "without_relevant_documents": 0,
                "judged_but_not_asked": 0,
            },
            "rank_effects": {
                n: {"overlap_at_10": 0.5, "rbo": 0.5, "kendall_tau": None} for n in names[1:]
            },
        }  # fmt: skip
    timed = tuple(measured[0].topics)[:50]
    visited = rng.integers(1, 1000, (3, indexes, len(timed)))
    latency = Latency(
        tuple(names), timed, rng.random((5, len(MODES), indexes, len(timed))) + 0.1,
        dict(zip(("top10", "top1000", "exhaustive"), visited)),
        {"queries_timed": 50, "counted_rounds": 5, "warmup_stable": True},
    )  # fmt: skip
    kinds = ("postings", "positions", "dictionary", "stored", "norms", "doc_values", "other")
    terms = [{"term": f"term{i}", "tdv": 0.5, "df_before": 9, "df_after": 4} for i in range(20)]
    of_terms = {
        "source": "learned (values)", "tdv_kind": "learned", "dropped": 20, "most_dropped": terms,
        "raised": terms, "lowered": terms,
    }  # fmt: skip
    curve = {
        "points": [{"reduction": r, "measures": {"nDCG@5": 0.5 - r / 9}} for r in (0.0, 0.3, 0.6)],
        "full": {"nDCG@5": 0.5},
    }
    report = {
        "indexes": {
            n: {"folder": n, "bytes": 7_000_000 - k, "bytes_by_kind": dict.fromkeys(kinds, 10**6),
                "postings": 9_000_000 - k, "terms": 5, "documents": 5, "tokens": 5}
            for k, n in enumerate(names)
        },
        **found["set 0"],
        "query_sets": found,
        **content.latencies(latency),
        **summarise_speed(latency, measured[0].words),
        "tuning": None,
        "terms_by_index": {n: of_terms for n in names[1:]},
        "trade_offs": {n: {**curve, "chosen": k / 10} for k, n in enumerate(names[1:])},
        "analysis": {"described": "English (Porter stemmer; recorded in the index)"},
        "parameters": {
            "comparisons": 99, "model": "bm25", "field": "contents",
            "search": {n: {"k1": 0.9, "b": 0.4} for n in names}, "query_sets": [*found],
        },
        "rules": content.RULES, "notes": [f"note {text}"], "machine": {"cores": 2}, "versions": {},
    }  # fmt: skip
    return SimpleNamespace(report=report, measured=measured, latency=latency)


def _measure(measure: str, evaluations: dict[str, Evaluation], names: list[str]) -> dict:
    means = {n: float(evaluation.values[measure].mean()) for n, evaluation in evaluations.items()}
    tests = [
        {"baseline": names[0], "treatment": n, "difference": means[n] - means[names[0]],
         "p_value": 0.5, "p_randomisation": 0.5, "effect_size": 0.1, "wins": 1, "ties": 1,
         "losses": 1, **dict.fromkeys(("ci95", "ci95_corrected", "effect_size_ci95",
                                       "effect_size_ci95_corrected"), [-0.1, 0.1])}
        for n in names[1:]
    ]  # fmt: skip
    return {**means, **tests[0], "means": means, "tests": tests}


def test_seven_indexes_on_five_query_sets_stay_below_a_megabyte() -> None:
    made = _comparison(7, 5, 500, "some ten words such as a question may well have")
    page = render_page(made.report, made.measured, made.latency)
    assert 500_000 < len(page.encode()) < 1_000_000
    assert page.count('"s4q499"') == 1, "each datum once"
    assert page.count("Effectiveness against postings dropped") == 2, "caption and label of one"


def test_tdvs_without_a_measure_have_no_trade_off_to_draw() -> None:
    made = _comparison(2, 1, 3, "words")
    for curve in made.report["trade_offs"].values():
        curve["full"] = {}
    page = render_page(made.report, made.measured, made.latency)
    assert "Effectiveness against postings dropped" not in page


@pytest.mark.slow
def test_strange_text_of_a_collection_is_only_text(tmp_path) -> None:
    made = _comparison(3, 2, 4, STRANGE)
    page = tmp_path / "page.html"
    page.write_text(render_page(made.report, made.measured, made.latency), encoding="utf-8")
    opened = open_in_browser(page.as_uri(), tmp_path / "net.json", width=1280)
    assert "CONSOLE" not in opened.console
    assert "<title>taken" not in opened.dom and "<img" not in opened.dom
    rows = opened.dom[opened.dom.index('id="query-rows"') :]
    assert rows.count("&lt;/script&gt;&lt;script&gt;document.title") >= 4
    assert "\\u2028" in rows and "\u2028" not in opened.dom
