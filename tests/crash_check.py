"""Kill -9 at random moments, and what must be true after: ``scripts/crash --kills N --seed S``,
and ``--stage update`` for one stage only.

The source stays as it was, byte by byte. The output is absent, or whole; what an unfinished run
leaves beside it under a hidden name is refused by Lucene, or whole too. An update that is killed
leaves the old state or the new one, and the next one goes on from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from lucene_indexes import Doc, Layout, change, write_index  # noqa: E402
from lucene_reading import check_index  # noqa: E402
from pruning_inputs import values_of  # noqa: E402
from testing_jar import dump_index  # noqa: E402

from tdv_lucene import extract_matrix, prune_index, update_index  # noqa: E402
from tdv_lucene.store import unlisted_files  # noqa: E402

STAGES = ("prune", "overwrite", "update")
LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="v")


class Crashes:
    """A source, values for it, and what each stage must make of them."""

    def __init__(self, folder: Path, documents: int = 600) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.source, self.values = folder / "source", folder / "values"
        docs = _documents(documents)
        write_index(self.source, [docs[: documents // 2], docs[documents // 2 :]], LAYOUT)
        values_of(extract_matrix(self.source, folder / "matrix")).save(self.values)
        prune_index(self.source, self.values, folder / "expected", reduction=0.3)
        prune_index(self.source, self.values, folder / "old", reduction=0.1)
        self._make_changed(docs)
        self.digest = digest(self.source)
        self.expected = dump_index(folder / "expected")
        self.old = dump_index(folder / "old")
        self.seconds: dict[str, float] = {}

    def _make_changed(self, docs: list[Doc]) -> None:
        """A source that has changed since it was pruned, and the states before and after."""
        changed = self.folder / "changed"
        shutil.copytree(self.source, changed)
        prune_index(changed, self.values, self.folder / "behind", reduction=0.3, tiers=True)
        self.behind = dump_index(self.folder / "behind")
        new = [replace(doc, id=f"n{doc.id}") for doc in docs[: len(docs) // 2]]
        change(changed, new[: len(new) // 2], layout=LAYOUT)
        change(changed, new[len(new) // 2 :], [doc.id for doc in docs[::7]], layout=LAYOUT)
        shutil.copytree(self.folder / "behind", self.folder / "ahead")
        update_index(self.folder / "ahead")
        self.ahead = dump_index(self.folder / "ahead")

    def start(self, stage: str, *arguments: object) -> subprocess.Popen[str]:
        """A process that waits for a line to begin with the stage."""
        command = [sys.executable, str(ROOT / "tests" / "crash_child.py"), stage, str(self.source)]
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
        )  # fmt: skip
        assert process.stdout.readline() == "READY\n", f"{stage} did not start"
        return process

    def kill(self, stage: str, rng: random.Random) -> str:
        """Kill a run at a random moment of its work and check what is left; say what that was."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        output = place / "output"
        if stage == "overwrite":
            shutil.copytree(self.folder / "old", output)
        if stage == "update":
            shutil.copytree(self.folder / "behind", output)
        process = self.start(stage, self.values, output)
        began = time.monotonic()
        process.stdin.write("\n")
        process.stdin.flush()
        # The first run tells how long one takes; the moments lie within, and a little after.
        wait = rng.uniform(0, 1.1 * self.seconds[stage]) if stage in self.seconds else 600
        try:
            process.wait(wait)
            self.seconds.setdefault(stage, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert digest(self.source) == self.digest, f"{stage}: the source was changed"
        left = self._left(stage, output)
        for unfinished in place.glob(".output.*"):
            left += f", {self._unfinished(stage, unfinished)}"
        shutil.rmtree(place)
        return f"{stage}: {left}"

    def _left(self, stage: str, output: Path) -> str:
        if not output.exists():
            # between two renames the old result stands beside, whole, under a hidden name
            kept = list(output.parent.glob(".output.replaced-*/output"))
            assert stage != "overwrite" or kept, "the old result is gone"
            assert not kept or same_content(dump_index(kept[0]), self.old)
            return "no output"
        if stage == "update":
            check_index(output)
            found = dump_index(output)
            state = "the old state" if same_content(found, self.behind) else "the new state"
            assert state == "the old state" or same_content(found, self.ahead), "half a state"
            update_index(output)
            assert same_content(dump_index(output), self.ahead), "it did not go on"
            check_index(output)
            listed = json.loads((output / "tdv-manifest.json").read_text())
            assert not unlisted_files(output, {**listed["files"], "tdv-manifest.json": None})
            return state
        check_index(output)
        found = dump_index(output)
        if stage == "overwrite" and same_content(found, self.old):
            return "the old output"
        assert same_content(found, self.expected), "an index that is not whole"
        assert (output / "tdv-manifest.json").exists()
        return "the whole output"

    def _unfinished(self, stage: str, folder: Path) -> str:
        if ".replaced-" in folder.name:
            return "the old one aside"
        if stage == "update":
            return "something aside"
        try:
            found = dump_index(folder / "result")
        except Exception:  # any refusal will do; pyjnius has one class for all of Java's
            return "something Lucene refuses"
        assert same_content(found, self.expected), "an unfinished index that can be read"
        return "a whole index aside"


def same_content(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two dumps agree in all but what names their runs."""
    return all(a[k] == b[k] for k in ("postings", "norms", "vectors", "documents", "statistics"))


def digest(folder: Path, form: str = "*") -> dict[str, str]:
    """SHA-256 of every file, but for the lock, which is empty and made by whoever looks."""
    files = (path for path in folder.rglob(form) if path.is_file() and path.name != "write.lock")
    return {f"{p.relative_to(folder)}": hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _documents(count: int) -> list[Doc]:
    rng = random.Random(0)
    words = [f"word{i}" for i in range(400)]
    weights = [1 / (i + 1) for i in range(400)]
    texts = [rng.choices(words, weights, k=rng.randint(10, 60)) for _ in range(count)]
    return [Doc(f"d{number}", text) for number, text in enumerate(texts)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stage", choices=sorted({*STAGES}), help="kill this one only")
    arguments = parser.parse_args()
    stages = (arguments.stage,) if arguments.stage else STAGES
    rng = random.Random(arguments.seed)
    outcomes: Counter = Counter()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        crashes = Crashes(Path(folder))
        for stage in dict.fromkeys(stages):
            crashes.kill(stage, rng)  # to its end: how long it takes
        for number in range(arguments.kills):
            outcomes[crashes.kill(stages[number % len(stages)], rng)] += 1
            if number % 20 == 19:
                print(f"{number + 1} of {arguments.kills}", flush=True)
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:6}  {outcome}")


if __name__ == "__main__":
    main()
