"""Taking the leader's majority away: every other voter's process is held, as on hosts that hang."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.holding import hold_node, release_nodes
from harness.scenario.refs import current_leader
from harness.scenario.steps import Fault, Rejoin
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World


@dataclass(frozen=True, slots=True)
class HoldFollowers(Fault):
    """Hold every voter but the leader: none of them answers, and none ends."""

    description: str = "hold every voter but the leader (SIGSTOP)"

    def perform(self, world: World) -> None:
        """Hold each, and see that it stands still. Raises ActionFailed."""
        leader = current_leader().find(world)
        followers = [node.id for node in world.cluster.voters if node.id != leader and node.pid]
        if not followers:
            raise ActionFailed(f"no voter runs but node {leader}, which leads: nobody could be held")
        for node in followers:
            hold_node(node, world, self.description)


@dataclass(frozen=True, slots=True)
class ReleaseFollowers(Rejoin):
    """Let every voter go on that was held."""

    description: str = "let every voter go on (SIGCONT)"

    def perform(self, world: World) -> None:
        """Send SIGCONT to all of them: one that was not held takes no notice. Raises ActionFailed."""
        release_nodes([node.id for node in world.cluster.voters if node.pid], world, self.description)


@fault
def hold_followers() -> HoldFollowers:
    """Hold every voter but the leader (SIGSTOP), which loses its majority so, until `release_followers`."""
    return HoldFollowers()


@action
def release_followers() -> ReleaseFollowers:
    """Let every voter go on that was held."""
    return ReleaseFollowers()
