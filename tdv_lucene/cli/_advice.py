"""How an index that was just written is to be searched."""

from __future__ import annotations

from typing import Any

from ..ranking import NAMED_DEFAULTS
from ._options import percent


def how_to_search(report: dict[str, Any]) -> str:
    """How to search with other programs: by the model that was validated, and no other."""
    model, search = report["model"], report["search"]
    if model == "tfidf":
        return (
            "\nSearch it with 'tdv-lucene search', which reads this from the index, or with "
            "tdv_lucene.open_searcher(...)."
        )
    k1, b, mu = (f"{search[name]:g}" for name in ("k1", "b", "mu"))
    ways = {
        "bm25": (f"--bm25 --k1 {k1} --b {b}    set_bm25({k1}, {b})",
                 f"-bm25 -bm25.k1 {k1} -bm25.b {b}"),
        "qld": (f"--qld --mu {mu}    set_qld({mu})", f"-qld -qld.mu {mu}"),
    }  # fmt: skip
    plain = {
        "bm25": ("BM25", ("k1", "b"), f"k1 {k1}, b {b}"),
        "qld": ("query likelihood", ("mu",), f"mu {mu}"),
    }
    if model in plain:
        title, names, told = plain[model]
        for searcher, defaults in NAMED_DEFAULTS.items():
            if all(search[name] == defaults[name] for name in names):
                return (
                    f"\nSearch it like any other index: {title} with {searcher.title()}'s default "
                    f"parameters ({told}) ranks as learned.{_beyond(report)}"
                )
        if "baked" in report:
            return f"\nSearch it with {title}, {told}.{_beyond(report)}"
    shown = [ways[model]] if model in ways else ways.values()
    pyserini, anserini = ("    ".join(parts) for parts in zip(*shown))
    return (
        "\nPass these parameters at search ('tdv-lucene search' reads them from the index):\n"
        f"  Pyserini  {pyserini}\n  Anserini  {anserini}"
    )


def _beyond(report: dict[str, Any]) -> str:
    """What is said where documents are too short, or too long, for their norm."""
    norms = report.get("norms", {"beyond": 0})
    if not norms["beyond"]:
        return ""
    return (
        f"\n{norms['beyond']:,} documents are too short or too long for that: their length norm K "
        f"is off by {percent(norms['mean_off'])} on average, "
        f"{percent(norms['largest_off'])} at most. A larger --scale helps short ones."
    )
