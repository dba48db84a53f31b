"""What the threads of a hung JVM do: the dump that HotSpot writes to its output on SIGQUIT, kept as a file."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from harness.base.files import write_bytes

DUMP_BEGINS, _END = b"Full thread dump", b"JNI global refs"
_WITHIN_SECONDS = 3.0
_LOOK_EVERY_SECONDS = 0.05
_MOST_BYTES = 4 * 2**20


def dump_threads(pid: int, output: Path, into: Path) -> Path | None:
    """Ask a JVM for its threads and copy them out of its `output`, to which it appends, `into` a file.

    None when it did not answer: a process that is stopped, or that is no JVM yet (which SIGQUIT ends).
    """
    before = output.stat().st_size
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGQUIT)
    deadline = time.monotonic() + _WITHIN_SECONDS
    while _END not in (written := _since(output, before)) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY_SECONDS)
    begin = written.find(DUMP_BEGINS)
    return write_bytes(into, written[begin:]) if begin >= 0 else None


def _since(output: Path, position: int) -> bytes:
    with output.open("rb") as stream:
        stream.seek(position)
        return stream.read(_MOST_BYTES)
