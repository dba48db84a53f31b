"""Whether voters ask each other before they stand for election (pre-votes, KIP-996, Kafka 4.0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.protocol import Unreachable, understood
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_VOTE = 52
_WITH_PRE_VOTES = 2  # the first version of Vote that says whether it is a pre-vote


@dataclass(frozen=True, slots=True)
class PreVotes:
    """Voters know pre-votes, or do not."""

    name: ClassVar[str] = "pre_votes"
    are_known: bool

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return "voters ask each other before they stand" if self.are_known else "voters stand without asking first"

    def sample(self, world: World) -> Sample:
        """Ask a controller which versions of Vote it understands."""
        for address in world.cluster.controllers.values():
            try:
                newest = understood(address)[_VOTE][1]
            except Unreachable:
                continue
            return Sample((newest >= _WITH_PRE_VOTES) is self.are_known, {"vote": newest})
        return Sample(False, testable=False)


@condition
def has_pre_votes() -> PreVotes:
    """Voters ask each other before they stand for election (KIP-996)."""
    return PreVotes(True)


@condition
def has_no_pre_votes() -> PreVotes:
    """Voters stand for election without asking first, as before Kafka 4.0."""
    return PreVotes(False)
