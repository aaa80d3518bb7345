"""The comparison as a whole: report.json, the page, what is refused; the latency in it; and
what pruning did to one query, on an index pruned with known values."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import open_in_browser
from click.testing import CliRunner
from command_line import hits_of, json_of, run_command, write_judged
from index_facts import recorded_parameters
from lucene_indexes import Doc, write_index

from tdv_lucene import (
    Index,
    TdvError,
    compare_indexes,
    evaluate_run,
    explain_query,
    prune_index,
    read_qrels,
)
from tdv_lucene.cli.search import compare as command
from tdv_lucene.comparison.inputs import notes_on_strangers
from tdv_lucene.evaluation.measures import CONDENSED, MEASURES
from tdv_lucene.evaluation.runs import read_run
from tdv_lucene.jvm.searcher import stored_texts
from tdv_lucene.report.tables import comparison_tables, latency_table
from tdv_lucene.timing.latency import measure_latency

pytestmark = pytest.mark.jvm

FAST = {"latency_budget_seconds": 0.2}
DROPPED = {"t0", "t3", "t17"}


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """An index, the same without three terms, topics of which one is emptied, graded qrels."""
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("compare")
    tokens = [[f"t{t}" for t in np.minimum(rng.zipf(1.4, 40) - 1, 30)] for _ in range(120)]
    docs = [Doc(f"d{i}", doc) for i, doc in enumerate(tokens)]
    kept = [Doc(f"d{i}", [t for t in doc if t not in DROPPED]) for i, doc in enumerate(tokens)]
    write_index(folder / "full", [docs[:70], docs[70:]])
    write_index(folder / "pruned", [kept[:70], kept[70:]])
    texts = {f"q{i}": f"t{i % 9} t{i + 2} <b>&" for i in range(28)}
    texts |= {"gone": "t0 t3", "unjudged": "t1", "never": "zyzzy"}
    topics, qrels = folder / "topics.tsv", folder / "qrels.txt"
    topics.write_text("".join(f"{qid}\t{text}\n" for qid, text in texts.items()))
    lines = [
        f"{qid} 0 d{doc} {rng.integers(0, 3)}"
        for qid in (*texts, "other") if qid != "unjudged"
        for doc in rng.choice(120, 15, replace=False)
    ]  # fmt: skip
    qrels.write_text("\n".join(lines) + "\n")
    judged = [q for q in texts if any(line.startswith(f"{q} ") for line in lines if line[-1] > "0")]
    return SimpleNamespace(
        index=folder / "full", pruned=folder / "pruned", topics=topics, qrels=qrels, texts=texts,
        judged=judged,
    )  # fmt: skip


def compare(case, output, **changes):
    """The report on ``case``, as quickly as it can be had."""
    given = {"index": case.index, "pruned": case.pruned, "topics": case.topics,
             "qrels": case.qrels, "output": output, **FAST}  # fmt: skip
    return compare_indexes(**{**given, **changes})


def run_compare(case, output, *words, indexes=None):
    """What ``compare`` gives on the command line: exit code, stdout and stderr."""
    indexes = indexes or ["--index", case.index, "--pruned", case.pruned]
    given = [*indexes, "--topics", case.topics, "--qrels", case.qrels, "--output", output, *words]
    return CliRunner().invoke(command, [*map(str, given), "--latency-budget", "0.2"])


def per_query(output, ending=""):
    """Query -> column -> value of a per_query file."""
    head, *rows = [row.split("\t") for row in read_lines(output / f"per_query{ending}.tsv")]
    return {row[0]: dict(zip(head[1:], map(float, row[1:]), strict=True)) for row in rows}


def read_lines(path):
    return path.read_text().splitlines()


@pytest.fixture(scope="module")
def compared(case, tmp_path_factory):
    output = tmp_path_factory.mktemp("compared") / "report"
    return SimpleNamespace(output=output, report=compare(case, output))


def test_what_scripts_rely_on(case, compared):
    report = compared.report
    assert json.loads((compared.output / "report.json").read_text()) == report
    assert report["notes"] == [], "an index and what was made of it need none"
    assert list(report["indexes"]) == ["full", "pruned"]
    for entry in report["indexes"].values():
        assert {"bytes", "postings", "terms", "documents", "bytes_by_kind"} <= entry.keys()
    assert list(report["measures"]) == ["nDCG@5", "nDCG@10", "MAP", "R@1000"]
    for entry in report["measures"].values():
        assert {"full", "pruned", "p_value"} <= entry.keys()
    for name in ("full", "pruned"):
        for depth in ("top10", "top1000"):
            entry = report["latency_ms"][name][depth]
            assert list(entry) == ["mean", "p50", "p95", "p99"]
            assert 0 < entry["p50"] <= entry["p95"] <= entry["p99"]
    assert {"judged", "emptied"} <= report["queries"].keys()
    shares, condensed = (report["judged"][name] for name in ("share_in_ten", "nDCG@10"))
    for name, share in shares.items():
        run = read_run(compared.output / "runs" / f"{name}.run")
        theirs = evaluate_run(
            run, case.texts, read_qrels(case.qrels), measures=["Judged@10", CONDENSED]
        ).means()
        assert 0 < share < 0.5 and condensed[name] == pytest.approx(theirs[CONDENSED])
        assert theirs["Judged@10"] <= share <= theirs["Judged@10"] + 0.1, "no answer counts as 1"
    assert report["parameters"]["search"]["pruned"] == {"k1": 0.9, "b": 0.4}
    assert {"python", "java", "lucene", "pyserini", "scipy"} <= report["versions"].keys()
    full, pruned = report["indexes"].values()
    assert (full["documents"], pruned["documents"]) == (120, 120)
    assert full["terms"] - pruned["terms"] == len(DROPPED)
    assert pruned["postings"] < full["postings"] and pruned["bytes"] < full["bytes"]


def test_queries_are_counted_not_dropped(compared):
    assert compared.report["queries"] == {
        "topics": 31,
        "judged": 30,
        "emptied": 1,
        "emptied_ids": ["gone"],
        "emptied_by": {"pruned": 1},
        "emptied_ids_by": {"pruned": ["gone"]},
        "without_relevant_documents": 1,
        "judged_but_not_asked": 1,
    }
    values = per_query(compared.output)
    assert len(values) == 30
    assert values["gone"]["MAP pruned"] == 0 < values["gone"]["MAP full"]


def test_further_measures_by_the_names_of_ir_measures(case, tmp_path):
    """Means are those that trec_eval has of the runs, over all judged queries."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    output, asked = tmp_path / "out", "RR nDCG@10 R(rel=2)@100"
    done = run_compare(case, output, "--measures", asked, "--json")
    report = json.loads(done.stdout)
    assert [*report["measures"]] == [*MEASURES, "RR", "R(rel=2)@100"]
    assert report["parameters"]["comparisons"] == len(MEASURES) + 2
    for measure, theirs, level in (
        ("nDCG@5", "ndcg_cut_5", 1), ("MAP", "map", 1), ("RR", "recip_rank", 1),
        ("R(rel=2)@100", "recall_100", 2),
    ):  # fmt: skip
        family = theirs.rstrip("0123456789").rstrip("_")
        evaluator = pytrec_eval.RelevanceEvaluator(read_qrels(case.qrels), {family}, level)
        for name in ("full", "pruned"):
            with open(output / "runs" / f"{name}.run") as file:
                values = evaluator.evaluate(pytrec_eval.parse_run(file))
            mean = sum(values.get(q, {}).get(theirs, 0.0) for q in case.judged) / len(case.judged)
            assert report["measures"][measure][name] == pytest.approx(mean, abs=1e-9)
    head = read_lines(output / "per_query.tsv")[0].split("\t")
    assert head[-4:] == ["RR full", "RR pruned", "R(rel=2)@100 full", "R(rel=2)@100 pruned"]
    assert "R(rel=2)@100" in (output / "report.html").read_text()


