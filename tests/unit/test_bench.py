"""The benchmarks' scripts start, and what they share writes what readers of runs find."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = ["rivals.py", "languages.py", "engines.py", "impact.py",
           "sparse.py", "tiers.py", "prior.py", "log_bound.py", "known.py", "paper.py"]  # fmt: skip
READING = ["picture.py", "paper_vectors.py"]
"""Scripts that read figures or documents, and need no folder to work in."""


def load(name: str) -> ModuleType:
    """A module that the scripts share, which no package holds."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # dataclasses look their module up
    return module


@pytest.fixture(scope="module")
def results() -> ModuleType:
    return load("results")


HELP = """
import contextlib, io, json, os.path, runpy, sys, traceback
sys.path.insert(0, os.path.dirname(sys.argv[1]))
for script in sys.argv[1:]:
    sys.argv, told, code = [script, "--help"], io.StringIO(), None
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            code = end.code
        except Exception:
            traceback.print_exc()
    print(json.dumps([code, told.getvalue()]))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[int | None, str]]:
    """What each script says to --help, and its exit code: in one process, which imports once."""
    scripts = [*SCRIPTS, *READING]
    command = [sys.executable, "-c", HELP, *(str(BENCH / script) for script in scripts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(scripts, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("script", [*SCRIPTS, *READING])
@pytest.mark.slow
def test_scripts_tell_their_flags(script: str, told: dict[str, tuple[int | None, str]]) -> None:
    code, said = told[script]
    assert code == 0, said
    assert "--output" in said
    assert ("--work" in said) == (script in SCRIPTS)


def test_every_executable_script_is_tried() -> None:
    executable = {path.name for path in BENCH.glob("*.py") if path.stat().st_mode & 0o100}
    assert executable == {*SCRIPTS, *READING}


def test_a_run_replaces_its_two_files_alone(results: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "today"
    results.write_run(folder, "first", {"rows": [0]}, ("README.md", "raw.json"))
    (folder / "notes.md").write_text("kept", encoding="utf-8")
    results.write_run(folder, "second", {"rows": [1]}, ("README.md", "raw.json"))
    assert (folder / "README.md").read_text(encoding="utf-8") == "second"
    assert json.loads((folder / "raw.json").read_text(encoding="utf-8")) == {"rows": [1]}
    assert (folder / "notes.md").read_text(encoding="utf-8") == "kept"


def test_what_a_set_bears_loses_little_of_any_measure_and_no_bytes(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))  # it imports what stands beside it
    rule = load("prior_settings")
    whole = [0.5, 0.5, 0.8, 0.9]
    pruned = [[0.5 * 0.99, 0.5, 0.8, 0.9], [0.4, 0.5, 0.8, 0.9], [0.5, 0.5, 0.8, 0.85], whole]
    of_set = {"all": {"full": whole, "pruned": pruned}, "size": [1.0, 0.9, 0.8, 1.02]}
    assert rule.bearable(of_set, [0.1, 0.2, 0.3, 0.4]) == [0.1]


def test_the_reduction_without_judgements_is_the_largest_that_loses_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))  # it imports what stands beside it
    rule = load("prior_settings")

    def curve(*losses: float) -> np.ndarray:
        """Of nDCG@5 at 0 to 80 %; R@100 loses nothing."""
        steps = np.linspace(0, 0.8, len(losses))
        found = np.interp(rule.REDUCTIONS, steps, np.negative(losses))
        return np.column_stack([found, np.zeros(len(found))])

    curves = {"adi": curve(0, 0, 0.06), "lisa": curve(0, 0, 0), "fr-piaf-train": curve(0, 0.04, 1)}
    lengths = dict.fromkeys(curves, 100.0)
    found = rule.rule_of(curves, lengths)
    assert found["asked"] == pytest.approx(0.5, abs=0.011), "1.5 % of the way to 6 %"
    assert found["details"] == pytest.approx(0.15, abs=0.011), "1.5 % of the way to 4 %"
    everywhere = {**curves, "adi": curve(0.02, 0.02)}
    assert rule.rule_of(everywhere, lengths) is None, "somebody loses at any reduction"


class Text(SimpleNamespace):
    """A document or query as ir_datasets yields it."""

    def default_text(self) -> str:
        return self.text


def test_a_collection_of_ir_datasets_is_read_by_its_name(monkeypatch, tmp_path: Path) -> None:
    documents = [Text(doc_id=f"d{n}", text=f"a title\n{n} words") for n in range(4)]
    queries = [Text(query_id=f"q{n}", text=f"what\tis {n}") for n in range(5)]
    grades = {("q0", "d0"): 1, ("q1", "d0"): 0, ("q1", "d3"): 2, ("q2", "d1"): 1, ("q3", "d1"): 0}
    found = SimpleNamespace(
        docs_iter=lambda: iter(documents),
        queries_iter=lambda: iter(queries),
        qrels_iter=lambda: (
            SimpleNamespace(query_id=query, doc_id=doc, relevance=grade, iteration="0")
            for (query, doc), grade in grades.items()
        ),
    )
    datasets = SimpleNamespace(load={"beir/small/test": found}.__getitem__)
    monkeypatch.setitem(sys.modules, "ir_datasets", datasets)
    monkeypatch.syspath_prepend(str(BENCH))  # it imports what stands beside it
    known = load("known")
    collection = known.read("beir/small/test")
    assert [json.loads(line) for line in collection.documents] == [
        {"id": one.doc_id, "contents": one.text} for one in documents
    ]
    assert collection.topics == {one.query_id: one.text for one in queries}
    assert collection.qrels == {
        "q0": {"d0": 1}, "q1": {"d0": 0, "d3": 2}, "q2": {"d1": 1}, "q3": {"d1": 0}
    }  # fmt: skip
    topics, qrels = {}, {}
    for one in known.halves(collection, tmp_path):  # as the commands read them
        of_half = known.read_topics(one[0]), known.read_qrels(one[1])
        assert not topics.keys() & of_half[0].keys() and of_half[0].keys() == of_half[1].keys()
        topics |= of_half[0]
        qrels |= of_half[1]
    assert topics == {f"q{n}": f"what is {n}" for n in range(3)}, "those with a relevant document"
    assert qrels == {query: collection.qrels[query] for query in topics}


def write_model(folder: Path, words: list[str]) -> object:
    """Write a small BERT of random weights as the published one is, and return PyTorch's."""
    import torch
    from safetensors.numpy import save_file
    from tokenizers.implementations import BertWordPieceTokenizer
    from transformers import BertConfig, BertForMaskedLM

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokenizer = BertWordPieceTokenizer({word: number for number, word in enumerate(vocabulary)})
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, initializer_range=0.3,
    )  # fmt: skip
    model = BertForMaskedLM(config).eval()
    with torch.no_grad():
        model.cls.predictions.bias.normal_()
    model.config.save_pretrained(folder)
    tensors = {}
    for name, tensor in model.state_dict().items():
        for old, new in (("LayerNorm.weight", "gamma"), ("LayerNorm.bias", "beta")):
            name = name.replace(old, f"LayerNorm.{new}")
        if tensor.is_floating_point() and "decoder" not in name:
            tensors[name] = tensor.numpy().copy()
    save_file(tensors, folder / "model.safetensors")
    return model


