"""The picture of the learned points."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from small_problem import make_collection

from tdv_lucene.errors import TdvError
from tdv_lucene.peers.peers import unlearned_values
from tdv_lucene.report.path_plot import check_plot, plot_points

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
