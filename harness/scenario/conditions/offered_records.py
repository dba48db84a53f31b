"""What a broker made of the records that it was offered last."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Took:
    """It took all of them."""

    name: ClassVar[str] = "took"
    topic: str
    records: int

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"all {self.records} records that were offered for “{self.topic}” were acknowledged"

    def sample(self, world: World) -> Sample:
        """Compare with what was remembered."""
        found = world.offered.get(self.topic)
        if found is None:
            return Sample(False, problem="nothing was offered")
        return Sample(found.taken == self.records and not found.refusal, asdict(found), problem=found.words)


@dataclass(frozen=True, slots=True)
class Refused:
    """It took none of them, and answered by one of these errors (org.apache.kafka.common.protocol.Errors)."""

    name: ClassVar[str] = "refused"
    topic: str
    errors: tuple[str, ...]

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"what was offered for “{self.topic}” was refused ({' or '.join(self.errors).upper()})"

    def sample(self, world: World) -> Sample:
        """Compare with what was remembered."""
        found = world.offered.get(self.topic)
        if found is None:
            return Sample(False, problem="nothing was offered")
        return Sample(found.taken == 0 and found.refusal in self.errors, asdict(found), problem=found.words)


@condition
def took(topic: str, records: int) -> Took:
    """All of so many records that a broker was offered last were acknowledged."""
    return Took(topic, records)


@condition
def refused(topic: str, *errors: str) -> Refused:
    """None that a broker was offered last was acknowledged, but answered by one of these errors (in lower case)."""
    return Refused(topic, errors)
