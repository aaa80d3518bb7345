"""Train a neural re-ranker on judged queries, and re-rank a run with it."""

from __future__ import annotations

import os
from typing import Any

from ...errors import TdvError
from ...evaluation.topics import read_qrels, read_topics
from ...index.analysis import analysis_of
from ...index.index import Index
from ...jvm.analysis import analyze_topics
from ...matrix.embed import load_term_vectors
from ...matrix.extract import open_matrix
from ...matrix.term_vectors import latent_semantic_vectors
from ...output import Output
from ...progress import Progress, silent
from ...searching.search import RUN
from ..config import RankerConfig, RerankConfig
from . import KIND, require_equinox


def train_ranker(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: RankerConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Train a neural re-ranker of BM25's results and write it to the folder ``output``.

    It learns from pairs of a relevant and a non-relevant document that BM25 finds, until the loss
    of a held-out fifth of the queries stops falling; see :mod:`.training`, and :mod:`.rankers` for
    every number. Deterministic given ``seed`` on one machine.

    Raises :class:`TdvError` when Equinox is not installed, the index has neither positions nor
    text, the queries have no relevant document in it, or the output may not be written.

    Parameters
    ----------
    config, options
        A :class:`..config.RankerConfig`, or its options by name, as ``name="duet"``.

    Returns
    -------
    dict
        ``name``, ``field``, ``queries``, ``epoch`` (the one kept), ``held_out_loss``,
        ``parameters``, ``seed``.
    """
    chosen = RankerConfig.of(config, options)
    name, field, seed, matrix = chosen.name, chosen.field, chosen.seed, chosen.matrix
    require_equinox()
    read = [index, topics, qrels, chosen.vectors, matrix]
    place = Output(output, KIND, inputs=read, overwrite=chosen.overwrite)
    texts = read_topics(topics, chosen.topic_field, chosen.topic_reader)
    judgements = read_qrels(qrels)
    from .rankers import NeuralConfig, count_parameters
    from .training import StoredRanker, judged_training, train

    with (
        Index.open(index) as opened,
        open_matrix(opened, matrix, field=field, tokens=True, progress=progress) as counts,
    ):
        analysed = analysis_of(opened, field, chosen.analysis).analysis
        tokens = analyze_topics(texts, field, analysed)
        counts.require_postings("training")
        words = (
            latent_semantic_vectors(counts, seed=seed, progress=progress)
            if chosen.vectors is None
            else load_term_vectors(chosen.vectors, counts, analysed, progress)
        )
        numbers = NeuralConfig()
        training = judged_training(counts, words, numbers, tokens, judgements)
        trained = train(name, training, seed, progress)
        summary = {
            "name": name,
            "field": field,
            "queries": len(training.queries),
            "epoch": trained.epoch,
            "held_out_loss": trained.loss,
            "parameters": count_parameters(trained.ranker),
            "seed": seed,
        }
        identity = {
            "vocabulary_sha256": counts.vocabulary.sha256,
            "source": counts.source,
            "vectors": dict(words.origin),
        }
        StoredRanker(trained.ranker, words, numbers, {**summary, **identity}).save(place)
    return summary


def rerank_run(
    index: str | os.PathLike[str],
    ranker: str | os.PathLike[str],
    topics: str | os.PathLike[str],
    run: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: RerankConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Re-rank the first documents of each query of ``run``, and write a run.

    Those after them follow in their order, so a query has the same documents as before.

    Raises :class:`TdvError` when Equinox is not installed, the re-ranker belongs to another index,
    the run has a query that the topics lack or a document that the index lacks, or the output may
    not be written.

    Parameters
    ----------
    ranker
        A folder from :func:`train_ranker` on this index.
    run
        A TREC run, from any system, of documents in the index.
    config, options
        A :class:`..config.RerankConfig`, or its options by name, as ``tag="x"``.

    Returns
    -------
    dict
        ``name``, ``rerank_depth``, ``queries`` and ``hits``.
    """
    config = RerankConfig.of(config, options)
    depth, matrix = config.rerank_depth, config.matrix
    require_equinox()
    place = Output(
        output, RUN, is_folder=False, inputs=[index, ranker, topics, run, matrix],
        overwrite=config.overwrite, made_by="paper rerank",
    )  # fmt: skip
    texts = read_topics(topics, config.topic_field, config.topic_reader)
    from .runs import Reranking, format_run, number_documents, read_rankings
    from .training import Reader, StoredRanker

    rankings, stored = read_rankings(os.fspath(run)), StoredRanker.load(ranker)
    if missing := [query for query in rankings if query not in texts]:
        raise TdvError(
            f"the run answers {len(missing)} queries (such as '{missing[0]}') that the topics "
            f"lack: pass the topics that were searched"
        )
    field, name = stored.manifest["field"], stored.manifest["name"]
    with (
        Index.open(index) as opened,
        open_matrix(opened, matrix, field=field, tokens=True, progress=progress) as counts,
    ):
        analysed = analysis_of(opened, field, config.analysis).analysis
        tokens = analyze_topics({q: texts[q] for q in rankings}, field, analysed)
        stored.check(counts, index)
        reader = Reader(counts, stored.vectors, stored.config)
        documents = number_documents(counts, rankings.values(), depth)
        asked = dict(zip(rankings, reader.queries(tokens)))
        work = Reranking(stored.ranker, reader, asked, rankings, documents, depth)
        found = work.of_all(name, progress)
    hits = sum(map(len, found.values()))
    summary = {"name": name, "rerank_depth": depth, "queries": len(found), "hits": hits}
    with place as unfinished:
        text = format_run(found, config.tag or f"tdv-lucene-{name}")
        unfinished.write_text(text, encoding="utf-8")
        place.write_manifest({**summary, "source": counts.source})
    return summary
