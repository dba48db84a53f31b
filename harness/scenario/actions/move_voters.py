"""Moving every voter to new ports at once, as an operator does who changes all addresses in one go."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.steps import Fault
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class MoveVoters(Fault):
    """Kill every voter, then start each at new ports; their configurations name the new addresses."""

    description: str = "kill every voter, and start all of them on new ports, configured with the new addresses of all"

    def perform(self, world: World) -> None:
        """Kill them: those that would be stopped last have no majority, and do not end by themselves."""
        voters = world.cluster.topology.voter_ids
        for node in voters:
            world.cluster.nodes[node].kill()
        world.cluster.start_elsewhere(voters)


@fault
def move_voters() -> MoveVoters:
    """Kill every voter and start all of them on new ports, configured with the new addresses of all."""
    return MoveVoters()
