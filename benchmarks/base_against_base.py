"""Base against itself, again and again: no verification may be held back, however busy the host is.

    python benchmarks/base_against_base.py OUT [--kafka VERSION] [--count 20] [--suite standard] [--busy 0]

Verifies Apache's release of a version (3.9.1) against itself COUNT times into OUT/<n>, by a suite, beside so many busy
programs, and counts the verdicts; exit 1 with a HOLD among them, or, beside no busy program, with fewer than nine SHIP
of ten. What is there already is not done again. Each verification becomes a line of base_against_base.jsonl, beside
this file, and is counted in the table of docs/other-jars.md: twenty of them take hours, and are not always made in one
go.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pages import markdown, with_block

from harness.base.errors import HarnessError
from harness.model.request import DEFAULT_KAFKA
from harness.model.runs import RunResult, Verdict
from harness.rundir.directory import RunDirectory

ROWS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "other-jars.md"
_LEAST_SHIP = 0.9
_HELD_BACK = "host_held_back_percent"
_HEAD = ("Kafka", "suite", "day", "beside it", "load", "held back", "seconds", "verifications", *map(str, Verdict))


@dataclass(frozen=True)
class Trial:
    """What is verified, beside how many busy programs."""

    kafka: str
    suite: str
    busy: int


def main() -> None:
    asked = parsed(sys.argv[1:])
    trial = Trial(asked.kafka, asked.suite, asked.busy)
    verdicts: Counter[str] = Counter()
    with busy_programs(trial.busy):
        for turn in range(1, asked.count + 1):
            run_dir = asked.out.absolute() / str(turn)
            if not RunDirectory(run_dir).verdict.exists:
                note(verified(run_dir, trial))
            record = RunDirectory(run_dir).verdict.read()
            verdicts[record.verdict] += 1
            print(f"{turn}: {record.verdict} {record.sentence}", flush=True)
    print(", ".join(f"{many} {verdict}" for verdict, many in verdicts.most_common()))
    undecided = not trial.busy and verdicts[Verdict.SHIP] < _LEAST_SHIP * asked.count
    sys.exit(1 if verdicts[Verdict.HOLD] or undecided else 0)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kafka", default=DEFAULT_KAFKA)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--suite", default="standard")
    parser.add_argument("--busy", type=int, default=0)
    return parser.parse_args(words)


def verified(run_dir: Path, trial: Trial) -> dict[str, Any]:
    """Verify once and return the row of it. Raises HarnessError where there is no verdict."""
    began = time.monotonic()
    directory = RunDirectory(run_dir)
    kafkas = ("--base-kafka", trial.kafka, "--kafka", trial.kafka)
    afresh = (*kafkas, "--suite", trial.suite, "--fresh", "--out", str(run_dir))
    options = ("--resume", str(run_dir)) if directory.request.exists else afresh
    done = subprocess.run(
        [sys.executable, "-m", "harness", "verify", *options], check=False, capture_output=True, text=True
    )
    if not directory.verdict.exists:
        raise HarnessError(f"{run_dir} has no verdict: {done.stderr.strip()}")
    record = directory.verdict.read()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    return {
        "on": datetime.now(UTC).isoformat(timespec="minutes"),
        "commit": commit.stdout.strip(),
        "kafka": trial.kafka,
        "suite": trial.suite,
        "busy_programs": trial.busy,
        "load_at_end": round(os.getloadavg()[1], 1),
        "wall_seconds": round(time.monotonic() - began),
        **held_back(directory.results()),
        "scenarios": len(directory.declaration.read().scenarios),
        "verdict": record.verdict,
        "sentence": record.sentence,
    }


def held_back(runs: Iterable[RunResult]) -> dict[str, float]:
    """Return for how much of a verification's runs the host held nodes back, mean and most; nothing where none says."""
    shares = [run.measures[_HELD_BACK] for run in runs if _HELD_BACK in run.measures]
    if not shares:
        return {}
    return {"held_back_mean_percent": round(fmean(shares), 1), "held_back_most_percent": max(shares)}


def note(row: Mapping[str, Any]) -> None:
    """Add a row to those that are kept, and write the page's table anew."""
    with ROWS.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps(row) + "\n")
    PAGE.write_text(with_block(PAGE.read_text("utf-8"), "base against base", table(kept_rows())), encoding="utf-8")


def kept_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the page's table: a row for all verifications of one Kafka by one suite beside as many busy programs on
    one day, since rules change from day to day."""
    alike = defaultdict(list)
    for row in rows:
        alike[Trial(row["kafka"], row["suite"], row["busy_programs"]), row["on"][:10]].append(row)
    return markdown(_HEAD, (_row(*key, alike[key]) for key in sorted(alike, key=_order)))


def _order(key: tuple[Trial, str]) -> tuple[list[int], str, int, str]:
    trial, day = key
    return [int(number) for number in trial.kafka.split(".")], trial.suite, trial.busy, day


def _row(trial: Trial, day: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    loads, verdicts = sorted(row["load_at_end"] for row in rows), Counter(row["verdict"] for row in rows)
    beside = f"{trial.busy} busy programs" if trial.busy else "what else the host does"
    seconds = median(row["wall_seconds"] for row in rows)
    counts = (str(verdicts[each]) for each in Verdict)
    load = f"{loads[0]:g} to {loads[-1]:g}"
    return trial.kafka, trial.suite, day, beside, load, _held_back(rows), f"{seconds:.0f}", str(len(rows)), *counts


def _held_back(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the mean and the most of the rows that say it, and how many those are where others do not."""
    known = [row for row in rows if "held_back_mean_percent" in row]
    if not known:
        return ""
    mean = fmean(row["held_back_mean_percent"] for row in known)
    most = max(row["held_back_most_percent"] for row in known)
    of = f" (of {len(known)})" if len(known) < len(rows) else ""
    return f"{mean:.0f} %, {most:.0f} %{of}"


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
    try:
        main()
    except HarnessError as error:
        sys.exit(str(error))
