"""Stage 0: an index of a collection, by Anserini's own IndexCollection; nothing of ours in it but a
word in its commit's user data on how it was analysed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis import ENGLISH, Analysis, read_stop_words
from ..errors import TdvError
from ..jvm.analysis import make_analyzer
from ..jvm.index import add_user_data
from ..jvm.indexer import run_index_collection
from ..options import Config, option
from ..output import Output
from ..progress import Progress, silent
from .analysis import as_user_data


@dataclass(frozen=True, kw_only=True)
class BuildConfig(Config):
    """Options of :func:`tdv_lucene.build_index`."""

    overwrite: bool = option(False, "Replace an empty folder. Never replaces an index.")


def build_index(
    output: str | os.PathLike[str],
    flags: Sequence[str],
    config: BuildConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Run Anserini's IndexCollection with ``flags`` and put the index at ``output``.

    ``flags`` are Anserini's, without ``-index``; Pyserini's ``--name`` is taken for ``-name``. For
    example ``["-collection", "JsonCollection", "-input", "docs", "-generator",
    "DefaultLuceneDocumentGenerator", "-threads", "2", "-storePositions"]``. Options are those of
    :class:`BuildConfig`, as a config or by name.

    Returns ``output`` and Anserini's counters of documents: ``indexed``, ``unindexable``,
    ``empty``, ``skipped``, ``errors``.

    Raises :class:`TdvError` when ``output`` exists, Anserini refuses the flags or logs an error,
    the flags name a language that it does not know, or no document is indexed; nothing is left.
    """
    overwrite = BuildConfig.of(config, options).overwrite
    flags = [f"-{flag[2:]}" if flag.startswith("--") else flag for flag in flags]
    analysis = analysis_of_flags(flags)
    if "-append" in flags:
        raise TdvError(
            "-append does not append: Anserini 1.7 makes the index anew. Leave it out, and add "
            "documents with Pyserini's LuceneIndexer(args=['-index', INDEX, '-storePositions'], "
            "append=True), with the flags that INDEX was made with"
        )
    read = [
        value for flag, value in zip(flags, flags[1:])
        if not value.startswith("-") and flag not in _WITHOUT_FILES
    ]  # fmt: skip
    for flag, value in zip(flags, flags[1:]):
        if flag == "-input" and Path(value).is_file():
            raise TdvError(
                f"-input {value} is a file: Anserini reads all files of a folder; pass that"
            )
    place = Output(output, None, inputs=read, overwrite=overwrite, option="index")
    with place as folder:
        counters = run_index_collection(flags, folder, progress)
        if not counters.get("indexed"):
            told = ", ".join(f"{name} {number:,}" for name, number in counters.items())
            raise TdvError(
                f"no document was indexed ({told or 'none was found'}): look whether -input holds "
                "files of this -collection; nothing was written"
            )
        if analysis is not None:
            add_user_data(folder, as_user_data(analysis))
    return {"output": str(place.path), **counters}


_WITHOUT_FILES = ("-collection", "-generator", "-language", "-stemmer", "-threads")
_OTHER_ANALYZERS = {
    "-analyzeWithHuggingFaceTokenizer", "-useCompositeAnalyzer", "-useAutoCompositeAnalyzer",
}  # fmt: skip


def analysis_of_flags(flags: Sequence[str]) -> Analysis | None:
    """Return how IndexCollection analyses with these flags; None with an analyzer that no flag of
    the commands names.

    Raises :class:`TdvError` for an unknown language, which Anserini would take for English; an
    unknown stemmer, which it would take for none; and Thai, on a Java that cannot do it.
    """
    given = dict(zip(flags, [*flags[1:], ""]))
    if _OTHER_ANALYZERS & given.keys() or "Tweet" in given.get("-collection", ""):
        return None
    language = given.get("-language", ENGLISH)
    if language != ENGLISH:
        analysis = Analysis(language)  # which comes first in Anserini
    elif "-pretokenized" in given:
        analysis = Analysis(pretokenized=True)
    else:
        words: tuple[str, ...] | None = () if "-keepStopwords" in given else None
        if words is None and "-stopwords" in given:
            words = read_stop_words(given["-stopwords"])
        analysis = Analysis(stemmer=given.get("-stemmer", "porter"), stopwords=words)
    make_analyzer(analysis)
    return analysis
