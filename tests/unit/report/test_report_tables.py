"""Tables on screens, in papers, and with anything in them; and plots, read back from their SVG."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from rich.console import Console

from tdv_lucene.evaluation.measures import MEASURES, Evaluation
from tdv_lucene.report.page import for_script
from tdv_lucene.report.plots import plot_trade_off
from tdv_lucene.report.table import Table, change, p_value, print_table, to_latex, to_markdown
from tdv_lucene.report.tables import extreme_queries, size_table
from tdv_lucene.report.wording import counted, one_line, visible


@pytest.mark.parametrize(
    "p, shown",
    [(None, "none"), (1.0, "1.000"), (0.05, "0.050"), (0.0499, "0.050*"), (1e-9, "<0.001*")],
)
def test_p_value(p, shown):
    assert p_value(p) == shown


@pytest.mark.parametrize(
    "before, after, shown",
    [(100, 55, "-45.0 %"), (10, 11, "+10.0 %"), (7, 7, "0.0 %"), (100_000, 99_999, "0.0 %"),
     (0, 0, ""), (0, 3, "new"), (5, 0, "-100.0 %")],
)  # fmt: skip
def test_change(before, after, shown):
    assert change(before, after) == shown


def evaluation(values: list[float]) -> Evaluation:
    queries = tuple(f"q{i}" for i in range(len(values)))
    per_measure = {measure: np.array(values) for measure in MEASURES}
    return Evaluation(queries, per_measure)


def test_extreme_queries_are_only_those_that_changed():
    both = {"full": evaluation([0.5, 0.5, 0.5, 0.5]), "pruned": evaluation([0.5, 0.1, 0.9, 0.4])}
    texts = {f"q{i}": "text" for i in range(4)}
    doc_freq = {"b": (4, 1), "a": (3, 0), "c": (9, 9), "new": (0, 0)}
    words = {q: {term: dict(zip(both, of)) for term, of in doc_freq.items()} for q in texts}
    lost, gained = extreme_queries(texts, both, "MAP", words, most=3)
    assert [row[:2] for row in lost.rows] == [("q1", "text"), ("q3", "text")]
    assert lost.bars == pytest.approx((-0.4, -0.1))
    assert gained.rows == [("q2", "text", "a all, b 75%", "0.500", "0.900", "+0.400")]


TABLE = Table(
    "Effectiveness", ("measure", "full", "pruned", "change", "95 % interval", "p", "+/=/-"),
    [("nDCG@5", "0.1234", "0.2345", "+0.1111", "+0.010 to +0.020", "<0.001*", "12/345/6789"),
     ("R@1000", "0.9999", "1.0000", "+1,234.5 %", "-0.010 to +0.020", "0.050", "1/2/3")],
    "A note of some length stands below, and goes on.",
)  # fmt: skip
STRANGE = Table(
    "page[a] \x1b[31m", ("[/b]", "$x$\n"),
    [("<script>|", "\u202e1"), ("[red]x[/red]", ":smile:"), ("a_b*c`d&e~f", "\\[x](y)#%^{}")],
    "[link=x]note",
)  # fmt: skip


def printed(table: Table, width: int) -> str:
    out = io.StringIO()
    print_table(Console(file=out, width=width, force_terminal=False), table)
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_lines_break_between_numbers_never_within(width):
    text = printed(TABLE, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for row in TABLE.rows:
        for cell in row[1:]:
            for number in cell.split():
                assert number in words, (width, number)
    assert (text.count("measure") == 1) == (width >= 80)
    assert text.count("Effectiveness") == 1 and " ".join(words).count("goes on.") == 1


def test_no_text_is_interpreted_in_a_paper():
    for line in to_markdown([STRANGE]).splitlines():
        bare = re.sub(r"\\.", "", line)
        assert not re.search(r"[*_<`\[\]&$~]|[\x00-\x1f\u202e]", bare), line
        assert bare.count("|") in (0, 3)
    latex = to_latex([STRANGE])
    assert not re.search("[\x1b\u202e]", latex)
    rows = latex[latex.index("\\toprule") : latex.index("\\bottomrule")]
    for row in rows.split("\\\\\n"):
        assert len(re.findall(r"(?<!\\)&", row)) in (0, 1)
        assert not re.search(r"(?<!\\)[$#%_]", row)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("page[a] [/b] <b> $x$ | :smile:", "page[a] [/b] <b> $x$ | :smile:"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\nb\tc\rd\x00\x7f\x9b", r"a\nb\tc\rd\x00\x7f\x9b"),
        ("gpj.\u202eexe\u2069\u200f", r"gpj.\u202eexe\u2069\u200f"),
        ("a\u2028b\u2029c\u200bd\ufeff", r"a\u2028b\u2029c\u200bd\ufeff"),
        ("\udcff", r"\udcff"),
        ("naïve 検索 חיפוש 🔎", "naïve 検索 חיפוש 🔎"),
    ],
)
def test_what_acts_is_written_out(text, shown):
    assert visible(text) == shown
    assert visible(visible(text)) == shown
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_one_thing_is_no_plural():
    shown = [counted(number, "query", "queries") for number in (0, 1, 1234)]
    assert shown == ["0 queries", "1 query", "1,234 queries"]
    assert [counted(number, "word") for number in (1, 2)] == ["1 word", "2 words"]


MARKUP = (
    "</script><script>document.title='taken'</script><!-- <img src=x onerror=alert(1)> & \u2028"
)


def test_no_text_ends_the_script_or_begins_a_comment() -> None:
    made = for_script({"text": MARKUP, "n": [0.5, None]})
    assert not re.search("[<>&\u2028\u2029]", made)
    assert json.loads(made) == {"text": MARKUP, "n": [0.5, None]}
    with pytest.raises(ValueError):
        for_script([float("nan")])


def test_sizes_of_all_indexes_stand_side_by_side() -> None:
    sizes = dict.fromkeys(("documents", "terms", "postings", "bytes"), 8)
    indexes = {
        name: {**sizes, "postings": 8 // n, "bytes_by_kind": {"postings": 5 - n, "terms": n}}
        for n, name in enumerate("abcd", start=1)
    }
    size = size_table({"indexes": indexes})
    assert size.columns == ("", "a", "b", "change", "c", "change", "d", "change")
    postings, of_lists = size.rows[2], size.rows[4]
    assert postings[:4] == ("postings", "8", "4", "-50.0 %")
    assert of_lists[:6] == ("... postings", "4", "3", "-25.0 %", "2", "-50.0 %")


def test_text_to_read_is_one_line_without_marks() -> None:
    assert (
        one_line("\u0633\u0648\n\n \u200f(26\u202e)\ta\ufeffb\x1b[1m ") == "\u0633\u0648 (26) ab[1m"
    )
    assert one_line("क्\u200dष 👨\u200d👩") == "क्\u200dष 👨\u200d👩", "joiners make characters"


SVG = "{http://www.w3.org/2000/svg}"
FULL = {"nDCG@5": 0.5, "R@1000": 0.8}
POINTS = [
    {"reduction": 0.0, "measures": {"nDCG@5": 0.55, "R@1000": 0.80}},
    {"reduction": 0.3, "measures": {"nDCG@5": 0.60, "R@1000": 0.76}},
    {"reduction": 0.6, "measures": {"nDCG@5": 0.40, "R@1000": 0.64}},
]


def read(svg: str) -> tuple[list[str], list[np.ndarray]]:
    """Texts, and the (x, y) of every group of three markers, y upwards."""
    root = ElementTree.fromstring(svg)
    texts = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    groups = []
    for group in root.iter(f"{SVG}g"):
        marks = group.findall(f"{SVG}use")
        if len(marks) == len(POINTS) and marks[0].get("x"):
            groups.append(np.array([[float(m.get("x")), -float(m.get("y"))] for m in marks]))
    return texts, groups


def test_trade_off_draws_every_point_and_the_chosen_one():
    svg = plot_trade_off({"points": POINTS, "full": FULL}, "", {"chosen": 0.45})
    texts, (ndcg, recall) = read(svg)
    assert {"nDCG@5", "R@1000", "chosen", "postings dropped, %"} <= set(texts)
    changes = {"nDCG@5": (10.0, 20.0, -20.0), "R@1000": (0.0, -5.0, -20.0)}  # percent of full
    for drawn, expected in zip((ndcg, recall), changes.values(), strict=True):
        assert drawn[1, 0] - drawn[0, 0] == pytest.approx(drawn[2, 0] - drawn[1, 0], rel=1e-4)
        scale = (ndcg[1, 1] - ndcg[0, 1]) / 10
        np.testing.assert_allclose((drawn[:, 1] - ndcg[0, 1]) / scale + 10, expected, atol=1e-3)
    assert "chosen" not in read(plot_trade_off({"points": POINTS, "full": FULL}, "", {}))[0]


def test_a_measure_that_is_0_in_the_full_index_has_no_line():
    full = {"nDCG@5": 0.0, "R@1000": 0.8}
    texts, groups = read(plot_trade_off({"points": POINTS, "full": full}, "", {}))
    assert "nDCG@5: 0 in the full index" in texts and len(groups) == 1
    nothing = {"nDCG@5": 0.0, "R@1000": 0.0}
    assert read(plot_trade_off({"points": POINTS, "full": nothing}, "", {}))[1] == []
