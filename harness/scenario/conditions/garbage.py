"""What controllers make of bytes that are no requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.garbage import GARBAGE, reply
from harness.scenario.conditions.quorum_answers import Answers, asked_once
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class GarbageIsRefused:
    """Every controller closes the connection on which garbage comes, and answers nothing (SocketServer, Selector)."""

    name: ClassVar[str] = "garbage_is_refused"
    description: str = "every controller closes a connection on which garbage comes"

    def sample(self, world: World) -> Sample:
        """Send each kind to each running controller once, on a connection of its own."""
        return asked_once(world, lambda _: _replies(world))


def _replies(world: World) -> Answers:
    return (
        (f"{what}, to controller {node}", (reply(address, sent), "closed"))
        for node, address in world.cluster.controllers.items()
        if world.cluster.nodes[node].is_running
        for what, sent in GARBAGE.items()
    )


@condition
def garbage_is_refused() -> GarbageIsRefused:
    """Every controller closes a connection on which garbage comes: noise, cut-off requests, frames of wrong lengths."""
    return GarbageIsRefused()
