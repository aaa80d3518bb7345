"""The processes of engines.py: a JVM for each Lucene, and Python for the other engines."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DEFAULTS = 0.9, 0.4
"""k1 and b of full and pruned indexes."""


class Engine:
    """A process that holds indexes open and answers commands: a JVM, or Python with engines."""

    def __init__(self, given: argparse.Namespace, name: str, queries: Path) -> None:
        command = [str(given.python), str(HERE / "engines_worker.py"), str(queries)]
        if name.startswith("lucene"):
            command = [
                java(), "-Xms3g", "-Xmx3g", "--add-modules=jdk.incubator.vector", "-cp",
                given.jar[name.removeprefix("lucene-")], str(HERE / "EnginesLucene.java"),
                str(queries),
            ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(given), stderr=(given.work / f"{name}.log").open("a"),
        )  # fmt: skip

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the engine ended: {what}; its log is in the work folder")
        return json.loads(answer)

    def open(self, row: Row) -> float:
        return self.ask(do="open", index=row.name, **row.how)["ms"]

    def memory(self, row: Row) -> int:
        """Bytes of the process's own that are not shared with files, and those of the index's."""
        own = self.ask(do="heap", engine=row.engine)["bytes"]
        if not own:
            own = _status(self.process.pid, "RssAnon")
        mapped, inside = 0, False
        for line in Path(f"/proc/{self.process.pid}/smaps").read_text().splitlines():
            if not line.startswith("Rss:"):
                inside = f"{row.how['path']}/" in line if "-" in line.split(" ")[0] else inside
            elif inside:
                mapped += int(line.split()[1]) * 1024
        return own + mapped

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def _status(pid: int, key: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


class Row:
    """An engine with one of the indexes."""

    def __init__(self, given: argparse.Namespace, engine: str, index: str, how: str = "") -> None:
        self.engine, self.index = engine, index
        self.name = " ".join(filter(None, (engine, how, index)))
        self.process = engine if engine.startswith("lucene") else "python"
        k1, b = given.tuned if index == "tuned" else DEFAULTS
        source = "full" if index == "tuned" else index
        path = given.work / f"{engine}-{source if self.process == engine else index}"
        if engine == "lucene-9":
            path = given.index[source]
        self.how = {"engine": engine, "path": str(path), "how": how, "k1": k1, "b": b}

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in Path(self.how["path"]).iterdir())


def java() -> str:
    return str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")


def environment(given: argparse.Namespace) -> dict[str, str]:
    """Where pip puts libtbb has to be named."""
    return {**os.environ, "LD_LIBRARY_PATH": str(given.python.parent.parent / "lib")}
