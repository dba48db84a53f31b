"""What a builder is, and how a compiler is run."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from harness.base.processes import bare_environment, run

_TIMEOUT_SECONDS = 600
_MOST_ERRORS = 3
_COMMON = ("-g", "-proc:none", "-nowarn", "-encoding", "UTF-8")
# With the line of code and the caret below it, where the compiler shows them.
_ERROR = re.compile(r"^\S.*?:\d+: error: .*(?:\n.*\n[ \t]*\^+$)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Compilation:
    """How a compiler ended, the command that was run, and everything it wrote."""

    succeeded: bool
    command: tuple[str, ...]
    output: str


class Builder(Protocol):
    """Compiles sources to class files."""

    @property
    def label(self) -> str:
        """Name and version, as in `model.Build.builder`: `javac 17.0.15`."""

    @property
    def note(self) -> str:
        """What a reader of the report must know of jars built this way; empty when nothing."""

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile `sources`, paths relative to `root`, for the Java release `target`, into the folder `out`.

        A compile error is no exception.
        """


def first_errors(output: str) -> str:
    """Return the first errors in a compiler's output, with code and caret; all of a short output that names none."""
    errors = [found.group() for found in islice(_ERROR.finditer(output), _MOST_ERRORS)]
    return "\n".join(errors) or output.strip()[-500:]


def run_compiler(
    compiler: Sequence[str], root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path
) -> Compilation:
    """Run a compiler, given with the options of its own, on sources of `root`; one that never ends has failed."""
    out.mkdir(parents=True, exist_ok=True)
    # An empty class path would mean the current folder.
    jars = os.pathsep.join(str(jar.absolute()) for jar in class_path) or str(out)
    command = (*compiler, *_COMMON, "-cp", jars, "-d", str(out.absolute()), *sources)
    try:
        done = run(command, cwd=root, env=bare_environment(), timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return Compilation(False, command, f"The compiler did not end within {_TIMEOUT_SECONDS} s.")
    return Compilation(done.returncode == 0, command, done.stdout + done.stderr)
