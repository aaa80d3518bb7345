"""Many fuzzing cases: ``scripts/fuzz --cases N --seed S``.

With ``--histories`` a case is an index that changes and one that follows it. Case i has seed S + i.
What fails is printed with its seed, and ``--seed THAT --cases 1`` runs it again. A case that takes
longer than ``--limit`` seconds ends its process with a traceback; its seed is the last one printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_STOP_AFTER = 10


def run_cases(seeds: range, histories: bool, limit: float) -> bool:
    """Run the cases of ``seeds`` and print what becomes of them; return whether all went well."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    if histories:
        from fuzz_histories import run_history as run_case
    else:
        from fuzz_check import run_case

    failed: list[int] = []
    outcomes: Counter = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for seed in seeds:
            print(f"--seed {seed} --cases 1", end="\r", flush=True)
            faulthandler.dump_traceback_later(limit, exit=True)
            try:
                outcomes[run_case(seed, Path(scratch))] += 1
            except Exception:
                failed.append(seed)
                print(f"\nFAILED: --seed {seed} --cases 1\n{traceback.format_exc()}", flush=True)
                if len(failed) == _STOP_AFTER:
                    break
            faulthandler.cancel_dump_traceback_later()
    print(f"{outcomes.total() + len(failed)} cases from seed {seeds[0]}, failed: {failed}")
    for outcome, count in outcomes.most_common():
        print(f"{count:8}  {outcome}", flush=True)
    return not failed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--histories", action="store_true", help="of indexes that change")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one case")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Each index is tiny: the time goes to compiling, not to what was compiled.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    seeds = range(asked.seed, asked.seed + asked.cases)
    sys.exit(not run_cases(seeds, asked.histories, asked.limit))


if __name__ == "__main__":
    main()
