"""Whether any voter may stop without the quorum losing its majority of caught-up voters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class VotersCaughtUp:
    """Every running voter has caught up with the leader (`Quorum.has_caught_up`): one of them may stop."""

    name: ClassVar[str] = "voters_caught_up"
    description: str = "every running voter has caught up"

    def sample(self, world: World) -> Sample:
        """Compare log end offsets in the newest answer."""
        quorum = world.quorum()
        running = [node.id for node in world.cluster.voters if node.is_running and node.id in quorum.voters]
        behind = {str(voter): quorum.lag(voter) for voter in running if not quorum.has_caught_up(voter)}
        return Sample(quorum.leader >= 0 and not behind, {"leader": quorum.leader, "behind": behind})


@condition
def voters_caught_up() -> VotersCaughtUp:
    """Every running voter has caught up with the leader."""
    return VotersCaughtUp()
