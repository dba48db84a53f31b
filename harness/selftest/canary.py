"""What a canary is, and how all of them are asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.locks import scratch


class Silent(Exception):  # noqa: N818 - the harness did not see a fault that is there
    """The alarm did not go off, or it went off before anything was wrong; the text says what was seen instead."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A fault made on purpose.

    `sing` makes it in an empty folder and returns what raised the alarm, in words. It raises Silent when nothing
    did, and also when the alarm goes off without the fault: an alarm that always rings tells nothing.
    """

    name: str
    fault: str
    sing: Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a canary: whether the alarm was raised, by what (or what was seen instead), and how quickly."""

    name: str
    fault: str
    raised: bool
    told: str
    seconds: float


def ask_all(canaries: Sequence[Canary], parent: Path) -> Iterator[Heard]:
    """Ask one canary after the other, each in a scratch folder below `parent` that goes away again."""
    for canary in canaries:
        with scratch(parent) as folder:
            yield ask(canary, folder)


def ask(canary: Canary, folder: Path) -> Heard:
    """Make the fault in `folder` and see whether the alarm goes off; a canary that fails is silent."""
    began = time.monotonic()
    try:
        raised, told = True, canary.sing(folder)
    except Silent as silence:
        raised, told = False, str(silence)
    except Exception as error:
        raised, told = False, f"the canary itself failed: {type(error).__name__}: {error}"
    told = told.replace(f"{folder}/", "")
    return Heard(canary.name, canary.fault, raised, told, round(time.monotonic() - began, 1))


def alarm(act: Callable[[], object]) -> str:
    """Return the sentence of the HarnessError that `act` raises. Raises Silent when it raises none."""
    try:
        act()
    except HarnessError as error:
        return error.message
    raise Silent("it was taken as it is")


def require(seen: bool, otherwise: str) -> None:
    """Raise Silent, with what was seen otherwise, unless the condition is met."""
    if not seen:
        raise Silent(otherwise)
