"""Many fuzzing cases in processes of their own: ``scripts/fuzz --cases N --seed S [--jobs N]``.

With ``--histories`` a case is an index that changes and one that follows it. Case i has seed S + i.
What fails is printed with its seed, and ``--seed THAT --cases 1`` runs it again. A case that takes
longer than ``--limit`` seconds counts as failed: it hangs.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import queue
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_REPORT_EVERY = 30.0
_STOP_AFTER = 10


def _work(seeds: range, histories: bool, limit: float, results: Any) -> None:
    """Run the cases of ``seeds``; put (seed, outcome or None, what failed) for each."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    if histories:
        from fuzz_histories import run_history as run_case
    else:
        from fuzz_check import run_case

    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for seed in seeds:
            faulthandler.dump_traceback_later(limit, exit=True)
            try:
                results.put((seed, run_case(seed, Path(scratch)), ""))
            except Exception:
                results.put((seed, None, traceback.format_exc()))
            faulthandler.cancel_dump_traceback_later()


def fuzz(cases: int, seed: int, jobs: int, limit: float, histories: bool = False) -> list[int]:
    """Run the cases and print what becomes of them; return the seeds that failed."""
    context = multiprocessing.get_context("spawn")  # each process starts a JVM
    results = context.Queue()
    shares = [range(seed + job, seed + cases, jobs) for job in range(jobs)]
    workers = [context.Process(target=_work, args=(s, histories, limit, results)) for s in shares]
    for worker in workers:
        worker.start()
    done: set[int] = set()
    failed: list[int] = []
    outcomes: Counter = Counter()
    try:
        for number, outcome, problem in _results(results, workers, cases):
            done.add(number)
            outcomes[outcome] += 1
            if outcome is None:
                failed.append(number)
                print(f"\nFAILED: --seed {number} --cases 1\n{problem}", flush=True)
                if len(failed) == _STOP_AFTER:
                    break
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
    if len(failed) < _STOP_AFTER:
        failed += _hung(shares, done)
    print(f"{len(done)} cases from seed {seed}, {len(failed)} failed: {failed}")
    for outcome, count in outcomes.most_common():
        print(f"{count:8}  {outcome or 'FAILED'}")
    return failed


def _results(results: Any, workers: list[Any], cases: int) -> Iterator[tuple[int, str, str]]:
    """What the workers put, until all of them have ended; says now and then how far they are."""
    said, count = time.monotonic(), 0
    while True:
        alive = any(worker.is_alive() for worker in workers)  # before the last look
        try:
            yield results.get(timeout=1)
            count += 1
        except queue.Empty:
            if not alive:
                return
        if time.monotonic() - said > _REPORT_EVERY:
            said = time.monotonic()
            print(f"{count} of {cases}", flush=True)


def _hung(shares: list[range], done: set[int]) -> list[int]:
    """The first case without a result of each process: it ended the process, or hung."""
    hung = [next((seed for seed in share if seed not in done), None) for share in shares]
    for seed in hung:
        if seed is not None:
            print(f"\nHUNG, or ended its process: --seed {seed} --cases 1")
    return [seed for seed in hung if seed is not None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--histories", action="store_true", help="of indexes that change")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one case")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the workers too
    # Each index is tiny: the time goes to compiling, not to what was compiled.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    sys.exit(1 if fuzz(**vars(arguments)) else 0)


if __name__ == "__main__":
    main()
