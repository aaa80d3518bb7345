"""What plots draw, read back from their SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tdv_lucene.report.plots import plot_trade_off

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
