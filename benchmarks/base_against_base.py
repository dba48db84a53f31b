"""Base against itself, again and again: no verification may be held back, however busy the host is.

    python benchmarks/base_against_base.py OUT [COUNT] [BUSY]

Verifies Apache's own jar against Apache's own COUNT times (20) into OUT/<n>, beside BUSY busy programs (0), and counts
the verdicts; exit 1 with a HOLD among them, or, beside no busy program, with fewer than nine SHIP of ten. What is there
already is not done again.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.kafka.distribution import distribution_of
from harness.model.runs import Verdict
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
_LEAST_SHIP = 0.9


def main() -> None:
    out, count, busy = Path(sys.argv[1]).absolute(), number(2, 20), number(3, 0)
    jar = distribution_of(None, KAFKA, local_toolbox()).raft_jar
    verdicts: Counter[str] = Counter()
    with busy_programs(busy):
        for turn in range(1, count + 1):
            run_dir = out / str(turn)
            if not (run_dir / "verdict.json").exists():
                command = [sys.executable, "-m", "harness", "verify", "--jar", str(jar), "--out", str(run_dir)]
                subprocess.run(command, check=False, capture_output=True)
            record = RunDirectory(run_dir).verdict.read()
            verdicts[record.verdict] += 1
            print(f"{turn}: {record.verdict} {record.sentence}", flush=True)
    print(", ".join(f"{many} {verdict}" for verdict, many in verdicts.most_common()))
    undecided = not busy and verdicts[Verdict.SHIP] < _LEAST_SHIP * count
    sys.exit(1 if verdicts[Verdict.HOLD] or undecided else 0)


def number(place: int, default: int) -> int:
    return int(sys.argv[place]) if len(sys.argv) > place else default


@contextmanager
def busy_programs(count: int) -> Iterator[None]:
    programs = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


if __name__ == "__main__":
    main()
