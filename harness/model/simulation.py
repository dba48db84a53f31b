"""What simulations of a quorum showed of a jar: many seeds, each a run of virtual time in one JVM."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Count, Seconds, Text


@dataclass(frozen=True, slots=True)
class SimulatedProperty:
    """One property (`org.….RaftEventSimulationTest#canElectInitialLeader`): with how many seeds it ran and failed.

    `base_seeds` and `base_failed` are the same of base, which ran beside.
    """

    name: Text
    seeds: Count
    failed: Count
    base_seeds: Count
    base_failed: Count


@dataclass(frozen=True, slots=True)
class FailedSeed:
    """A seed with which a property fails on the candidate, and how it ended when it was replayed with the logs on.

    `name` is the property's; `arguments` are what the seed drew (`[-1146, 5, 2]`). `fails_again` is of the candidate,
    `fails_on_base` of base, None where base's JVM ended without an answer. `log` is the end of the candidate's log, a
    path in the run directory.
    """

    name: Text
    seed: Count
    arguments: str
    message: str
    trace: str
    fails_again: bool
    fails_on_base: bool | None
    log: str = ""

    @property
    def label(self) -> str:
        """The property without its package: `RaftEventSimulationTest#canElectInitialLeader`."""
        return self.name.rpartition(".")[2]

    @property
    def behaviour(self) -> str:
        """What fails, in a sentence without its end."""
        return f"simulation {self.label} fails with seed {self.seed} {self.arguments}: {self.message}"

    @property
    def blocks(self) -> bool:
        """Whether it speaks against the candidate: a seed that base fails too, or that fails by chance, does not."""
        return self.fails_again and not self.fails_on_base


@dataclass(frozen=True, slots=True)
class Simulation:
    """What all simulations showed; `asked` is the time that they were given (`10m`), `seconds` what they took.

    `failed` are the first failing seeds of properties that base holds with every seed; what base fails too is only
    counted. `gap` says in a sentence why nothing could be simulated, `left_out` what this Kafka cannot be asked.
    """

    asked: Text
    properties: tuple[SimulatedProperty, ...] = ()
    failed: tuple[FailedSeed, ...] = ()
    gap: str = ""
    left_out: str = ""
    seconds: Seconds = 0.0

    @property
    def runs(self) -> int:
        """How many simulations were run on the candidate."""
        return sum(each.seeds for each in self.properties)

    @property
    def blockers(self) -> tuple[str, ...]:
        """What speaks against the candidate: a sentence for each property, with how many of its seeds fail."""
        first = {each.name: each for each in reversed(self.failed) if each.blocks}
        return tuple(_blocker(first[each.name], each.failed) for each in self.properties if each.name in first)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What keeps the simulations from a clear answer: none ran, or a seed failed and did not fail again."""
        by_chance = [each for each in self.failed if not each.fails_again and not each.fails_on_base]
        return (
            *([self.gap] if self.gap else []),
            *(f"{each.behaviour}; it passed when it was replayed." for each in by_chance),
        )


def _blocker(first: FailedSeed, count: int) -> str:
    more = f" ({count} of its seeds fail)" if count > 1 else ""
    base = "base passes it" if first.fails_on_base is False else "whether base passes it is not known"
    return f"{first.behaviour}; {base}{more}"
