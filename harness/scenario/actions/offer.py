"""Records offered to one broker of the plan's choice: an old leader is asked as well as the one that others know."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.producing import ACKS, offer_record
from harness.cluster.protocol import Unreachable
from harness.scenario.accounts import Offered
from harness.scenario.bounds import seconds
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import World

_TAKEN = "none"
UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer so many numbered records to one broker, one by one, until it refuses."""

    topic: str
    node: NodeRef
    records: int
    acks: str
    patience_seconds: float

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"offer {self.records} records for “{self.topic}” to {self.node.description} alone, acks={self.acks}"

    def perform(self, world: World) -> None:
        """Remember what it took, and what it answered to the first that it did not take."""
        node = self.node.find(world)
        taken, refusal = world.as_client(lambda: self._offer(world, node))
        offered = world.offered[self.topic] = Offered(node, taken, refusal)
        world.note(f"of {self.records} records for “{self.topic}” with acks={self.acks}, {offered.words}", node)

    def _offer(self, world: World, node: int) -> tuple[int, str]:
        account, address = world.account(self.topic), world.cluster.brokers.get(node)
        for taken in range(self.records):
            (number,) = account.numbers(1)
            if address is None:
                return taken, UNREACHABLE
            key = str(number).encode()
            try:
                answer = offer_record(world.cluster.wire, address, self.topic, key, self.acks, self.patience_seconds)
            except Unreachable:
                answer = UNREACHABLE
            if answer != _TAKEN:
                return taken, answer
            account.acknowledge({number})
        return self.records, ""


@action
def offer(topic: str, node: NodeRef, records: int, *, acks: str = "all", patience: str = "1500ms") -> Offer:
    """Offer records to one broker, whoever leads, until it refuses one; those that it takes are counted as written.

    It refuses as well by not answering for as long as `patience`.
    """
    if acks not in ("1", "all"):
        raise ValueError(f'acks="{acks}" is acknowledged by nobody: write {" or ".join(sorted({*ACKS} - {"0"}))}')
    return Offer(topic, node, records, acks, seconds(patience))
