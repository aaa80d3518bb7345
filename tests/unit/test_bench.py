"""The benchmarks' scripts start, and texts get the weights that their model gives them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = ["rivals.py", "engines.py",
           "sparse.py", "tiers.py", "prior.py", "log_bound.py", "known.py", "paper.py"]  # fmt: skip
READING = ["picture.py", "paper_vectors.py"]
"""Scripts that read figures or documents, and need no folder to work in."""


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
    spec = importlib.util.spec_from_file_location("bench_splade", BENCH / "splade.py")
    sys.modules[spec.name] = splade = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(splade)  # dataclasses look their module up
    encoder = splade.Encoder(tmp_path)
    for text, found in zip(texts, encoder.encode(texts), strict=True):
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].max(dim=0).values
        exact = (100 * torch.log1p(torch.relu(logits))).numpy()
        weights = [found.get(tokenizer.id_to_token(i), 0) for i in range(len(exact))]
        np.testing.assert_allclose(weights, exact, atol=0.51)
        assert 0 < len(found) < len(exact)
