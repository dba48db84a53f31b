"""The one-line command that asks one cell of the matrix again; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

# Options that this command sets itself, or that would write into the folder of the run that is being read.
_REPLACED = ("--scenario", "--arms", "--suite", "--out")
_COMMANDS = ("verify", "run", "build", "diff", "judge", "report")


def rerun_command(argv: Sequence[str], scenario: str, arm: str) -> str:
    """Return a `harness verify` line with the options of `argv` for one scenario on one arm."""
    words = argv[1:] if argv and argv[0] in _COMMANDS else argv
    kept = _without_replaced(words)
    return shlex.join(["harness", "verify", "--scenario", scenario, "--arms", arm, *kept])


def _without_replaced(words: Sequence[str]) -> Iterator[str]:
    skip_value = False
    for word in words:
        if skip_value:
            skip_value = False
        elif word in _REPLACED:
            skip_value = True
        elif word.partition("=")[0] not in _REPLACED:
            yield word