@pytest.fixture(scope="module")
def several(case, tmp_path_factory):
    """Three indexes and a tuned baseline, on two query sets of one file name."""
    folder = tmp_path_factory.mktemp("several")
    second = folder / "other"
    second.mkdir()
    shutil.copy(case.qrels, second / "qrels.txt")
    few = "".join(f"{qid}\t{case.texts[qid]}\n" for qid in ("q1", "q2", "q3"))
    (second / "topics.tsv").write_text(few)
    few = second / "topics.tsv", second / "qrels.txt"
    report = compare(
        case, folder / "out", further_indexes={"again": case.index}, further_queries=[few], tune=few
    )
    return SimpleNamespace(output=folder / "out", report=report)


def test_several_indexes_and_query_sets(several):
    report = several.report
    assert list(report["indexes"]) == ["full", "pruned", "again"]
    assert list(report["query_sets"]) == ["topics", "topics-2"]
    assert report["query_sets"]["topics"]["measures"] == report["measures"]
    assert report["query_sets"]["topics-2"]["queries"]["judged"] == 3
    pairs = [(t["baseline"], t["treatment"]) for t in report["measures"]["MAP"]["tests"]]
    tuned = "full-tuned"
    assert pairs == [("full", "pruned"), ("full", "again"), ("full", tuned),
                     (tuned, "pruned"), (tuned, "again")]  # fmt: skip
    assert report["parameters"]["comparisons"] == 5 * len(MEASURES) * 2
    for entry in report["measures"].values():
        assert entry["again"] == entry["full"]
        for test in entry["tests"]:
            corrected = min(1.0, test["p_value_uncorrected"] * 40)
            assert test["p_value"] == pytest.approx(corrected)
        assert entry["p_value"] == entry["tests"][0]["p_value"]


