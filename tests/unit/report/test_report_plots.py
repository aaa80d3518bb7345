"""What plots draw, read back from their SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene import TdvError, unlearned_values
from tdv_lucene.report.plots import check_plot, plot_points, plot_trade_off

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
    dotted = re.findall(r'<path d="M ([\d.]+) [\d.]+ \s*L ([\d.]+) [\d.]+ \s*" clip-path', svg)
    between = (ndcg[0, 0] + ndcg[2, 0]) / 2 + (ndcg[1, 0] - ndcg[0, 0]) / 2
    assert any(float(a) == float(b) == pytest.approx(between, abs=0.01) for a, b in dotted)
    assert "chosen" not in read(plot_trade_off({"points": POINTS, "full": FULL}, "", {}))[0]


def test_a_measure_that_is_0_in_the_full_index_has_no_line():
    full = {"nDCG@5": 0.0, "R@1000": 0.8}
    texts, groups = read(plot_trade_off({"points": POINTS, "full": full}, "", {}))
    assert "nDCG@5: 0 in the full index" in texts and len(groups) == 1
    nothing = {"nDCG@5": 0.0, "R@1000": 0.0}
    assert read(plot_trade_off({"points": POINTS, "full": nothing}, "", {}))[1] == []


PATH = [(0.0, 0.52, 0.9), (0.3, 0.5, 0.89), (0.45, 0.49, 0.88)]


@pytest.fixture(scope="module")
def values():
    made = unlearned_values(make_collection()[0], "ridf")
    points = [
        {"reduction": r, "removed": r, "scale": 1, "scales": [],
         "posting_bytes": int(3e6 * (1 - r)), "index_bytes": int(5e6 * (1 - r)),
         "measures": {"nDCG@5": n, "R@1000": recall}, "full": {"nDCG@5": 0.5, "R@1000": 0.9},
         "difference": {"nDCG@5": {"mean": n - 0.5, "ci95": [n - 0.52, n - 0.48]},
                        "R@1000": {"mean": recall - 0.9, "ci95": [recall - 0.91, recall - 0.89]}}}
        for r, n, recall in PATH
    ]  # fmt: skip
    full = {"posting_bytes": 3_000_000, "index_bytes": 5_000_000}
    return replace(made, manifest={**made.manifest, "points": points, "full": full})


def _plot(values, path):
    full, recommended = (values.manifest.get(k) for k in ("full", "recommended_reduction"))
    plot_points(values.points, full, recommended, check_plot(path, overwrite=False))


def test_the_svg_says_every_value(values, tmp_path):
    _plot(values, tmp_path / "path.svg")
    texts = {e.text for e in ElementTree.parse(tmp_path / "path.svg").iter() if e.text}
    assert {f"{n:.3f}" for _, n, _ in PATH} | {f"{r:.3f}" for _, _, r in PATH} <= texts
    assert {"nDCG@5", "R@1000", "MB of the index, foreseen"} <= texts
    assert {"0%", "30%", "45%", "recommended", "full index, tuned, 0.500"} <= texts


def test_the_same_points_make_the_same_file(values, tmp_path):
    for name in ("a.svg", "b.svg", "a.png", "b.png"):
        _plot(values, tmp_path / name)
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_other_files_are_refused(values, tmp_path):
    with pytest.raises(TdvError, match=r"\.svg or a \.png"):
        check_plot(tmp_path / "path.pdf", overwrite=False)
    _plot(values, tmp_path / "path.svg")
    with pytest.raises(TdvError, match="exists"):
        _plot(values, tmp_path / "path.svg")
    with pytest.raises(TdvError, match="not validated"):
        _plot(unlearned_values(make_collection()[0], "df"), tmp_path / "bare.svg")
