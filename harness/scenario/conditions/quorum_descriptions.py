"""How nodes describe the quorum (DescribeQuorum), held against how the cluster is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from kio.schema.errors import ErrorCode

from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable
from harness.cluster.quorum_description import NEVER, Description, describe, describe_in
from harness.model.told import REFUSALS, in_words
from harness.scenario.conditions.quorum_answers import compared, in_versions
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_NOBODY_LEADS_HERE = f"{ErrorCode.not_leader_or_follower.name} []"
# A no-op comes every half second, and a replica has caught up when it asks for the next one.
_LATE_SECONDS = 10.0
_BEHIND_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class QuorumIsDescribed:
    """The leader and every broker describe the quorum as it is, and every other controller says that it does not lead.

    Brokers hand DescribeQuorum on to the leader; a controller that does not lead answers NOT_LEADER_OR_FOLLOWER
    (KIP-595, KafkaRaftClient.handleDescribeQuorumRequest). All voters are named, at the addresses where they listen
    (KIP-853; those of static voters stand in the configuration), every running node that is no voter observes, no
    replica is beyond the leader, and each has caught up lately, in each version of the question that a node understands
    as far as that says so. One that has ended may be named for five minutes more.
    A broker learns of the leader by itself, so that its answer may be wrong for a moment.
    """

    name: ClassVar[str] = "quorum_is_described"
    description: str = "the leader and every broker describe the quorum, and every follower says that it does not lead"

    def sample(self, world: World) -> Sample:
        """Ask every node once."""
        leader = world.quorum().leader
        try:
            seen = dict(_descriptions(world, leader))
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)})
        return compared(seen, leader)


def _descriptions(world: World, leader: int) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield who was asked, with what was answered and what is right."""
    cluster = world.cluster
    voters = sorted(cluster.topology.voter_ids)
    everybody = _named(ErrorCode.none.name, voters, sorted({node.id for node in cluster.running} - {*voters}))
    for node, address in cluster.controllers.items():
        if not cluster.nodes[node].is_running:
            continue
        for asked, said in _said(world, f"controller {node}", address):
            if node != leader and said.answer.message:
                world.tell(REFUSALS, "DescribeQuorum at a follower", in_words(said.answer.message))
            yield asked, (_words(said, world), everybody if node == leader else _NOBODY_LEADS_HERE)
    for node, address in cluster.brokers.items():
        for asked, said in _said(world, f"broker {node}", address):
            yield asked, (_words(said, world), everybody)


def _said(world: World, who: str, address: Address) -> Iterator[tuple[str, Description]]:
    """Yield what a node answers in each version that it understands: clients of earlier releases send older ones."""
    for asked, of in in_versions(who, world.cluster.wire.versions("describe_quorum", address)):
        try:
            said = describe_in(of, address)
        except Unreachable as error:  # a node that cannot write an answer hangs up
            raise Unreachable(f"{asked}: {error}") from error
        yield asked, said


def _named(code: str, voters: list[int], observers: list[int]) -> str:
    return f"{code} {voters} observed by {observers}"


def _words(said: Description, world: World) -> str:
    """Return a description in words: who votes and observes, and behind that whatever in it is not so."""
    if not said.answer.is_done:
        return f"{said.answer.code} {sorted(said.voters)}"
    ended = {node.id for node in world.cluster.nodes.values() if not node.is_running}
    observers = said.observers - said.voters - ended
    wrong = (*_elsewhere(said, world), *_late(said, said.voters | observers), *_beyond(said))
    return "; ".join((_named(said.answer.code, sorted(said.voters), sorted(observers)), *wrong))


def _elsewhere(said: Description, world: World) -> Iterator[str]:
    listens = {} if world.cluster.topology.static_voters else world.cluster.endpoints
    for node, at in sorted(said.endpoints.items()):
        if listens.get(node, at) != at:
            yield f"voter {node} at {at}, where it does not listen"
    if said.endpoints:  # of others, so that this version tells them
        for node in sorted((said.voters & listens.keys()) - said.endpoints.keys()):
            yield f"voter {node} at no address"


def _late(said: Description, replicas: frozenset[int]) -> Iterator[str]:
    for node in sorted(replicas & said.behind.keys()):
        if said.behind[node] > _LATE_SECONDS:
            when = "never" if said.behind[node] == NEVER else f"last {said.behind[node]:.0f} s ago"
            yield f"node {node} caught up {when}"


def _beyond(said: Description) -> Iterator[str]:
    end = said.offsets.get(said.leader, -1)
    for node, offset in sorted(said.offsets.items()):
        if offset > end:
            yield f"node {node} is at {offset}, beyond the leader at {end}"
    if said.high_watermark > end:
        yield f"{said.high_watermark} is committed, and the leader is at {end}"


@dataclass(frozen=True, slots=True)
class LagIsDescribed:
    """The leader says of a replica that hangs for how long it has not caught up, and of every other that it has.

    `LastCaughtUpTimestamp` (KIP-836) is what tools and gates tell a replica by that lags.
    """

    name: ClassVar[str] = "lag_is_described"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the leader says that {self.node.description} has fallen behind, and nobody else"

    def sample(self, world: World) -> Sample:
        """Ask the leader once."""
        node, leader = self.node.find(world), world.quorum().leader
        address = world.cluster.controllers.get(leader)
        if address is None:
            return Sample(False, {"leader": leader}, testable=False)
        try:
            said = describe(world.cluster.wire, address)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        running = {each.id for each in world.cluster.running}
        behind = {each: seconds for each, seconds in said.behind.items() if each in running}
        others = max((seconds for each, seconds in behind.items() if each != node), default=NEVER)
        detail = {"leader": leader, "seconds_behind": {str(each): str(seconds) for each, seconds in behind.items()}}
        return Sample(behind.get(node, 0.0) >= _BEHIND_SECONDS > others, detail)


@condition
def quorum_is_described() -> QuorumIsDescribed:
    """The leader and every broker describe the quorum as it is; every other controller says that it does not lead."""
    return QuorumIsDescribed()


@condition
def lag_is_described(node: NodeRef) -> LagIsDescribed:
    """The leader says of a replica that hangs, and of no other, that it has not caught up for a while."""
    return LagIsDescribed(node)