def test_every_index_has_its_terms(several):
    report = several.report
    terms = report["terms"]
    assert terms["dropped"] == len(DROPPED)
    assert {row["term"] for row in terms["most_dropped"]} == DROPPED
    assert terms["most_dropped"][0]["term"] == "t0", "the most frequent comes first"
    assert terms["raised"] == terms["lowered"] == []
    assert report["terms_by_index"]["pruned"] == terms
    assert report["terms_by_index"]["again"]["dropped"] == 0
    assert report["trade_offs"] == {"pruned": None, "again": None}
    emptied = report["query_sets"]["topics"]["queries"]["emptied_ids_by"]
    assert emptied == {"pruned": ["gone"], "again": [], "full-tuned": []}
    text = (several.output / "report.html").read_text()
    folds = re.findall(r"<summary>(.*?)</summary>", text)
    assert folds == [
        "Intervals and outcomes",
        "pruned minus full, topics", "again minus full, topics",
        "pruned minus full, topics-2", "again minus full, topics-2", "pruned", "again",
    ]  # fmt: skip


def test_the_tuned_baseline(several):
    tuning = several.report["tuning"]
    best = max(row["nDCG@5"] for row in tuning["tried"])
    assert {"k1": 0.9, "b": 0.4} == {k: tuning["tried"][0][k] for k in ("k1", "b")}
    assert len(tuning["tried"]) == 28, "the grid holds the index's own parameters"
    assert {**tuning["chosen"], "nDCG@5": best} in tuning["tried"]
    entry = several.report["query_sets"]["topics-2"]["measures"]["nDCG@5"]
    assert entry["full-tuned"] == pytest.approx(best) and best >= entry["full"]
    assert several.report["parameters"]["search"]["full-tuned"] == tuning["chosen"]

    ratio = several.report["latency_ratio"]["full-tuned"]["top10"]["ratio"]
    means = [several.report["latency_ms"][name]["top10"]["mean"] for name in ("full", "full-tuned")]
    assert ratio == pytest.approx(means[0] / means[1])
    shown = latency_table(several.report).rows
    assert [row[0] for row in shown[:4]] == [f"top-10, {n}" for n in several.report["latency_ms"]]
    assert shown[3][5].startswith("x")


@pytest.mark.parametrize("which", ["compared", "several"])
def test_the_page_holds_the_numbers_and_nothing_from_outside(which, request):
    comparison = request.getfixturevalue(which)
    text = (comparison.output / "report.html").read_text()
    cells = {"".join(re.sub("<.*?>", "", cell).split()) for cell in re.findall("<td.*?</td>", text)}
    for table in comparison_tables(comparison.report):
        for row in table.rows:
            assert {escape("".join(cell.split())) for cell in row} <= cells
    assert all(found[0] in "#d" for found in re.findall(r'(?:src|href)="(.*?)"', text))
    assert not re.search(r"url\((?!#)|@import|<script[^>]* src", text)
    ids = re.findall(r'\bid="(.*?)"', text)
    assert len(ids) == len(set(ids)), "ids of one plot would style another"
    assert "&lt;b&gt;&amp;" in text and "<b>" not in text, "topics are escaped"
    assert "gone: <bdi>t0 t3</bdi>" in text
    bars = re.findall(r"<td class=\"bar\">(<svg.*?</svg>)", text)
    assert bars, "queries that changed have one"
    assert all(ElementTree.fromstring(bar).get("viewBox") for bar in bars)


