"""Creating a topic."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create a topic of one partition through a voter, and on it."""

    name: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"create the topic “{self.name}” through a voter"

    def perform(self, world: World) -> None:
        """Ask until it is there. Raises ActionFailed."""
        voter = next((node for node in world.cluster.voters if node.is_running), None)
        if voter is None:
            raise ActionFailed("no voter runs")
        world.create_topic(self.name, [(voter.id,)], {})


@action
def create_topic(name: str) -> CreateTopic:
    """Create a topic of one partition through a voter, on that voter."""
    return CreateTopic(name)
