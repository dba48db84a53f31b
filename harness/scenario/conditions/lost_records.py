"""How many acknowledged records are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Lost:
    """So many records were gone when they were last counted: no more, and no fewer where theory says that they must."""

    name: ClassVar[str] = "lost"
    topic: str
    records: int

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.records} acknowledged records of “{self.topic}” are gone"

    def sample(self, world: World) -> Sample:
        """Compare with the last count."""
        lost, written = world.lost.get(self.topic), len(world.account(self.topic).acknowledged)
        return Sample(lost == self.records, {"lost": lost, "written": written}, problem=f"{lost} of {written} are gone")


@dataclass(frozen=True, slots=True)
class SomeLost:
    """Records were gone when they were last counted; how many is a matter of time."""

    name: ClassVar[str] = "some_lost"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"acknowledged records of “{self.topic}” are gone"

    def sample(self, world: World) -> Sample:
        """Look at the last count."""
        lost, written = world.lost.get(self.topic, 0), len(world.account(self.topic).acknowledged)
        return Sample(lost > 0, {"lost": lost, "written": written}, problem="" if lost else "nothing is gone")


@condition
def lost(topic: str, records: int) -> Lost:
    """Exactly so many of the acknowledged records were gone at the last `count_lost`."""
    return Lost(topic, records)


@condition
def some_lost(topic: str) -> SomeLost:
    """At least one of the acknowledged records was gone at the last `count_lost`."""
    return SomeLost(topic)