def operated(compared, tmp_path, script):
    """The page's DOM after ``script`` did what a reader's hands would; ``$`` finds by id."""
    text = (compared.output / "report.html").read_text()
    hands = """const $ = (id) => document.getElementById(id);
      const set = (id, value, kind) => {
        $(id).value = value; $(id).dispatchEvent(new Event(kind)); };"""
    page = tmp_path / "operated.html"
    page.write_text(text.replace("</body>", f"<script>{hands}{script}</script></body>"))
    opened = open_in_browser(page.as_uri(), tmp_path / "net.json", width=1280)
    assert "CONSOLE" not in opened.console
    assert not [url for url in opened.urls if url.startswith(("http", "ws"))]
    return opened.dom


@pytest.mark.slow
def test_a_reader_chooses_a_measure_and_queries(several, tmp_path):
    """In a browser, which asks for nothing outside; overview and rows are the report's numbers."""
    dom = operated(several, tmp_path, """set('measure', '2', 'change');
        set('query-search', ' T3 GONE', 'input');""")  # fmt: skip
    assert "1 of 30 queries" in dom
    for found in several.report["query_sets"].values():
        for mean in found["measures"][MEASURES[2]]["means"].values():
            assert f"{mean:.4f}" in dom
    (row,) = _query_rows(dom)
    gone = per_query(several.output, ".topics")["gone"]
    assert row == ["gone: t0 t3", f"{gone['MAP full']:.3f}", f"{gone['MAP pruned']:.3f}"]
    dom = operated(several, tmp_path, """set('query-set', '1', 'change');
        set('query-index', '3', 'change');
        document.querySelector('[data-sort=id]').click();
        document.querySelector('[data-sort=id]').click();""")  # fmt: skip
    assert "3 of 3 queries" in dom and 'aria-sort="descending"' in dom
    assert [row[0].partition(":")[0] for row in _query_rows(dom)] == ["q3", "q2", "q1"]


def _query_rows(dom):
    """The texts of the first three cells of the listed queries."""
    body = dom[dom.index('id="query-rows"') :].partition("</tbody>")[0]
    cells = [re.findall(r"<td.*?</td>", row, re.DOTALL) for row in body.split("<tr")[1:]]
    return [[re.sub("<.*?>", "", cell).strip() for cell in row[:3]] for row in cells]


def _page_data(compared):
    text = (compared.output / "report.html").read_text()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_queries_open_to_the_rankings_of_the_runs(case, several):
    data, qrels = _page_data(several), read_qrels(case.qrels)
    for found, prefix in zip(data["sets"], ("topics", "topics-2")):
        runs = [hits_of(several.output / "runs" / f"{prefix}.{n}.run") for n in data["systems"]]
        assert len(found["opened"]) == len(found["queries"]), "few queries all open"
        for number, opened in found["opened"].items():
            query = found["queries"][int(number)]
            shown = [[data["documents"][d][0] for d in ranked] for ranked in opened["rankings"]]
            assert shown == [[doc for doc, _ in run.get(query, [])[:10]] for run in runs]
            relevant = {document for document, grade in qrels[query].items() if grade > 0}
            told = {data["documents"][d][0] for d in opened["relevant"]}
            assert told == relevant & {document for ranking in shown for document in ranking}
    for name, title in data["documents"]:
        assert title.startswith("t") and len(title) <= 124, name


def test_queries_that_changed_most_open_where_not_all_can(case, tmp_path, monkeypatch):
    monkeypatch.setattr("tdv_lucene.comparison.results.MOST", 6)
    compare(case, tmp_path / "out")
    [found] = _page_data(SimpleNamespace(output=tmp_path / "out"))["sets"]
    changes = {
        query: abs(row["MAP pruned"] - row["MAP full"])
        for query, row in per_query(tmp_path / "out").items()
    }
    opened = [found["queries"][int(number)] for number in found["opened"]]
    assert len(opened) == 3
    assert {changes[q] for q in opened} == {*sorted(changes.values(), reverse=True)[:3]}


