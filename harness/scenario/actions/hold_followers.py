"""Taking the leader's majority away: every other voter's process is held, as on hosts that hang."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.refs import current_leader
from harness.scenario.steps import Fault
from harness.scenario.verbs import action, fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class HoldFollowers(Fault):
    """Hold every voter but the leader: none of them answers, and none ends."""

    description: str = "hold every voter but the leader (SIGSTOP)"

    def perform(self, world: World) -> None:
        """Send SIGSTOP; that these nodes do not run is not the host's doing. Raises ActionFailed."""
        leader, host = current_leader().find(world), world.monitor(HostNotStarved)
        for node in world.cluster.voters:
            if node.id != leader and node.pid:
                host.allow(node.id)
                os.kill(node.pid, signal.SIGSTOP)


@dataclass(frozen=True, slots=True)
class ReleaseFollowers:
    """Let every voter go on that was held."""

    description: str = "let every voter go on (SIGCONT)"

    def perform(self, world: World) -> None:
        """Send SIGCONT to all of them: one that was not held takes no notice. Raises ActionFailed."""
        host = world.monitor(HostNotStarved)
        for node in world.cluster.voters:
            if node.pid:
                os.kill(node.pid, signal.SIGCONT)
                host.disallow(node.id)


@fault
def hold_followers() -> HoldFollowers:
    """Hold every voter but the leader (SIGSTOP), which loses its majority so, until `release_followers`."""
    return HoldFollowers()


@action
def release_followers() -> ReleaseFollowers:
    """Let every voter go on that was held."""
    return ReleaseFollowers()
