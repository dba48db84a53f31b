"""What a whole verification costs: wall seconds per stage, CPU seconds, peak memory of everything it started.

python benchmarks/verify.py [--again] [OPTIONS OF harness verify]

All of it is done afresh; with --again it is a second verification of the same that is measured, after a first that is
not. Each measurement becomes a line of benchmarks/history.jsonl, so that the next can be held against it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil


def main() -> None:
    again, words = "--again" in sys.argv[1:], [word for word in sys.argv[1:] if word != "--again"]
    verify = [sys.executable, "-c", "from harness.cli import main; main()", "verify"]
    with tempfile.TemporaryDirectory() as folder:
        if again:
            subprocess.run([*verify, "--fresh", "--out", str(Path(folder) / "first"), *words], check=False)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = Path(folder) / "run"
        began = time.monotonic()
        with subprocess.Popen([*verify, *([] if again else ["--fresh"]), "--out", str(out), *words]) as process:
            peak = Peak(process.pid)
            code = process.wait()
        peak.stop()
        wall = time.monotonic() - began
        verdict = json.loads((out / "verdict.json").read_text())
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    measured = {
        "on": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "options": sys.argv[1:],
        "exit": code,
        "verdict": verdict["verdict"],
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(own.ru_utime + own.ru_stime - before.ru_utime - before.ru_stime, 1),
        "peak_gib": round(peak.bytes / 2**30, 2),
        "stages": {stage: [wall, verdict["cpu_seconds"].get(stage)] for stage, wall in verdict["timings"].items()},
    }
    with (Path(__file__).parent / "history.jsonl").open("a", encoding="utf-8") as history:
        history.write(json.dumps(measured) + "\n")
    print(json.dumps(measured, indent=1))


class Peak:
    """Samples the memory of a process and all below it, twice a second."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(0.5):
            self.bytes = max(self.bytes, sum(map(_pss, _tree(self._pid))))


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


if __name__ == "__main__":
    main()
