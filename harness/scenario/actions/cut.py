"""Cutting links between hosts, and healing them: nothing comes through, in one direction or in both."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.events import FaultChanged
from harness.scenario.parties import Side, check_way, described, pairs_of
from harness.scenario.steps import Fault
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World

_WAYS = {"both": "from", "out": "on its way to", "in": "on its way from"}


@dataclass(frozen=True, slots=True)
class Cut(Fault):
    """Let nothing through between two sides."""

    one: Side
    other: Side
    way: str
    refuse: bool

    @property
    def description(self) -> str:
        """The action as a clause."""
        answer = "refused" if self.refuse else "dropped"
        return f"cut {described(self.one)} {_WAYS[self.way]} {described(self.other)} (packets are {answer})"

    def perform(self, world: World) -> None:
        """Cut every link at once, and prove that nothing comes through. Raises ActionFailed, HarnessError."""
        pairs = pairs_of(self.one, self.other, self.way, world)
        network = world.network()
        world.write(FaultChanged("cut", self.description, "begun", links=tuple(pairs)))
        seconds = network.cut(pairs, refuse=self.refuse)
        proof = f"no datagram of {len(pairs)} came through"
        world.write(FaultChanged("cut", self.description, "proved", round(seconds, 6), proof))


@dataclass(frozen=True, slots=True)
class Heal:
    """Let everything through again, between two sides or everywhere."""

    between: tuple[Side, Side] | None

    @property
    def description(self) -> str:
        """The action as a clause."""
        if self.between is None:
            return "heal every cut"
        one, other = self.between
        return f"heal the cut between {described(one)} and {described(other)}"

    def perform(self, world: World) -> None:
        """Heal the links, and prove that datagrams come through. Raises ActionFailed, HarnessError."""
        network = world.network()
        pairs = pairs_of(*self.between, "both", world) if self.between else list(network.cuts)
        healed = [pair for pair in pairs if pair in network.cuts]
        if not healed:
            raise ActionFailed("nothing is cut there that could be healed")
        seconds = network.heal(healed)
        proof = f"{len(healed)} of {len(healed)} datagrams came through"
        world.write(FaultChanged("cut", self.description, "ended", round(seconds, 6), proof, links=tuple(healed)))


@fault
def cut(one: Side, other: Side, *, way: str = "both", refuse: bool = False) -> Cut:
    """Let nothing through between two sides: dropped, or answered by ICMP; `way` is both, out (to the other) or in."""
    return Cut(one, other, check_way(way), refuse)


@action
def heal(one: Side | None = None, other: Side | None = None) -> Heal:
    """Let everything through again between two sides, or everywhere, whichever way was cut."""
    if (one is None) is not (other is None):
        raise ValueError("name both sides of a link, or none to heal every cut")
    return Heal((one, other) if one is not None and other is not None else None)
