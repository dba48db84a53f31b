"""What changes for an operator between two Kafkas: one record a change, the weightiest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SCHEMA = 1
BOOTS = 3  # of each Kafka if nobody says otherwise; with fewer, chance alone may put their costs apart


class Weight(StrEnum):
    """What a change does to what an operator has: files, alerts, scripts, clients."""

    BREAKS = "breaks"  # what refers to it stops working, perhaps silently
    CHANGES = "changes"  # it works, and does something else
    ADDS = "adds"  # nothing that exists is concerned


class Area(StrEnum):
    """What a change is found in; in the order in which the page has them."""

    RUNTIME = "Java and logging"
    PROTOCOL = "protocol and features"
    CONFIGURATION = "configuration"
    COMMANDS = "commands"
    METRICS = "metrics"
    LOGS = "log lines"
    FIGURES = "start, memory and CPU"
    LIBRARIES = "libraries"


@dataclass(frozen=True, slots=True)
class Use:
    """A line of a file of the operator's own that names what changes; lines count from 1."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    `subject` is what files name: a key, a metric, an option, a text. `where` is what it belongs to
    (`server.properties`, `kafka-topics.sh`), `base` and `candidate` what it is in either Kafka, empty where it is not
    there. `means` says in a sentence what an operator notices. `rank` orders changes of one weight and area: the lower,
    the earlier somebody notices. With `by_default` it concerns who does not name the subject. `other_names` are what
    files may name an option by instead, or the attribute of a metric that changes.
    """

    area: Area
    weight: Weight
    subject: str
    where: str
    base: str
    candidate: str
    means: str
    rank: int = 0
    by_default: bool = False
    used: tuple[Use, ...] = ()
    other_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """What boots of either Kafka cost, a value a boot; less is better.

    `apart` when all boots of one lie apart from all of the other by more than a fifth.
    """

    name: str
    unit: str
    base: tuple[float, ...]
    candidate: tuple[float, ...]
    apart: bool


@dataclass(frozen=True, slots=True)
class OperatorChanges:
    """Everything that changes; `compared` says how many things of an area either Kafka has.

    `files` are the operator's own that were searched, `gaps` what could not be compared, each a sentence. `booted_on`
    is the day (UTC) on which nodes of both were started for it.
    """

    schema: int
    base: str
    candidate: str
    base_digest: str
    candidate_digest: str
    changes: tuple[Change, ...]
    figures: tuple[Figure, ...] = ()
    compared: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    booted_on: str = ""

    def of(self, weight: Weight) -> tuple[Change, ...]:
        """Return the changes of one weight, in their order."""
        return tuple(change for change in self.changes if change.weight is weight)