@pytest.mark.parametrize("raw, shown", [
    ('{"id": "a", "title": "Its title", "contents": "fox"}', "Its title"),
    ('{"id": "a", "title": " ", "contents": " fox and dog"}', "fox and dog"),
    ("x" * 239 + "\U0001f98ay", "x" * 239 + "\U0001f98a"),
])  # fmt: skip
def test_titles_are_shown_where_stored_else_texts(make_index, raw, shown):
    index = make_index([[Doc("a", [raw])]])
    assert stored_texts(index, "contents", ["a", "none"], 240) == {"a": shown}


@pytest.mark.slow
def test_a_query_opens_to_both_rankings_and_closes(compared, tmp_path):
    script = "document.querySelector('#query-rows button').click();"
    dom = operated(compared, tmp_path, script)
    opened = re.search(r'<tr class="opened">.*?</tr>', dom, re.DOTALL)[0]
    assert "<strong>full</strong>" in opened and "<strong>pruned</strong>" in opened
    assert opened.count("<ol>") == 2 or "Nothing found." in opened
    assert "gone" in opened and "relevant" in opened and '<small dir="auto">t' in opened
    assert 'class="opened"' not in operated(compared, tmp_path, 2 * script)
    narrower = "innerWidth = 300; dispatchEvent(new Event('resize'));"
    assert 'class="opened"' in operated(compared, tmp_path, script + narrower), "drawn again"


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"index": "/nowhere"}, "/nowhere"),
        ({"pruned": "/nowhere"}, "/nowhere"),
        ({"topics": "/nowhere.tsv"}, "/nowhere.tsv"),
        ({"topics": "else\twords\n"}, "topics and qrels"),
        ({"qrels": "q1 0 d1 0\n"}, "no topic"),
        ({"qrels": "q1 0 elsewhere 1\n"}, "qrels and index"),
        ({"field": "title"}, "'title'"),
        ({"names": ("same", "same")}, "'same'"),
        ({"names": ("../up", "b")}, "'../up'"),
        ({"names": ("full", "tests")}, "'tests'"),
        ({"further_indexes": {"full": "x"}}, "'full'"),
        ({"further_indexes": {"b": "/nowhere"}}, "/nowhere"),
        ({"further_queries": [("/nowhere.tsv", "q")]}, "/nowhere.tsv"),
    ],
)
def test_refusals_write_nothing(case, tmp_path, changes, named):
    for name in {"topics", "qrels"} & changes.keys():
        if "/" not in changes[name]:
            (tmp_path / f"{name}.txt").write_text(changes[name])
            changes = {**changes, name: tmp_path / f"{name}.txt"}
    (tmp_path / "out").mkdir()
    with pytest.raises(TdvError, match=named):
        compare(case, tmp_path / "out" / "report", **changes)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "form, marks, stream",
    [("screen", "Effectiveness", "stdout"), ("markdown", "| nDCG@5 |", "stderr"),
     ("latex", r"\toprule", "stderr")],
)  # fmt: skip
def test_command_line_writes_tables_and_notes(form, marks, stream, case, tmp_path):
    """Of an index of another collection, which lacks documents."""
    docs = [Doc(f"d{i}" if i < 60 else f"x{i}", ["t0", "t1", f"t{i % 9}"]) for i in range(120)]
    indexes = ["--index", write_index(tmp_path / "other", [docs]), "--pruned", case.pruned]
    done = run_compare(case, tmp_path / "out", "--format", form, indexes=indexes)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert marks in done.stdout
    assert f"{report['measures']['nDCG@5']['pruned']:.4f}" in done.stdout
    if form == "screen":
        assert "Emptied by pruning in pruned: gone" in done.stdout
        tables = done.stdout.partition("Note: ")[0]
        assert max(map(len, tables.splitlines())) <= 80
    told = " ".join(getattr(done, stream).split())
    assert re.search(r"\d+ of the \d+ relevant documents of 'topics' are not in 'full'", told)
    assert (
        "of another collection than 'full', or of fewer documents: it lacks 60 of the 120" in told
    )
    assert len(report["notes"]) == 2