@pytest.mark.slow
def test_texts_are_weighed_as_transformers_weighs_them(tmp_path: Path) -> None:
    """Of every length up to the longest, several in a batch, cut texts among them."""
    import torch
    from tokenizers import Tokenizer

    words = [f"w{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    model, random = write_model(tmp_path, words), np.random.default_rng(1)
    lengths = (0, 1, 5, 30, 31, 100, 254, 400)
    texts = [" ".join(random.choice(words, length)) for length in lengths]
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    encoder = load("splade").Encoder(tmp_path)
    for text, found in zip(texts, encoder.encode(texts), strict=True):
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].max(dim=0).values
        exact = (100 * torch.log1p(torch.relu(logits))).numpy()
        weights = [found.get(tokenizer.id_to_token(i), 0) for i in range(len(exact))]
        np.testing.assert_allclose(weights, exact, atol=0.51)
        assert 0 < len(found) < len(exact)


@pytest.mark.skipif("SPLADE_TINY" not in os.environ, reason="SPLADE_TINY names no model's folder")
def test_the_published_model_weighs_a_question_as_is_known() -> None:
    encoder = load("splade").Encoder(Path(os.environ["SPLADE_TINY"]))
    (found,) = encoder.encode(["what causes heart attacks"])
    known = {"heart": 246, "causes": 231, "cause": 209, "attack": 203, "cancer": 109, "disease": 85}
    assert {word: found[word] for word in known} == known


def test_judged_documents_are_encoded_first_and_chance_draws_the_others(tmp_path: Path) -> None:
    splade = load("splade")
    lines = (json.dumps({"id": f"d{i}", "contents": f"text {i}"}) for i in range(50))
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as out:
        out.write("\n".join(lines))
    (tmp_path / "qrels.txt").write_text("q 0 d40 1\nq 0 d7 0\n")
    names = [name for name, _ in splade.read_documents(tmp_path, 10)]
    assert names[:2] == ["d40", "d7"] and len({*names}) == 10
    assert names == [name for name, _ in splade.read_documents(tmp_path, 20)][:10]
    assert [*splade.read_documents(tmp_path, 50)][0] == ("d0", "text 0")


def test_encoding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Encoder:
        def encode(self, texts: list[str]) -> list[dict[str, int]]:
            return [{text: 1} for text in texts]

    splade, path = load("splade"), tmp_path / "documents.jsonl"
    line = json.dumps({"id": "a", "contents": "", "vector": {"before": 1}}) + "\n"
    path.with_name("documents.jsonl.part").write_text(line + line[:9])
    splade.write_vectors(Encoder(), path, [("a", "x"), ("b", "y")])
    found = [json.loads(line)["vector"] for line in path.read_text().splitlines()]
    assert found == [{"before": 1}, {"y": 1}] and [*tmp_path.iterdir()] == [path]
