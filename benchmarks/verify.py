"""What a whole verification costs: wall seconds per stage, CPU seconds, peak memory of everything it started.

python benchmarks/verify.py [OPTIONS OF harness verify]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = time.monotonic()
        command = [sys.executable, "-c", "from harness.cli import main; main()", "verify", "--out", str(out)]
        with subprocess.Popen([*command, *sys.argv[1:]]) as process:
            peak = Peak(process.pid)
            code = process.wait()
        peak.stop()
        wall = time.monotonic() - began
        verdict = json.loads((out / "verdict.json").read_text())
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        nodes = sum(run["measures"]["node_cpu_seconds"] for run in verdict["runs"])
    print(json.dumps({"exit": code, "verdict": verdict["verdict"], "stages": verdict["timings"]}))
    print(
        f"wall {wall:.0f} s; CPU: nodes {nodes:.0f} s, harness, compiler and Spark {own.ru_utime + own.ru_stime:.0f} s"
    )
    print(f"peak memory (proportional set size of all processes): {peak.bytes / 2**30:.2f} GiB")


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
