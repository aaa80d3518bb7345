"""The picture of the learned points."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from small_problem import make_collection

from tdv_lucene.errors import TdvError
from tdv_lucene.learning.peers import unlearned_values
from tdv_lucene.report.path_plot import check_plot, plot_points

PATH = [(0.0, 0.52, 0.9), (0.3, 0.5, 0.89), (0.45, 0.49, 0.88)]


@pytest.fixture(scope="module")
def values():
    made = unlearned_values(make_collection()[0], "ridf")
    points = [
        {"reduction": r, "removed": r, "scale": 1, "scales": [],
         "measures": {"nDCG@5": n, "R@1000": recall}, "full": {"nDCG@5": 0.5, "R@1000": 0.9}}
        for r, n, recall in PATH
    ]  # fmt: skip
    return replace(made, manifest={**made.manifest, "points": points})


def _plot(values, path):
    plot_points(values.points, values.manifest["recommended_reduction"], path)


def test_the_svg_says_every_value(values, tmp_path):
    _plot(values, tmp_path / "path.svg")
    texts = {e.text for e in ElementTree.parse(tmp_path / "path.svg").iter() if e.text}
    assert {f"{n:.3f}" for _, n, _ in PATH} | {f"{r:.3f}" for _, _, r in PATH} <= texts
    assert {"nDCG@5", "R@1000", "postings removed, %", "full index, 0.500"} <= texts


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


def test_values_without_measures_have_no_picture(tmp_path):
    with pytest.raises(TdvError, match="not validated"):
        _plot(unlearned_values(make_collection()[0], "df"), tmp_path / "path.svg")
