"""Which faults a seed stands for, and when each begins and ends; pure.

Faults of processes follow one another, and so do faults of links: two of a kind would undo each other. One of each
goes on side by side, as chance has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

LASTS_SECONDS = 25.0
_GAP, _FAULT = (0.5, 4.0), (1.0, 7.0)


class Disturbance(StrEnum):
    """What is done to a node; the names are journaled in plans and stay as they are."""

    KILL = "kill"
    STOP = "stop"
    HOLD = "hold"
    ISOLATE = "isolate"
    DEAFEN = "deafen"  # it hears nobody, and is heard
    MUTE = "mute"  # it hears all, and is not heard
    SLOW = "slow"
    LOSSY = "lossy"
    NO_CLIENTS = "no clients"

    @property
    def is_of_process(self) -> bool:
        """Whether it ends, stops or holds the node's process."""
        return self in _OF_PROCESSES


_OF_PROCESSES = (Disturbance.KILL, Disturbance.STOP, Disturbance.HOLD)
_OF_LINKS = tuple(each for each in Disturbance if each not in _OF_PROCESSES)


@dataclass(frozen=True, slots=True)
class Disruption:
    """One fault of a schedule: its number in there from 1, whom it hits, and its times in seconds."""

    number: int
    kind: Disturbance
    node: int
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Turn:
    """A moment of a schedule: a fault begins, or ends."""

    at: float
    disruption: Disruption
    begins: bool


def schedule(seed: int, nodes: Sequence[int]) -> tuple[Disruption, ...]:
    """Return the faults that a seed stands for, by their beginning; the same for ever."""
    chance = Random(f"{seed} on {len(nodes)}")  # noqa: S311 - to be had again from the seed
    drawn = [*_lane(chance, _OF_PROCESSES, nodes), *_lane(chance, _OF_LINKS, nodes)]
    ordered = sorted(drawn, key=lambda each: each[2])
    return tuple(Disruption(number, *each) for number, each in enumerate(ordered, 1))


def _lane(
    chance: Random, kinds: Sequence[Disturbance], nodes: Sequence[int]
) -> Iterator[tuple[Disturbance, int, float, float]]:
    ends = 0.0
    while True:
        begins = round(ends + chance.uniform(*_GAP), 1)
        ends = round(begins + chance.uniform(*_FAULT), 1)
        if ends > LASTS_SECONDS:
            return
        yield chance.choice(kinds), chance.choice(nodes), begins, ends


def only(disruptions: Iterable[Disruption], numbers: Collection[int]) -> tuple[Disruption, ...]:
    """Return those with these numbers, at the times that they have among all."""
    return tuple(each for each in disruptions if each.number in numbers)


def turns(disruptions: Iterable[Disruption]) -> list[Turn]:
    """Return every beginning and end in the order of their times; of one moment, ends come first."""
    found = [Turn(at, each, begins) for each in disruptions for at, begins in ((each.begins, True), (each.ends, False))]
    return sorted(found, key=lambda turn: (turn.at, turn.begins, turn.disruption.number))
