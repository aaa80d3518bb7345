"""How a command ends: its status, one line for what went wrong, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, run_apart

_PROGRAM = """
import os, signal, sys, time, types
import click
from tdv_lucene import cli
from tdv_lucene.errors import TdvError
from tdv_lucene.interruption import check
from tdv_lucene.output import Output

def act():
{body}

cli._COMMANDS["act"] = ("acting", "As told.")
sys.modules["acting"] = types.SimpleNamespace(act=click.command("act")(act))
sys.argv = ["tdv-lucene", *sys.argv[1:], "act"]
cli.main()
"""
_UNFINISHED = """
place = Output("out", "thing", inputs=())
with place as folder:
    (folder / "content").write_text("x")
    {}
    place.write_manifest({{}})
"""


def _run(body: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    lines = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    return run_apart("-c", _PROGRAM.format(body=lines), *flags, cwd=folder)


ENDINGS = {
    "raise TdvError('no such thing')": (2, "tdv-lucene: no such thing\n"),
    "open('gone')": (2, "tdv-lucene: gone: No such file or directory\n"),
    "raise click.ClickException('no')": (1, "tdv-lucene: no\n"),
    "raise click.UsageError('give --pruned')":
        (2, "tdv-lucene: give --pruned\nTry 'tdv-lucene act --help' for help.\n"),
    "import logging; logging.getLogger('x').warning('of %s', '\\x1b[2Jgone')":
        (0, "of \\x1b[2Jgone\n"),
}  # fmt: skip
"""What a command does -> its status, and all that it says on standard error."""


@pytest.mark.parametrize("body", ENDINGS)
def test_how_a_command_ends(body: str, tmp_path: Path) -> None:
    done = _run(body, tmp_path)
    assert (done.returncode, done.stderr) == ENDINGS[body]


def test_a_defect_is_one_line_and_its_traceback_is_for_those_who_ask(tmp_path: Path) -> None:
    error = "raise RuntimeError('a\\n\\nb ' * 400)"
    done = _run(error, tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "report it with the output of 'tdv-lucene -v'" in done.stderr
    assert "Traceback" not in done.stderr
    verbose = _run(error, tmp_path, "-v")
    assert verbose.returncode == 1 and "Traceback" in verbose.stderr


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_interrupted_command_leaves_nothing(name: str, status: int, tmp_path: Path) -> None:
    kill = f"os.kill(os.getpid(), signal.{name}); check()"
    done = _run(_UNFINISHED.format(kill), tmp_path)
    assert done.returncode == status
    assert done.stderr.lstrip() == "tdv-lucene: interrupted; nothing was written\n"
    assert os.listdir(tmp_path) == []


def test_what_was_whole_before_is_named(tmp_path: Path) -> None:
    done = _run(_UNFINISHED.format("pass") + "os.kill(os.getpid(), signal.SIGINT)", tmp_path)
    assert done.returncode == 130
    said = f"tdv-lucene: interrupted; {tmp_path / 'out'} is complete"
    assert done.stderr.strip() == said


def test_neither_a_second_interruption_nor_who_swallows_one_keeps_files(tmp_path: Path) -> None:
    kill = "os.kill(os.getpid(), signal.SIGINT)"
    swallowed = f"\n    try: {kill}; check()\n    except BaseException: pass"
    slowly = (
        "import shutil\nremove = shutil.rmtree\n"
        "def slowly(*args, **options):\n"
        f"    {kill}\n    remove(*args, **options)\n"
        "shutil.rmtree = slowly\n"
    )
    for body in (_UNFINISHED.format(swallowed), slowly + _UNFINISHED.format(f"{kill}; check()")):
        assert _run(body, tmp_path).returncode == 130
        assert os.listdir(tmp_path) == []


def test_a_name_that_the_terminal_lacks_is_not_blamed_on_java(tmp_path: Path) -> None:
    done = _run("sys.stdout.reconfigure(encoding='ascii'); print('größe')", tmp_path)
    said = "tdv-lucene: '\\xf6' cannot be printed in ascii, the encoding of standard output: "
    assert done.returncode == 2 and done.stderr.startswith(said)
    done = _run("'a\\udcff'.encode()", tmp_path)
    assert "'a\\udcff' is not UTF-8: Java needs names" in done.stderr


@pytest.mark.parametrize(
    "body",
    [
        "print('x' * 10_000_000)",
        "from tdv_lucene.cli import common; from tdv_lucene.report.table import Table\n"
        "    common.show_tables(*[Table('x', ('y',), [('z',)] * 10_000)] * 9)",
    ],
    ids=["text", "tables"],
)
def test_a_reader_that_leaves_is_no_error(body: str, tmp_path: Path) -> None:
    program = _PROGRAM.format(body=f"    {body}")
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(300) == -signal.SIGPIPE


@pytest.mark.parametrize("redirection", [">&-", "<&-", "2>&-", "<&- 2>&-"])
def test_no_file_takes_the_place_of_a_closed_stream(redirection: str, tmp_path: Path) -> None:
    """What Java prints, or is sent, would go into it; a closed standard output is refused."""
    program = _PROGRAM.format(body="    print(os.open('file', os.O_RDWR | os.O_CREAT))")
    done = subprocess.run(
        ["sh", "-c", f'"$1" -c "$2" {redirection}', "sh", sys.executable, program],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if redirection == ">&-":
        said = "tdv-lucene: standard output is closed: redirect it to a file, or to /dev/null\n"
        assert (done.returncode, done.stderr) == (2, said)
    else:
        assert done.returncode == 0 and int(done.stdout) > 2


def test_an_option_of_the_program_behind_a_command_is_told_its_place() -> None:
    done = run_apart("-m", "tdv_lucene", "paper", "reproduce", "--heap", "8g")
    assert done.returncode == 2 and "No such option" in done.stderr
    assert "--heap stands before the command: 'tdv-lucene --heap ... paper" in done.stderr
    done = run_apart("-m", "tdv_lucene", "--heap")
    assert done.returncode == 2 and "stands before" not in done.stderr
