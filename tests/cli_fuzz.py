"""The command line under random use: ``scripts/fuzz-cli --cases N --seed S [--jobs N]``.

Case i has seed S + i; what fails is printed with its seed and its words, and ``--cases 1 --seed
THAT`` runs it again. Of every case must be true: it ends with a status that is documented, prints
no traceback and names no defect; all that it read is as before; what it wrote is whole, by its
manifest, or not there; nothing else was left. Cases run in worker processes, many in each; those
that are interrupted in one of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cli_cases import Case, make_home, random_case  # noqa: E402
from snapshots import snapshot  # noqa: E402

from tdv_lucene.store import unlisted_files  # noqa: E402

LIMIT = 300.0  # seconds of a case: longer is hanging
_CASES_A_WORKER = 150
_SHARE_INTERRUPTED = 0.08
_STATUSES = {0, 2, 130}
_CRASH_FILES = ("hs_err_pid*", "core*", "*.hprof", "replay_pid*")


def check(case: Case, status: int, said: str, before: dict[str, str]) -> str:
    """Say what is wrong after a case; nothing where all is well."""
    if status not in _STATUSES and not (case.command == "verify" and status == 1):
        return f"ended with status {status}"
    if status == 130 and case.interrupted is None:
        return "ended as if interrupted"
    for word in ("Traceback", "a defect (", "Exception ignored", "SIGSEGV", "SIGABRT"):
        if word in said:
            return f"printed '{word}'"
    crashes = [path.name for form in _CRASH_FILES for path in case.place.glob(form)]
    if crashes:
        return f"left {crashes}"
    now = snapshot(*case.inputs)
    changed = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    if changed:
        return f"changed {changed[:3]}"
    known = {"damaged", *(path.name for path in case.outputs)}
    known |= {f"{path.name}.manifest.json" for path in case.outputs}
    left = sorted({path.name for path in case.place.iterdir()} - known)
    if left:
        return f"left {left}"
    for output in case.outputs:
        if output.parent == case.place and not _is_whole(output, case.command):
            return f"left half a result in {output.name}"
        if status == 0 and output.parent == case.place and not output.exists():
            return f"did not write {output.name}"
    return ""


def _is_whole(output: Path, command: str) -> bool:
    """Whether what is there is all of it, as its manifest has it; nothing is whole, too."""
    if not os.path.lexists(output):
        return not output.with_name(f"{output.name}.manifest.json").exists()
    if command == "index" and any(output.glob("segments_*")):
        return True  # else an earlier result that was left alone, and has a manifest
    beside = output.with_name(f"{output.name}.manifest.json")
    inside = [output / "manifest.json", output / "tdv-manifest.json"]
    for manifest in [beside] if output.is_file() else inside:
        if manifest.is_file():
            listed = json.loads(manifest.read_text())["files"]
            if output.is_file():
                return listed == {output.name: _described(output)}
            there = {path for path in listed if (output / path).is_file()}
            return there == set(listed) and not unlisted_files(
                output, {**listed, manifest.name: None}
            )
    return False


def _described(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def run_apart(case: Case) -> tuple[int, str]:
    """Run an interrupted case in a process of its own, and interrupt it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", "-v", *case.arguments],
        cwd=case.place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # A shell lets what it runs in the background ignore them.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    select.select([process.stdout], [], [], LIMIT)  # it says what it is told to do, or why not
    timer = threading.Timer(case.interrupted, process.send_signal, [signal.SIGINT])
    timer.start()
    try:
        said = process.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return -1, "it hangs\n" + process.communicate()[0].decode(errors="replace")
    finally:
        timer.cancel()
    return process.returncode, said.decode(errors="replace")


def work(home: Path) -> None:
    """A worker: reads ``{place, arguments}`` lines, runs them here, answers ``{status}`` lines.

    What the command and its Java print goes to ``place/said``, which the asker reads.
    """
    from tdv_lucene.cli import main

    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        os.chdir(asked["place"])
        said = os.open(asked["said"], os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.close(said)
        sys.argv = ["tdv-lucene", *asked["arguments"]]
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir(home)
        answers.write(json.dumps({"status": status}) + "\n")
        answers.flush()


class Worker:
    """Runs cases in one process, which is replaced when it has run many, hangs or dies."""

    def __init__(self, home: Path, said: Path) -> None:
        self._home, self._said = home, said
        self._process: subprocess.Popen | None = None
        self._left = 0

    def run(self, case: Case) -> tuple[int, str]:
        """Return the status, -1 where it hangs, and all that was printed."""
        if self._left == 0:
            self.stop()
            self._start()
        self._left -= 1
        asked = {
            "place": str(case.place), "arguments": case.arguments, "said": str(self._said)
        }  # fmt: skip
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], LIMIT)
        answer = self._process.stdout.readline() if ready else ""
        status = json.loads(answer)["status"] if answer else self._process.poll()
        said = self._said.read_text(errors="replace")
        if not answer:
            self.stop()
            return (-1, f"it hangs\n{said}") if not ready else (status or -2, f"it died\n{said}")
        return status, said

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", str(self._home)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=self._home,
        )  # fmt: skip
        self._left = _CASES_A_WORKER

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self._left = None, 0


class Fuzz:
    """Cases one after the other; ``outcomes`` counts commands and how they ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / "home"
        self._home.mkdir()
        make_home(self._home)
        self._worker = Worker(self._home, folder / "said")
        self.outcomes: Counter = Counter()

    def run(self, seed: int, share_interrupted: float = _SHARE_INTERRUPTED) -> str:
        """Run the case of a seed; return what is wrong with it, nothing where all is well."""
        place = self._folder / f"case-{seed}"
        place.mkdir()
        case = random_case(seed, self._home, place, share_interrupted)
        before = snapshot(*case.inputs)
        run = self._worker.run if case.interrupted is None else run_apart
        status, said = run(case)
        wrong = check(case, status, said, before)
        self.outcomes[f"{case.command} {status}"] += 1
        shutil.rmtree(place)
        if not wrong:
            return ""
        how = "" if case.interrupted is None else f" (interrupted after {case.interrupted:.2f} s)"
        return f"seed {seed}: {wrong}{how}\n  tdv-lucene {shlex.join(case.arguments)}\n" + "".join(
            f"  | {line}\n" for line in said.strip().splitlines()[-6:]
        )

    def stop(self) -> None:
        self._worker.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    if arguments.jobs > 1:
        ends = [arguments.seed + arguments.cases * job // arguments.jobs
                for job in range(arguments.jobs + 1)]  # fmt: skip
        jobs = [
            subprocess.Popen([sys.executable, __file__, "--jobs", "1", "--seed", str(begin),
                              "--cases", str(end - begin)])
            for begin, end in itertools.pairwise(ends) if end > begin
        ]  # fmt: skip
        sys.exit(any([job.wait() for job in jobs]))
    # Each input is tiny: the time goes to compiling, not to what was compiled.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    began, failed = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="fuzz-cli-") as folder:
        fuzz = Fuzz(Path(folder))
        for seed in range(arguments.seed, arguments.seed + arguments.cases):
            if wrong := fuzz.run(seed):
                failed += 1
                print(wrong, flush=True)
        fuzz.stop()
    for outcome, count in sorted(fuzz.outcomes.items()):
        print(f"{count:6}  {outcome}")
    print(f"{arguments.cases} cases in {time.monotonic() - began:.0f} s: {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
