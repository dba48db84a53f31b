"""What notices each wrong jar, kept from one table to the next: seventy jars take longer than a night.

    python benchmarks/detection.py OUT [OUT …]

Puts the rows of tables (`harness mutants --out OUT`, whole or cut short) into benchmarks/detection.jsonl, each in the
place of the mutant's earlier row with the same parts left out and the same scenarios asked, and prints all of them, a
table for each of these.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.base.json import from_json, plain, record_of
from harness.model.detection import Detection, Part
from harness.stages.detection_table import summary, table
from harness.stages.mutants import RESULTS

KEPT = Path(__file__).with_suffix(".jsonl")
Key = tuple[str, str, tuple[Part, ...], tuple[str, ...]]  # a series and stock may have mutants of one name


def main() -> None:
    kept = {key_of(record_of(Detection, row["detection"])): row for row in rows()}
    made = {"on": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit()}
    for out in map(Path, sys.argv[1:]):
        for found in from_json(tuple[Detection, ...], (out / RESULTS).read_text(encoding="utf-8")):
            kept[key_of(found)] = made | {"detection": plain(found)}
    ordered = [kept[key] for key in sorted(kept)]
    KEPT.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ordered), encoding="utf-8")
    detections = [record_of(Detection, row["detection"]) for row in ordered]
    for parts, asked in sorted({(each.without, each.asked) for each in detections}):
        show(parts, asked, [each for each in detections if (each.without, each.asked) == (parts, asked)])


def show(parts: Sequence[Part], asked: Sequence[str], found: Sequence[Detection]) -> None:
    print(" ".join([f"Without {' and '.join(parts)}" if parts else "With everything", *asked]) + ":\n")
    print(table(found))
    within_reach = [each for each in found if not each.excuse]
    print(f"Of those that can be noticed: {summary(within_reach)}\n")


def key_of(found: Detection) -> Key:
    return found.name, found.does, found.without, found.asked


def rows() -> Sequence[dict[str, object]]:
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()] if KEPT.exists() else []


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
