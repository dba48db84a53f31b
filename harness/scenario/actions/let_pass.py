"""Letting time pass: for a fault that must outlast a time-out, and for what is to stay as it is and could change."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.waiting import wait_until
from harness.scenario.bounds import seconds
from harness.scenario.verbs import action
from harness.scenario.world import World


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


@action
def let_pass(time: str) -> LetPass:
    """Let so much time pass: a fault must outlast a time-out, or what is to stay must be given time to change."""
    return LetPass(seconds(time))
