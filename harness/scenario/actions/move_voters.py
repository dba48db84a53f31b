"""Moving every voter to new ports at once, as an operator does who changes all addresses in one go."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.actions.stop import KILLED
from harness.scenario.steps import Fault
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class MoveVoters(Fault):
    """Stop every voter, then start each at new ports; their configurations name the new addresses."""

    description: str = "stop every voter, and start all of them on new ports, configured with the new addresses of all"

    def perform(self, world: World) -> None:
        """Stop them one after the other: the last ones have no majority any more, and are killed."""
        voters = world.cluster.topology.voter_ids
        for node in voters:
            if not world.cluster.nodes[node].stop():
                world.note(KILLED, node)
        world.cluster.start_elsewhere(voters)


@fault
def move_voters() -> MoveVoters:
    """Stop every voter and start all of them on new ports, configured with the new addresses of all."""
    return MoveVoters()
