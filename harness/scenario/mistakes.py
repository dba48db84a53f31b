"""What is wrong in a scenario file that somebody wrote, with its line."""

from __future__ import annotations

import re
import traceback

from harness.base.errors import HarnessError, unknown
from harness.scenario.verbs import verbs

_NO_VERB = re.compile(r"cannot import name '(\w+)' from 'harness\.scenario'")


def mistake(what: str, error: BaseException, file: str) -> HarnessError:
    """Return an error that says what went wrong and where: `what` is a sentence without its end."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f"line {lines[-1]}: " if lines else ""
    return HarnessError(f"{what}: {where}{_sentence(error)}", "See docs/scenarios.md for how a scenario is written.")


def _sentence(error: BaseException) -> str:
    if found := _NO_VERB.match(str(error)):
        return unknown("verb", found[1], verbs())
    return f"{type(error).__name__}: {error}."
