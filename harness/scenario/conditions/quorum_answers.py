"""What controllers and brokers answer to questions about the quorum, and to changes of it that must be refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kio.schema.errors import ErrorCode

from harness.cluster.formatting import kafka_uuid, new_uuid
from harness.cluster.probes import Quorum, update_voter
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer, add_voter, describe, remove_voter
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_DONE = ErrorCode.none.name
_NOBODY = 4711  # a node id that no node has

Answers = Iterable[tuple[str, tuple[str, str]]]  # what was asked, with what was answered and what is right


@dataclass(frozen=True, slots=True)
class QuorumIsDescribed:
    """The leader and every broker describe the quorum alike, and every other controller says that it does not lead.

    Brokers hand DescribeQuorum on to the leader; a controller that does not lead answers NOT_LEADER_OR_FOLLOWER
    (KIP-595, KafkaRaftClient.handleDescribeQuorumRequest). A broker learns of the leader by itself, so that its answer
    may be wrong for a moment.
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
    everyone = f"{_DONE} {voters}"
    for node, address in cluster.controllers.items():
        if cluster.nodes[node].is_running:
            right = everyone if node == leader else f"{ErrorCode.not_leader_or_follower.name} []"
            yield f"controller {node}", (_described(*describe(cluster.wire, address)), right)
    for node, address in cluster.brokers.items():
        yield f"broker {node}", (_described(*describe(cluster.wire, address)), everyone)


def _described(answer: Answer, voters: frozenset[int]) -> str:
    return f"{answer.code} {sorted(voters)}"


@dataclass(frozen=True, slots=True)
class VoterChangesAreUnsupported:
    """A quorum that only the configuration names takes nobody in and lets nobody go (kraft.version 0, KIP-853).

    UpdateRaftVoter is refused by 3.9 and 4.0 alone: from 4.1 on leaders keep in memory what voters tell (KAFKA-16538).
    """

    name: ClassVar[str] = "voter_changes_are_unsupported"
    description: str = "changes of static voters are refused as unsupported"

    def sample(self, world: World) -> Sample:
        """Ask the leader to add and to remove."""
        return asked_once(world, lambda quorum: _unsupported(world, quorum.leader))


def _unsupported(world: World, leader: int) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what was asked, with what was answered and what is right."""
    cluster, wire, at = world.cluster, world.cluster.wire, world.cluster.controllers[leader]
    own, node = kafka_uuid(cluster.id), cluster.nodes[leader]
    right = f"{ErrorCode.unsupported_version.name} with a message"
    added = add_voter(wire, at, own, (_NOBODY, new_uuid()), node.config.controller_listeners)
    yield "add a voter", (_with_message(added), right)
    yield "remove a voter", (_with_message(remove_voter(wire, at, own, (leader, node.directory))), right)


@dataclass(frozen=True, slots=True)
class VoterChangesAreRefused:
    """Changes of the voter set that cannot be are refused with the error that is meant for each, and a message.

    KIP-853; {Add,Remove,Update}VoterHandler and KafkaRaftClient.handle{Add,Remove,Update}VoterRequest. Where a follower
    is asked, 3.9 sends no message.
    """

    name: ClassVar[str] = "voter_changes_are_refused"
    description: str = "changes of the voter set that cannot be are refused, each with its error"

    def sample(self, world: World) -> Sample:
        """Send each of them once."""
        return asked_once(world, lambda quorum: _refused(world, quorum))


def _refused(world: World, quorum: Quorum) -> Answers:
    return ((asked, (_with_message(answer), right)) for asked, (answer, right) in _refusals(world, quorum))


def _refusals(world: World, quorum: Quorum) -> Iterator[tuple[str, tuple[Answer, str]]]:
    """Yield what was asked, with the answer and what is right."""
    leader, epoch = quorum.leader, quorum.epoch
    cluster, wire = world.cluster, world.cluster.wire
    own, foreign = kafka_uuid(cluster.id), kafka_uuid(new_uuid())
    at, node = cluster.controllers[leader], cluster.nodes[leader]
    voter, listeners = (leader, node.directory), node.config.controller_listeners
    stranger = (_NOBODY, new_uuid())
    yield "add a voter that votes", (add_voter(wire, at, own, voter, listeners), "duplicate_voter with a message")
    yield "add a voter without endpoints", (add_voter(wire, at, own, stranger, {}), "invalid_request with a message")
    yield (
        "add a voter that has fetched nothing",
        (add_voter(wire, at, own, stranger, listeners), "request_timed_out with a message"),
    )
    yield (
        "add a voter of another cluster",
        (add_voter(wire, at, foreign, stranger, listeners), "inconsistent_cluster_id with a message"),
    )
    yield "remove a stranger", (remove_voter(wire, at, own, stranger), "voter_not_found with a message")
    yield (
        "remove a voter by another directory id",
        (remove_voter(wire, at, own, (leader, new_uuid())), "voter_not_found with a message"),
    )
    updates = {
        "update a voter of another cluster": ((foreign, epoch, voter, listeners), "inconsistent_cluster_id"),
        "update a voter in an epoch that is over": ((own, epoch - 1, voter, listeners), "fenced_leader_epoch"),
        "update a voter in an epoch that has not begun": ((own, epoch + 1, voter, listeners), "unknown_leader_epoch"),
        "update a voter without endpoints": ((own, epoch, voter, {}), "invalid_request"),
        "update a stranger": ((own, epoch, stranger, listeners), "voter_not_found"),
    }
    for what, (update, right) in updates.items():
        yield what, (Answer(update_voter(wire, at, *update) or "none"), right)
    for follower in (each.id for each in cluster.voters if each.is_running and each.id != leader):
        answer = remove_voter(wire, cluster.controllers[follower], own, voter)
        yield f"remove the leader at follower {follower}", (Answer(answer.code), "not_leader_or_follower")


def _with_message(answer: Answer) -> str:
    return f"{answer.code} with a message" if answer.message else answer.code


def asked_once(world: World, ask: Callable[[Quorum], Answers]) -> Sample:
    """Ask what one leader of one epoch answers, and what is answered wrongly is so for good.

    Who was led meanwhile by another, or in another epoch, has shown nothing.
    """
    quorum = world.quorum()
    try:
        seen = dict(ask(quorum)) if quorum.leader >= 0 else {}
    except Unreachable as error:
        return Sample(False, {"unreachable": str(error)})
    after = world.quorum()
    if not seen or (after.leader, after.epoch) != (quorum.leader, quorum.epoch):
        return Sample(False, {"leader": after.leader, "epoch": after.epoch}, testable=False)
    sample = compared(seen, quorum.leader)
    return replace(sample, final=not sample.ok)


def compared(seen: Mapping[str, tuple[str, str]], leader: int) -> Sample:
    """Compare pairs of what was answered and what is right. Pure."""
    wrong = [f"{asked}: {answer}, not {right}" for asked, (answer, right) in seen.items() if answer != right]
    detail = {"leader": leader, **{asked: answer for asked, (answer, _) in seen.items()}}
    return Sample(not wrong, detail, problem="; ".join(wrong))


@condition
def quorum_is_described() -> QuorumIsDescribed:
    """The leader and every broker describe the quorum alike; every other controller says that it does not lead."""
    return QuorumIsDescribed()


@condition
def voter_changes_are_unsupported() -> VoterChangesAreUnsupported:
    """Additions and removals of voters that only the configuration names are refused as unsupported."""
    return VoterChangesAreUnsupported()


@condition
def voter_changes_are_refused() -> VoterChangesAreRefused:
    """Changes of the voter set that cannot be are refused, each with its error and a message."""
    return VoterChangesAreRefused()
