"""How well the analysis of an index is found, and whether runs are Pyserini's: a table of indexes.

    scripts/bench/analysis_detection.py --collections DIR --work DIR --output DIR

Each collection is indexed by Anserini's IndexCollection with the flags of the table. What the index
records is not looked at. Without stored text, evidence is the dictionary alone, whether the field
has positions or not: the two columns of the issue are one here.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import time
from pathlib import Path

from tdv_lucene import read_topics, search_index
from tdv_lucene.analysis import Analysis
from tdv_lucene.indexes.build import build_index
from tdv_lucene.indexes.detection import detect
from tdv_lucene.indexes.field_analysis import DEFAULT, FieldAnalysis
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
_HEADINGS = ("collection", "made as", "stored text", "seconds", "terms alone", "seconds",
             "found from terms", "lines unlike Pyserini's")  # fmt: skip
_TO_TRY = [
    *((name, Analysis(language)) for name, language in _LANGUAGES.items()),
    *(
        (name, Analysis(stemmer=stemmer))
        for stemmer in ("porter", "none")
        for name in (*_LANGUAGES, "xquad-el")
    ),
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


def _named(found: FieldAnalysis) -> list[Analysis]:
    """What it may have been, the likeliest first; a default that nothing speaks for is none."""
    return [*([] if found.source == DEFAULT else [found.analysis]), *found.others]


def _verdict(found: FieldAnalysis, made: Analysis) -> str:
    """``right``, ``open`` (among those named, none surely) or ``wrong``."""
    named, is_told = _named(found), found.source != DEFAULT
    is_first = is_told and identity_of(named[0]) == identity_of(made)
    if is_first and not found.others:
        return "right" if found.is_certain else "right, not sure"
    if identity_of(made) in map(identity_of, named) and not found.is_certain:
        return "open"
    return "WRONG" if is_told else "open, not named" if named else "none named"


def _differing(index: Path, made: Analysis, topics: Path, run: Path) -> str:
    """How many lines of 1,000 hits of 50 queries are not Pyserini's, and of how many."""
    from pyserini.analysis import JWhiteSpaceAnalyzer, get_lucene_analyzer
    from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(str(index))
    if made.pretokenized:
        searcher.set_analyzer(JWhiteSpaceAnalyzer())
    elif made.language != "en":
        searcher.set_language(made.language)
    else:
        keep = made.stopwords is None
        stem = made.stemmer != "none"
        searcher.set_analyzer(
            get_lucene_analyzer(stemming=stem, stemmer=made.stemmer, stopwords=keep)
        )
    queries = dict(itertools.islice(read_topics(topics).items(), 50))
    search_index(index, queries, run, tag="x", overwrite=True)
    theirs = [
        f"{qid} Q0 {hit.docid} {rank} {hit.score:.6f} x"
        for qid, text in queries.items()
        for rank, hit in enumerate(searcher.search(text, 1000), 1)
    ]
    ours = run.read_text(encoding="utf-8").splitlines()
    differing = sum(a != b for a, b in itertools.zip_longest(ours, theirs))
    return f"{differing} of {len(theirs):,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    rows = ["\t".join(_HEADINGS)]
    for name, made in _TO_TRY:
        source = given.collections / ("lang" if name not in _ENGLISH[1:] else "") / name
        docs = given.work / name / "docs"
        docs.mkdir(parents=True, exist_ok=True)
        (docs / "docs.jsonl").write_bytes(gzip.open(source / "corpus.jsonl.gz").read())
        label = made.flags().replace("--", "").replace(" ", "-")
        cells = [name, made.describe()]
        topics = next(iter(sorted(source.glob("queries*.tsv"), reverse=True)))
        for kind, further in (("text", ["-storeRaw"]), ("terms", [])):
            index = _index(docs, given.work / name / f"{label}-{kind}", made, further)
            began = time.monotonic()
            found = detect(index, "contents", is_pruned=False)
            cells += [_verdict(found, made), f"{time.monotonic() - began:.1f}"]
        named = [one.describe() for one in _named(found)]
        cells.append(", ".join(named[:3]) + (f" and {len(named) - 3} more" if named[3:] else ""))
        stored = given.work / name / f"{label}-text"
        cells.append(_differing(stored, made, topics, given.work / name / "run"))
        print("\t".join(cells), flush=True)
        rows.append("\t".join(cells))
    (given.output / "detection.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
