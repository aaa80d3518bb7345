"""The neural re-rankers a second time, in PyTorch, to check ours.

    python scripts/bench/neural_torch.py --index INDEX --topics T --qrels Q [--train-topics T
        --train-qrels Q] --name conv-knrm [--fold 0]

First it gives both the same weights, and prints by how much scores and gradients differ on a batch
of the collection. Then it trains its own, from PyTorch's first weights, on the same queries by
PyTorch's loss and Adam, and prints the nDCG@5 of the held-out queries beside BM25's and ours,
and beside what counting exact matches gives.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import normalize

from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.evaluation.evaluate import trec_eval_values
from tdv_lucene.evaluation.topics import Qrels
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.paper.neural import training as ours
from tdv_lucene.paper.neural.batch import Batch
from tdv_lucene.paper.neural.config import POOLED, NeuralConfig
from tdv_lucene.paper.neural.layers import KERNELS, WIDTHS
from tdv_lucene.paper.neural.rankers import make_ranker
from tdv_lucene.paper.neural.scoring import score_documents
from tdv_lucene.paper.published import COLLECTIONS
from tdv_lucene.paper.queries import read_queries


class TorchBatch:
    """A batch as PyTorch's arrays, with documents of all queries in one axis: R of them."""

    def __init__(self, batch: Batch) -> None:
        made = [torch.from_numpy(np.ascontiguousarray(x)) for x in batch]
        query, query_vectors, self.idf, docs, doc_vectors = made
        self.shape = docs.shape[:2]
        self.query = query.repeat_interleave(self.shape[1], 0)  # [R, L]
        self.query_vectors = query_vectors.repeat_interleave(self.shape[1], 0)
        self.idf = self.idf.repeat_interleave(self.shape[1], 0)
        self.docs, self.doc_vectors = docs.flatten(0, 1), doc_vectors.flatten(0, 1)
        self.asked, self.there = self.query >= 0, self.docs >= 0
        self.exact = (self.query[:, :, None] == self.docs[:, None, :]) & self.asked[:, :, None]


class ConvKnrm(nn.Module):
    """As in MatchZoo: log(1 + x) of kernels, a linear score."""

    def __init__(self, dimensions: int, config: NeuralConfig) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimensions, config.filters, n) for n in (1, 2, 3)
        )
        self.output = nn.Linear(9 * len(KERNELS), 1)

    def forward(self, batch: TorchBatch) -> torch.Tensor:
        """[R]"""
        asked, found = self._ngrams(batch.query_vectors), self._ngrams(batch.doc_vectors)
        centres, widths = torch.from_numpy(KERNELS), torch.from_numpy(WIDTHS)
        features = []
        for one in asked:
            for other in found:
                similar = one @ other.transpose(1, 2)
                near = torch.exp(-((similar[..., None] - centres) ** 2) / (2 * widths**2))
                logs = torch.log1p((near * batch.there[:, None, :, None]).sum(2))
                features.append((logs * batch.asked[..., None]).sum(1))
        return self.output(torch.cat(features, -1))[:, 0]

    def _ngrams(self, vectors: torch.Tensor) -> list[torch.Tensor]:
        found = []
        for convolution in self.convolutions:
            padded = nn.functional.pad(vectors.transpose(1, 2), (0, convolution.kernel_size[0] - 1))
            found.append(normalize(torch.relu(convolution(padded)), dim=1).transpose(1, 2))
        return found

    def of_ours(self, ranker: eqx.Module) -> list[tuple[nn.Parameter, np.ndarray]]:
        """Each parameter with ours, or with ours' gradient, in PyTorch's order of axes."""
        found = [*_dense(self.output, ranker.output)]
        for convolution, kernel, bias in zip(self.convolutions, ranker.kernels, ranker.biases):
            found += _convolution(convolution, kernel, bias)
        return found


