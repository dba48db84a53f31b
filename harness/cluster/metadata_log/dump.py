"""Evidence from a metadata log: the batches around an offset, cut out, and decoded by Kafka's own DumpLogSegments."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.processes import bare_environment, run
from harness.cluster.metadata_log.batches import bounds
from harness.cluster.metadata_log.files import segments_among

_AROUND = 10
_MOST_BYTES = 64 * 2**20
_TIMEOUT_SECONDS = 60


def cut_out(folder: Path, offset: int, into: Path) -> Path | None:
    """Copy the batches around an offset out of a metadata log, as a segment by itself; None where there are none.

    They are taken as they are, damaged or not. A segment too large to be looked at in memory is not looked at.
    """
    segments = segments_among(path.name for path in folder.iterdir())
    below = [base for base in segments if base <= offset]
    if not below or (segment := folder / segments[max(below)]).stat().st_size > _MOST_BYTES:
        return None
    data = segment.read_bytes()
    known = bounds(data)
    if not known:
        return None
    at = max((place for place, (base, *_) in enumerate(known) if base <= offset), default=0)
    first, last = known[max(at - _AROUND, 0)], known[min(at + _AROUND, len(known) - 1)]
    return write_bytes(into / f"{first[0]:020d}.log", data[first[1] : last[2]])


def dump_log(java: Path, class_path: Sequence[Path], tool: str, segments: Sequence[Path], folder: Path) -> str:
    """Return what the tool (a main class) prints of segments, named by their paths below a folder.

    Raises HarnessError where the release line names no tool, or it did not print anything in time.
    """
    if not tool:
        raise HarnessError("The release line names no tool that prints a log (main_classes.dump).")
    names = ",".join(segment.relative_to(folder).as_posix() for segment in segments)
    command = [
        *(str(java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", os.pathsep.join(map(str, class_path))),
        *(tool, "--cluster-metadata-decoder", "--files", names),
    ]
    try:
        done = run(command, cwd=folder, env=bare_environment(), timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{tool} did not end within {_TIMEOUT_SECONDS} s.") from error
    if not done.stdout.strip():
        raise HarnessError(f"{tool} printed nothing (exit {done.returncode}): {done.stderr.strip()[-300:]}")
    return done.stdout
