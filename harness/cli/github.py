"""In a job of GitHub Actions: annotations and the job's summary, of what a command has found. Elsewhere nothing.

Whatever else is printed may quote hostile text. GitHub is told to take no line of it for a command, until the end.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from harness.report.github import MOST_BYTES, Annotation, fitting, workflow_command

_SETTLE_SECONDS = 0.5  # GitHub reads both streams side by side: what was printed is to be read before the end is
_found: list[Annotation] = []


def in_job() -> bool:
    """Whether this process runs in a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def announce(annotations: Iterable[Annotation], summary: Path | None = None) -> None:
    """Have annotations shown when the command ends, and the file `summary` on the job's page."""
    if in_job():
        _found.extend(annotations)
        if summary:
            _append(summary)


@contextmanager
def guarded() -> Iterator[None]:
    """Print what was announced when the command ends; in between no line is taken for a command."""
    if not in_job():
        yield
        return
    token = secrets.token_hex(16)
    _found.clear()
    _print(f"::stop-commands::{token}")
    try:
        yield
    finally:
        sys.stdout.flush()
        time.sleep(_SETTLE_SECONDS)
        _print(f"::{token}::")
        for annotation in _found:
            _print(workflow_command(_from_here(annotation)))


def _print(line: str) -> None:
    """Print on stderr, which GitHub reads too: what is on stdout may be a record that somebody pipes on."""
    print(f"\n{line}", file=sys.stderr, flush=True)


def _from_here(annotation: Annotation) -> Annotation:
    """Return an annotation with its file as GitHub knows it: by its path in the workspace, else none."""
    if not annotation.file:
        return annotation
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    file = Path(annotation.file).resolve()
    if file.is_relative_to(workspace):
        return replace(annotation, file=file.relative_to(workspace).as_posix())
    return replace(annotation, file="", line=0)


def _append(summary: Path) -> None:
    """Append a summary to the job's, as much as there is room for; a summary is no reason to fail."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    with suppress(OSError), Path(place).open("ab") as stream:
        text = fitting(summary.read_text(encoding="utf-8", errors="replace"), MOST_BYTES - stream.tell())
        stream.write(text.encode())