def test_what_was_pruned_from_another_state_or_the_wrong_way_round(case, tmp_path):
    docs = [Doc(f"d{i}", ["t0", f"t{i % 9}"]) for i in range(40)]
    source, made = write_index(tmp_path / "source", [docs]), tmp_path / "made"
    prune_index(source, None, made, reduction=0.1)
    done = run_compare(case, tmp_path / "out", indexes=["--index", made, "--pruned", source])
    assert f"{done.exception}" == "'full' was pruned from 'pruned': put the full index first"
    assert not (tmp_path / "out").exists()
    with pytest.raises(TdvError, match="put the full index first"):
        explain_query(made, source, "t0 t1")
    shutil.rmtree(source)
    write_index(source, [docs[:30]])
    with Index.open(source) as full, Index.open(made) as pruned:
        (note,) = notes_on_strangers({"full": full, "pruned": pruned}, "contents")
    assert note.startswith("'pruned' was pruned from 'full' as it was before: 'tdv-lucene update'")


def test_command_line_of_several(case, tmp_path):
    both = ["--index", f"a={case.index}", "--index", f"b={case.pruned}"]
    report = json.loads(run_compare(case, tmp_path / "out", "--json", indexes=both).stdout)
    assert list(report["indexes"]) == ["a", "b"]
    for wrong, *more in (
        [[*both, "--pruned", case.pruned]],
        [["--index", case.index]],
        [["--index", case.index, "--index", case.pruned]],
        [both, "--topics", case.topics],
        [both, "--tune-topics", case.topics],
    ):
        assert run_compare(case, tmp_path / "wrong", *more, indexes=wrong).exit_code == 2


def test_no_name_stands_where_the_report_has_a_key_of_its_own(case, compared, tmp_path):
    """Whatever stands beside names in a measure's entry is refused as a name."""
    entry = compared.report["measures"]["MAP"]
    assert entry["means"] == {name: entry[name] for name in ("full", "pruned")}
    keys = entry.keys() - entry["means"].keys()
    assert "wins" in keys
    for key in keys:
        with pytest.raises(TdvError, match=f"'{key}'"):
            compare(case, tmp_path / "out", names=("full", key))


def test_judgements_that_rankings_meet_by_chance_only_are_noted(case, tmp_path):
    docs = [Doc(f"d{i}", ["t0", f"t{i % 9}"]) for i in range(120)]
    index = write_index(tmp_path / "index", [docs])
    relevant = {f"q{n}": f"d{9 + 9 * (n % 10)}" for n in range(40)}  # of t0 alone
    topics, qrels = write_judged(tmp_path, dict.fromkeys(relevant, "t1"), relevant)
    report = compare_indexes(index, index, topics, qrels, tmp_path / "report", **FAST)
    [note] = report["notes"]
    assert str(qrels) in note and str(topics) in note and "no better" in note


def test_two_runs_do_not_share_a_file(case, tmp_path):
    other = shutil.copy(case.topics, tmp_path / "topics.b.tsv")
    with pytest.raises(TdvError, match="topics.b.c.run"):
        compare(
            case, tmp_path / "out", names=("b.c", "c"), further_queries=[(other, case.qrels)]
        )  # fmt: skip


TOPICS = {"q1": "quick fox", "q2": "pruned index term", "q3": "nothing zyzzy"}


@pytest.mark.parametrize("exhaustive", [False, True])
def test_every_measurement_is_kept(tiny_index, tmp_path, exhaustive):
    timed_index = tiny_index, recorded_parameters(tiny_index)
    latency = measure_latency(
        {"a": timed_index, "b": timed_index}, TOPICS, seed=0, rounds=5, budget_seconds=1.0,
        exhaustive=exhaustive, raw=tmp_path / "raw.npy",
    )  # fmt: skip
    assert latency.rounds_ms.shape == (5, 2, 2, 3)
    assert set(latency.queries) == set(TOPICS)
    assert (latency.rounds_ms > 0).all()
    middle = np.median(latency.rounds_ms[:, 0, 1], axis=0)
    np.testing.assert_array_equal(latency.per_query_ms("top10", "b"), middle)
    summary = latency.summary("b")["top10"]
    assert summary["mean"] == pytest.approx(middle.mean())
    assert summary["p50"] == pytest.approx(np.median(middle))
    assert latency.setup["queries_timed"] == 3 and latency.setup["warmup_rounds"] >= 3


