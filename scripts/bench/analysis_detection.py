"""How well the analysis of an index is found: a table of indexes of known analyses.

    scripts/bench/analysis_detection.py --collections DIR --work DIR --output DIR

Each collection is indexed by Anserini's IndexCollection with the flags of the table. What the index
records is not looked at. Without stored text, evidence is the dictionary alone, whether the field
has positions or not: the two columns of the issue are one here.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

from tdv_lucene.analysis import Analysis
from tdv_lucene.indexes.build import build_index
from tdv_lucene.indexes.detection import Detected, detect
from tdv_lucene.jvm.analysis import identity_of

_LANGUAGES = {
    "ar-arcd-tydi": "ar", "de-klexikon": "de", "fa-pquad": "fa", "fr-piaf": "fr",
    "ja-jaquad": "ja", "ru-tydi": "ru", "sw-tydi": "sw", "xquad-de": "de", "xquad-hi": "hi",
    "zh-drcd": "zh",
}  # fmt: skip
_ENGLISH = ("xquad-en", "cisi", "cranfield")
_ANALYSES = (
    Analysis(), Analysis(stemmer="krovetz"), Analysis(stemmer="none"), Analysis(stopwords=()),
    Analysis(stemmer="none", stopwords=()), Analysis(pretokenized=True),
)  # fmt: skip
_TO_TRY = [
    *((name, Analysis(language)) for name, language in _LANGUAGES.items()),
    *((name, Analysis()) for name in (*_LANGUAGES, "xquad-el")),
    *((name, analysis) for name in _ENGLISH for analysis in _ANALYSES),
]


def _flags(analysis: Analysis) -> list[str]:
    """IndexCollection's."""
    if analysis.pretokenized:
        return ["-pretokenized"]
    keep = ["-keepStopwords"] if analysis.stopwords == () else []
    return ["-language", analysis.language, "-stemmer", analysis.stemmer, *keep]


def _index(docs: Path, folder: Path, analysis: Analysis, further: list[str]) -> Path:
    if not folder.exists():
        flags = "-collection JsonCollection -generator DefaultLuceneDocumentGenerator -threads 1"
        build_index(folder, [*flags.split(), "-input", str(docs), *_flags(analysis), *further])
    return folder


def _verdict(found: Detected, made: Analysis) -> str:
    """``right``, ``open`` (among those named, none surely) or ``wrong``."""
    named = [one for one in (found.analysis, *found.others) if one is not None]
    is_first = found.analysis is not None and identity_of(named[0]) == identity_of(made)
    if is_first and not found.others:
        return "right" if found.is_certain else "right, not sure"
    if identity_of(made) in map(identity_of, named) and not found.is_certain:
        return "open"
    return "WRONG" if found.analysis is not None else "open, not named" if named else "none named"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    rows = ["collection\tmade as\tstored text\tseconds\tterms alone\tseconds\tfound from terms"]
    for name, made in _TO_TRY:
        source = given.collections / ("lang" if name not in _ENGLISH[1:] else "") / name
        docs = given.work / name / "docs"
        docs.mkdir(parents=True, exist_ok=True)
        (docs / "docs.jsonl").write_bytes(gzip.open(source / "corpus.jsonl.gz").read())
        label = made.flags().replace("--", "").replace(" ", "-")
        cells = [name, made.describe()]
        for kind, further in (("text", ["-storeRaw"]), ("terms", [])):
            index = _index(docs, given.work / name / f"{label}-{kind}", made, further)
            began = time.monotonic()
            found = detect(index, "contents", is_pruned=False)
            cells += [_verdict(found, made), f"{time.monotonic() - began:.1f}"]
        named = [one.describe() for one in (found.analysis, *found.others) if one is not None]
        cells.append(", ".join(named[:3]) + (f" and {len(named) - 3} more" if named[3:] else ""))
        print("\t".join(cells), flush=True)
        rows.append("\t".join(cells))
    (given.output / "detection.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
