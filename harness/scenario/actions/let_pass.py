"""Letting time pass: for a fault that must outlast a time-out, for what is to stay as it is, and for a schedule."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.base.waiting import wait_until
from harness.scenario.bounds import seconds
from harness.scenario.verbs import action
from harness.scenario.world import World

_LATE_SECONDS = 0.1
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class LetPass:
    """Do nothing for a while."""

    seconds: float

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let {self.seconds:g} s pass"

    def perform(self, world: World) -> None:
        """Wait; a run that is cancelled waits no more."""
        wait_until(world.is_over, self.seconds)


@dataclass(frozen=True, slots=True)
class AwaitTime:
    """Do nothing until the phase is so many seconds old, whatever was done in it before."""

    seconds: float

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"wait until {self.seconds:g} s of the phase have passed"

    def perform(self, world: World) -> None:
        """Wait, or note how late it is already; a run that is cancelled waits no more."""
        left = world.phase_began + self.seconds - time.monotonic()
        if left < -_LATE_SECONDS:
            world.note(f"{-left:.1f} s late: what was done before took longer")
        wait_until(world.is_over, max(left, 0.0), _POLL_SECONDS)


@action
def let_pass(time: str) -> LetPass:
    """Let so much time pass: a fault must outlast a time-out, or what is to stay must be given time to change."""
    return LetPass(seconds(time))


@action
def await_time(since_phase: str) -> AwaitTime:
    """Wait until the phase is so old: steps of a schedule have their times, however long others take."""
    return AwaitTime(seconds(since_phase))