class Duet(nn.Module):
    """Local and distributed model, summed; the paper's, with our sizes."""

    def __init__(self, dimensions: int, config: NeuralConfig, query_terms: int) -> None:
        super().__init__()
        units, windows = config.units, config.doc_terms // POOLED
        self.window = nn.Linear(config.doc_terms, units)
        self.local = nn.Linear(query_terms * units, units)
        self.local_hidden, self.local_output = nn.Linear(units, units), nn.Linear(units, 1)
        self.query, self.doc = (nn.Conv1d(dimensions, units, 3) for _ in range(2))
        self.query_dense, self.doc_dense = (nn.Linear(units, units) for _ in range(2))
        self.distributed = nn.Linear(windows * units, units)
        self.distributed_output = nn.Linear(units, 1)
        self.doc_terms, self.query_terms = config.doc_terms, query_terms

    def forward(self, batch: TorchBatch) -> torch.Tensor:
        """[R]"""
        exact = _padded(batch.exact.float(), self.doc_terms)
        seen = torch.tanh(self.window(exact)) * batch.asked[..., None]
        seen = _padded(seen.transpose(1, 2), self.query_terms).transpose(1, 2)
        local = torch.tanh(self.local_hidden(torch.tanh(self.local(seen.flatten(1)))))
        asked = torch.tanh(self.query(_padded(batch.query_vectors.transpose(1, 2), None)))
        asked = asked.masked_fill(~batch.asked[:, None], -2).amax(2)
        asked = torch.tanh(self.query_dense(asked))
        found = torch.tanh(self.doc(_padded(batch.doc_vectors.transpose(1, 2), None)))
        found = found.masked_fill(~batch.there[:, None], -2)
        found = nn.functional.max_pool1d(found, POOLED).transpose(1, 2)
        some = (found > -2).any(2, keepdim=True)
        found = torch.tanh(self.doc_dense(torch.where(some, found, 0.0))) * some
        product = (asked[:, None] * found).transpose(1, 2)
        product = _padded(product, self.doc_terms // POOLED).transpose(1, 2)
        distributed = torch.tanh(self.distributed(product.flatten(1)))
        return (self.local_output(local) + self.distributed_output(distributed))[:, 0]

    def of_ours(self, ranker: eqx.Module) -> list[tuple[nn.Parameter, np.ndarray]]:
        """As for Conv-KNRM."""
        local, other = ranker.local, ranker.distributed
        units = self.window.out_features
        return [
            (self.window.weight, np.asarray(local.window).T),
            (self.window.bias, np.asarray(local.bias)),
            (self.local.weight, np.asarray(local.gather)[: self.query_terms].reshape(-1, units).T),
            (self.local.bias, np.asarray(local.gather_bias)),
            *_dense(self.local_hidden, local.hidden),
            *_dense(self.local_output, local.output),
            *_convolution(self.query, other.query_kernel, other.query_bias),
            *_convolution(self.doc, other.doc_kernel, other.doc_bias),
            *_dense(self.query_dense, other.query_dense),
            *_dense(self.doc_dense, other.doc_dense),
            (self.distributed.weight, np.asarray(other.gather).reshape(-1, units).T),
            (self.distributed.bias, np.asarray(other.gather_bias)),
            *_dense(self.distributed_output, other.output),
        ]


def _dense(layer: nn.Linear, other: eqx.Module) -> list[tuple[nn.Parameter, np.ndarray]]:
    return [(layer.weight, np.asarray(other.weight)), (layer.bias, np.asarray(other.bias))]


def _convolution(
    layer: nn.Conv1d, kernel: jax.Array, bias: jax.Array
) -> list[tuple[nn.Parameter, np.ndarray]]:
    return [(layer.weight, np.asarray(kernel).transpose(2, 1, 0)), (layer.bias, np.asarray(bias))]


def _padded(values: torch.Tensor, length: int | None) -> torch.Tensor:
    """The last axis with zeros behind: up to a length, or the two of a convolution of 3."""
    more = 2 if length is None else length - values.shape[-1]
    return nn.functional.pad(values, (0, more))


def make(name: str, training: ours.Training) -> nn.Module:
    """A model from PyTorch's first weights."""
    config, dimensions = training.reader.config, training.reader.table.shape[1]
    if name == "conv-knrm":
        return ConvKnrm(dimensions, config)
    return Duet(dimensions, config, training.queries.shape[1])


def scores(model: nn.Module, batch: Batch) -> torch.Tensor:
    """[B, C]"""
    own = TorchBatch(batch)
    return model(own).reshape(own.shape)


def hinge(model: nn.Module, batch: Batch) -> torch.Tensor:
    """The loss by PyTorch's own."""
    positive, negative = scores(model, batch).unbind(1)
    return nn.functional.margin_ranking_loss(positive, negative, torch.ones_like(positive), 1.0)


def compare(name: str, training: ours.Training) -> None:
    """Print by how much the two differ with the same weights."""
    reader, config = training.reader, training.reader.config
    ranker, model = make_ranker(name, reader.table.shape[1], config, 0), make(name, training)
    with torch.no_grad():
        for parameter, own in model.of_ours(ranker):
            parameter.copy_(torch.from_numpy(own.copy()))
    pairs = ours._relevant_pairs(training.judged)
    batch = next(ours._batches(training, pairs, np.random.default_rng(0)))
    plain = np.asarray(ranker(batch))
    found = scores(model, batch).detach().numpy()
    hinge(model, batch).backward()
    gradient = eqx.filter_grad(ours._hinge)(ranker, batch)
    differences = [
        np.abs(parameter.grad.numpy() - own).max() / max(np.abs(own).max(), 1e-12)
        for parameter, own in model.of_ours(gradient)
    ]
    apart = np.abs(found - plain).max() / np.abs(plain).max()
    print(
        f"{name}, same weights: scores differ by {apart:.1e}, gradients by {max(differences):.1e}"
    )


def train(name: str, training: ours.Training, rate: float, seed: int) -> tuple[nn.Module, int]:
    """PyTorch's weights, loss and Adam; queries are held out, and training stops, as ours."""
    torch.manual_seed(seed)
    rng, config, model = np.random.default_rng(seed), training.reader.config, make(name, training)
    learned, unseen = ours._split(ours._relevant_pairs(training.judged), config.held_out, rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    kept = [*ours._batches(training, unseen, rng)] + [*ours._batches(training, unseen, rng)]
    best, epoch_of_best, weights = np.inf, 0, copy.deepcopy(model.state_dict())
    for epoch in range(config.max_epochs):
        with torch.no_grad():
            loss = float(np.mean([hinge(model, batch).item() for batch in kept]))
        if loss < best:
            best, epoch_of_best, weights = loss, epoch, copy.deepcopy(model.state_dict())
        if epoch - epoch_of_best >= config.patience:
            break
        for batch in ours._batches(training, learned, rng):
            optimizer.zero_grad()
            hinge(model, batch).backward()
            optimizer.step()
    model.load_state_dict(weights)
    return model, epoch_of_best


def ndcg(
    held_out: ours.Training, qrels: Qrels, rank: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> float:
    """The mean nDCG@5; ``rank`` scores documents for a query's terms."""
    parts, names = [], held_out.reader.matrix.doc_ids
    for query, terms, row in zip(held_out.judged.queries.ids, held_out.queries, held_out.found):
        found = row[row >= 0]
        docids = [names[doc].decode() for doc in found.tolist()]
        parts.append(pd.DataFrame({"query": query, "docid": docids, "score": rank(terms, found)}))
    topics = dict.fromkeys(held_out.judged.queries.ids, "")
    return float(trec_eval_values(pd.concat(parts), topics, qrels)[1]["nDCG@5"].mean())


def count_matches(
    held_out: ours.Training, by_idf: bool, terms: np.ndarray, found: np.ndarray
) -> np.ndarray:
    """What exact matches alone can say of what is read of a document, with and without idf."""
    reader, asked = held_out.reader, terms[terms >= 0]
    docs = reader.sequences.heads(found, reader.config.doc_terms)
    logs = np.log1p(np.stack([(docs == term).sum(axis=1) for term in asked], axis=1))
    return (logs * (reader.idf[asked] if by_idf else 1)).sum(axis=1)


def main() -> None:
    """Compare, train and measure."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("index", "topics", "qrels"):
        asked.add_argument(f"--{option}", required=True)
    for option in ("train-topics", "train-qrels", "matrix"):
        asked.add_argument(f"--{option}")
    asked.add_argument("--name", choices=("duet", "conv-knrm"), required=True)
    asked.add_argument("--fold", type=int, default=0)
    asked.add_argument("--seed", type=int, default=0)
    told = asked.parse_args()
    torch.set_num_threads(1)
    config = NeuralConfig()
    queries = read_queries(
        COLLECTIONS["other"], told.index, (told.topics, told.qrels),
        (told.train_topics, told.train_qrels), 5, told.seed,
    )  # fmt: skip
    tokens = analyze_topics({**queries.measured, **queries.training}, "contents")
    with open_matrix(told.index, told.matrix, field="contents", tokens=True) as matrix:
        vectors = latent_semantic_vectors(matrix, seed=told.seed)

        def judged(some: list[str]) -> ours.Training:
            own = {q: tokens[q] for q in some}
            return ours.judged_training(
                matrix, vectors, config, own, {q: queries.qrels[q] for q in some}
            )

        learned, held_out = (judged(part) for part in queries.folds[told.fold])
        compare(told.name, learned)
        first = ndcg(held_out, queries.qrels, lambda terms, found: -np.arange(len(found)))
        print(f"nDCG@5 of {len(held_out.queries)} queries: BM25 {first:.4f}", flush=True)
        for gains, what in ((False, "log(1 + tf) of what is read"), (True, "times idf")):
            counted = partial(count_matches, held_out, gains)
            print(f"{what}: {ndcg(held_out, queries.qrels, counted):.4f}", flush=True)
        model, epoch = train(told.name, learned, config.rate(told.name), told.seed)
        width, reader = learned.queries.shape[1], held_out.reader

        def by_torch(terms: np.ndarray, found: np.ndarray) -> np.ndarray:
            fitting = np.full(width, -1, np.int32)
            fitting[: len(terms)] = terms[:width]
            parts = np.array_split(found, -(-len(found) // 250))
            with torch.no_grad():
                made = [
                    scores(model, reader.batch(fitting[None], part[None], config.doc_terms))[0]
                    for part in parts
                ]
            return torch.cat(made).numpy()

        print(f"PyTorch, epoch {epoch}: {ndcg(held_out, queries.qrels, by_torch):.4f}", flush=True)
        trained = ours.train(told.name, learned, told.seed)

        def by_ours(terms: np.ndarray, found: np.ndarray) -> np.ndarray:
            return score_documents(trained.ranker, reader, terms, found)

        print(f"ours, epoch {trained.epoch}: {ndcg(held_out, queries.qrels, by_ours):.4f}")


if __name__ == "__main__":
    main()
