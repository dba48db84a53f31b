"""The lines of a node's log that a piece of evidence is about, where nobody kept them: read from the run directory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from harness.base.tails import beginnings
from harness.model.runs import Evidence

_BEFORE = 120  # lines in which the error is looked for
_MOST = 24
_LINE = 400
_HEADER = re.compile(r"^\[\d{4}-\d\d-\d\d .+?\] (\w+) ")
_ERRORS = ("ERROR", "FATAL")


def with_excerpts(root: Path, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence with what stands there; a file that is gone or outside of the run directory has nothing."""
    return tuple(each if each.excerpt.strip() else replace(each, excerpt=_read(root, each)) for each in evidence)


def _read(root: Path, evidence: Evidence) -> str:
    path = (root / evidence.path).resolve()
    if evidence.line < 1 or not path.is_relative_to(root.resolve()) or path.suffix != ".log" or not path.is_file():
        return ""
    lines = (line.decode(errors="replace") for _, line in islice(beginnings(path), evidence.line))
    return excerpt(lines)


def excerpt(lines: Iterable[str]) -> str:
    """Return the last error with its stack trace in these lines, else their last few; each cut, and not too many."""
    kept = [line.rstrip("\n")[:_LINE] for line in deque(lines, maxlen=_BEFORE)]
    errors = [number for number, line in enumerate(kept) if (found := _HEADER.match(line)) and found[1] in _ERRORS]
    if not errors:
        return "\n".join(kept[-3:])
    begin = errors[-1]
    after = (number for number in range(begin + 1, len(kept)) if _HEADER.match(kept[number]))
    return "\n".join(kept[begin : next(after, len(kept))][:_MOST])
