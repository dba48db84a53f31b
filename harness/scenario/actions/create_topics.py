"""Creating many topics: metadata by the thousand records."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

# A thousand in one request take a controller longer than its clients wait.
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class CreateTopics:
    """Create so many topics of one partition, spread over the brokers that run."""

    prefix: str
    count: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"create {self.count} topics, “{self.prefix}-0” to “{self.prefix}-{self.count - 1}”"

    def perform(self, world: World) -> None:
        """Ask until they are there. Raises ActionFailed."""
        brokers = sorted(world.cluster.brokers)
        if not brokers:
            raise ActionFailed("no broker runs")
        for first in range(0, self.count, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, self.count))
            topics = {f"{self.prefix}-{number}": [(brokers[number % len(brokers)],)] for number in numbers}
            world.create_topics(topics, {})


@action
def create_topics(prefix: str, count: int) -> CreateTopics:
    """Create so many topics of one partition: `prefix-0` and so on."""
    return CreateTopics(prefix, count)
