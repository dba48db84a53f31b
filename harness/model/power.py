"""The smallest defects that a suite was seen to notice: the content of builds/power; frozen records, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Positive, Text
from harness.model.setup import Profile

SCHEMA = 1
COSTS = "costs"  # the stage that holds figures against base's


@dataclass(frozen=True, slots=True)
class Noticed:
    """The smallest defect of a kind that was noticed in each of `times` verifications, and where.

    `defect` names it with its size (“a stall of 0.8 s”), `missed` the largest smaller one that was not noticed, empty
    where none was asked. `scenario` is empty where what noticed it is not about one.
    """

    kind: Text
    defect: Text
    stage: Text
    scenario: str = ""
    missed: str = ""
    times: Positive = 1


@dataclass(frozen=True, slots=True)
class Power:
    """What one suite notices, and how that was found: the Kafka version, the JVM profile, the rules by their digests.

    `unnoticed` names the largest defect of each kind that was asked and never noticed.
    """

    schema: int
    kafka_version: str
    suite: str
    profile: Profile
    scenarios: tuple[str, ...]
    measured_at: str
    making: str
    judging: str
    noticed: tuple[Noticed, ...] = ()
    unnoticed: tuple[str, ...] = ()
