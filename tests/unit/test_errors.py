"""Errors are one line that names the argument, before anything is read or written."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("search --hits 0", "hits"),
        ("search --threads -3", "threads"),
        ("search --field ''", "--field"),
        ("compare --tune-qrels ' '", "--tune-qrels"),
        ("prune --max-loss .1 --reduction .2", "max_loss"),
        ("prune --min-doc-freq 0", "min_doc_freq"),
        ("learn", "qrels"),
        ("embed --dimensions 0", "dimensions"),
        ("compare --latency-budget 0", "latency_budget_seconds"),
        ("verify --threads 0", "threads"),
        ("--heap much search", "heap"),
        ("index here", "here exists"),
        ("embed here", "here exists"),
        ("search here", "here exists"),
        ("prune --output '' --overwrite", "--output"),
    ],
)
def test_the_command_line_names_what_is_wrong(arguments, said, tmp_path, monkeypatch, capsys):
    from tdv_lucene.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "i").mkdir()
    (tmp_path / "t.tsv").write_text("q1\ttext\n")
    *words, last = shlex.split(arguments)
    words, output = (words, last) if last == "here" else ([*words, last], "new")
    required = {
        "search": "--index i --topics t.tsv --output",
        "prune": "--index i --output",
        "learn": "--index i --output",
        "embed": "--index i --output",
        "compare": "--index i --pruned p --topics t.tsv --qrels q.txt --output",
        "verify": "--index i --pruned",
        "index": "-collection x --index",
    }
    command = next(word for word in words if word in required)
    more = [] if "--output" in words else [*required[command].split(), output]
    monkeypatch.setattr("sys.argv", ["tdv-lucene", *words, *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told and "\ufdd0" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"here", "i", "t.tsv"}


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    code = (
        "import sys; from tdv_lucene.cli import _group; from tdv_lucene.cli._groups import leaves\n"
        "list(leaves(_group)); print([name for name in ('scipy', 'jax', 'pandas', 'rich') if name "
        "in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
