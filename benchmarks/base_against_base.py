"""Base against itself, again and again: no verification may be held back, however busy the host is.

    python benchmarks/base_against_base.py OUT [COUNT] [BUSY] [SUITE]

Verifies Apache's own jar against Apache's own COUNT times (20) into OUT/<n>, beside BUSY busy programs (0), by SUITE
(the default of `harness verify`), and counts the verdicts; exit 1 with a HOLD among them, or, beside no busy program,
with fewer than nine SHIP of ten. What is there already is not done again. Each verification becomes a line of
benchmarks/base_against_base.jsonl: twenty of them take hours, and are not always made in one go.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from harness.kafka.distribution import distribution_of
from harness.model.runs import Verdict
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
_LEAST_SHIP = 0.9


def main() -> None:
    out, count, busy = Path(sys.argv[1]).absolute(), number(2, 20), number(3, 0)
    suite = ["--suite", sys.argv[4]] if len(sys.argv) > 4 else []
    jar = distribution_of(None, KAFKA, local_toolbox()).raft_jar
    verdicts: Counter[str] = Counter()
    with busy_programs(busy):
        for turn in range(1, count + 1):
            run_dir = out / str(turn)
            if not (run_dir / "verdict.json").exists():
                command = [
                    sys.executable,
                    "-m",
                    "harness",
                    "verify",
                    "--fresh",
                    "--jar",
                    str(jar),
                    "--out",
                    str(run_dir),
                    *suite,
                ]
                began = time.monotonic()
                subprocess.run(command, check=False, capture_output=True)
                note(run_dir, time.monotonic() - began, busy)
            record = RunDirectory(run_dir).verdict.read()
            verdicts[record.verdict] += 1
            print(f"{turn}: {record.verdict} {record.sentence}", flush=True)
    print(", ".join(f"{many} {verdict}" for verdict, many in verdicts.most_common()))
    undecided = not busy and verdicts[Verdict.SHIP] < _LEAST_SHIP * count
    sys.exit(1 if verdicts[Verdict.HOLD] or undecided else 0)


def note(run_dir: Path, seconds: float, busy: int) -> None:
    record = RunDirectory(run_dir).verdict.read()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    row = {
        "on": datetime.now(UTC).isoformat(timespec="minutes"),
        "commit": commit.stdout.strip(),
        "busy_programs": busy,
        "load_at_end": round(os.getloadavg()[1], 1),
        "wall_seconds": round(seconds),
        "scenarios": len(RunDirectory(run_dir).declaration.read().scenarios),
        "verdict": record.verdict,
        "sentence": record.sentence,
    }
    with Path(__file__).with_suffix(".jsonl").open("a", encoding="utf-8") as rows:
        rows.write(json.dumps(row) + "\n")


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
