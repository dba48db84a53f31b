"""How a command in a container ended, and the sentences for an engine that did not do as told; pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.errors import HarnessError

NO_SPACE = "No space left on device"


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """What is known of a command's end: exit code, whether the kernel or the time limit ended it, and its output."""

    exit_code: int
    out_of_memory: bool
    timed_out: bool
    output: str


def refused(why: str) -> HarnessError:
    """Return the sentence for what an engine that answers did not want to do."""
    if NO_SPACE.lower() in why.lower():
        return HarnessError(
            "The container engine has no space left on its disk.", "Free some where it keeps images and containers."
        )
    return HarnessError(
        f"The container engine refuses to run the build: {why[:300]}.",
        "Engine and harness must be on the same machine, or use --builder javac or ecj.",
    )


def engine_lost(address: str) -> HarnessError:
    """Return the sentence for an engine that answered before and does no longer."""
    return HarnessError(
        f"The container engine at {address} stopped in the middle of the build.",
        "Start it again, and the build; a container that it still has is removed then.",
    )