def test_the_order_of_the_queries_is_seeded(tiny_index, tmp_path):
    topics = {f"q{i:02}": text for i, text in enumerate(["fox", "dog", "index term", "sleep"] * 5)}
    timed_index = tiny_index, recorded_parameters(tiny_index)
    one, again, other = [
        measure_latency(
            {"a": timed_index},
            topics,
            seed=seed,
            rounds=5,
            budget_seconds=0.2,
            raw=tmp_path / f"{i}.npy",
        ).queries  # fmt: skip
        for i, seed in enumerate((1, 1, 2))
    ]
    assert one == again != other
    assert set(one) <= set(topics) and one != sorted(one)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """An index, and one without "fox" in which "dog" has lost a posting."""
    folder = tmp_path_factory.mktemp("explain")
    texts = ["fox dog dog", "fox cat", "dog cat cat", "cat"]
    after = ["dog dog", "cat", "cat cat", "cat"]
    for name, contents in (("full", texts), ("pruned", after)):
        write_index(
            folder / name, [[Doc(f"d{i}", text.split()) for i, text in enumerate(contents)]]
        )
    return folder / "full", folder / "pruned"


def test_terms(pair):
    terms = explain_query(*pair, "The fox, a dog, a dog and zebra")["terms"]
    assert terms == [
        {"term": "fox", "in_query": 1, "tdv": 0.0,
         "df_before": 2, "df_after": 0, "postings_removed": 2},
        {"term": "dog", "in_query": 2, "tdv": None,
         "df_before": 2, "df_after": 1, "postings_removed": 1},
        {"term": "zebra", "in_query": 1, "tdv": None,
         "df_before": 0, "df_after": 0, "postings_removed": 0},
    ]  # fmt: skip


def test_hits_side_by_side(pair):
    found = explain_query(*pair, "fox dog", hits=2)
    assert [hit["document"] for hit in found["hits"]["before"]] == ["d0", "d1"]
    assert [hit["other_rank"] for hit in found["hits"]["before"]] == [1, None]
    (only,) = found["hits"]["after"]
    assert (only["rank"], only["document"], only["other_rank"]) == (1, "d0", 1)
    assert found["parameters"]["before"] == {"model": "bm25", "k1": 0.9, "b": 0.4}
    idf = np.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    average = (2 + 1 + 2 + 1) / 4
    expected = idf * 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 2 / average))
    assert only["score"] == pytest.approx(expected, rel=1e-5)


def test_hits_tell_which_postings_they_lost(pair):
    found = explain_query(*pair, "fox cat zebra dog", hits=4)
    by_document = {hit["document"]: hit for hit in found["hits"]["before"]}
    assert {doc: hit["lost"] for doc, hit in by_document.items()} == {
        "d0": ["fox"], "d1": ["fox"], "d2": ["dog"], "d3": []
    }  # fmt: skip
    assert by_document["d0"]["tf"] == {"fox": [1, 0], "dog": [2, 2]}
    assert by_document["d2"]["tf"] == {"cat": [2, 2], "dog": [1, 0]}
    after = {hit["document"]: hit["lost"] for hit in found["hits"]["after"]}
    assert after == {doc: by_document[doc]["lost"] for doc in after}
    assert found["matching"] == {"before": 4, "after": 4}
    assert explain_query(*pair, "fox")["matching"] == {"before": 2, "after": 0}


def test_refusals(pair):
    arguments = {"index": pair[0], "pruned": pair[1], "query": "fox"}
    for changes, named in (
        ({"query": "the of"}, "'the of'"), ({"hits": 0}, "hits .* 0"), ({"pruned": "/no"}, "/no"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=named):
            explain_query(**{**arguments, **changes})


def test_command_line(pair):
    words = ["explain", "--index", pair[0], "--pruned", pair[1], "--query", "fox dog"]
    assert json_of(*words) == explain_query(*pair, "fox dog")
    shown = run_command(*words).output
    assert "all postings" in shown and "d1" in shown
    assert "3 documents held a term of the query, 1 still do." in shown
