"""The journal of one run: what happened, one JSON object a line, flushed as it happens (docs/run-directory.md)."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any


class Journal:
    """Append-only; may be written by several threads of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._lines = 0

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        with self._lock:
            self._stream.close()

    def write(self, event: str, **fields: Any) -> int:
        """Append an event; return its line number, which is what evidence points at."""
        with self._lock:
            if self._stream.closed:  # a thread that was late
                return self._lines
            self._lines += 1
            line = {
                "seq": self._lines,
                "t": round(time.monotonic() - self._began, 3),
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "event": event,
                **fields,
            }
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._stream.flush()
            return self._lines
