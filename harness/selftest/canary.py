"""Canaries: faults made on purpose, each of which the harness must notice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.locks import scratch


class NotDetected(Exception):  # noqa: N818 - the harness did not see a fault that is there
    """The alarm did not go off, or it went off before anything was wrong; the text says what was seen instead."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A fault made on purpose.

    `run` makes it in an empty folder and returns the sentence of the alarm. It raises NotDetected when there is none,
    and also when the alarm goes off without the fault: an alarm that always rings shows nothing.
    """

    name: str
    fault: str
    run: Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """What became of a canary: whether the alarm was raised, by what (or what was seen instead), and how quickly."""

    name: str
    fault: str
    raised: bool
    seen: str
    seconds: float


def run_all(canaries: Sequence[Canary], parent: Path) -> Iterator[CanaryResult]:
    """Run one canary after the other, each in a scratch folder below `parent` that goes away again."""
    for canary in canaries:
        with scratch(parent) as folder:
            yield run_canary(canary, folder)


def run_canary(canary: Canary, folder: Path) -> CanaryResult:
    """Make the fault in `folder` and see whether the alarm goes off; a canary that fails counts as not detected."""
    began = time.monotonic()
    try:
        raised, seen = True, canary.run(folder)
    except NotDetected as silence:
        raised, seen = False, str(silence)
    except Exception as error:
        raised, seen = False, f"the canary itself failed: {type(error).__name__}: {error}"
    seen = seen.replace(f"{folder}/", "")
    return CanaryResult(canary.name, canary.fault, raised, seen, round(time.monotonic() - began, 1))


def alarm(act: Callable[[], object]) -> str:
    """Return the sentence of the HarnessError that `act` raises. Raises NotDetected when it raises none."""
    try:
        act()
    except HarnessError as error:
        return error.message
    raise NotDetected("it was taken as it is")


def require(seen: bool, otherwise: str) -> None:
    """Raise NotDetected, with what was seen otherwise, unless the condition is met."""
    if not seen:
        raise NotDetected(otherwise)
